"""Tables about blocks and confounders on the screen and for scripts."""

from __future__ import annotations

from typing import Any

from superfactor.cli.learning import Learned
from superfactor.cli.screen import Screen


def show_blocks(model: Any, X: Any, screen: Screen, **shown: Any) -> list[dict[str, Any]] | None:
    """Print what each block has of every factor and of the prediction; None without blocks.

    Parameters
    ----------
    model : fitted pipeline
    X : what it was fitted to
    shown : rotation and positive
    """
    if "blocks" not in model.named_steps:
        return None
    from superfactor.interpretation import block_shares

    table = block_shares(model, X, **shown)
    table = table[table["features"] > 0]
    records: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    factors = list(dict.fromkeys(row["factor"] for row in records))
    blocks = list(dict.fromkeys(row["block"] for row in records))
    cell = {(row["block"], row["factor"]): row for row in records}
    screen.table(
        "Blocks: share of a factor, and of the prediction",
        [
            ("factor", "left"),
            *((name, "right") for block in blocks for name in (block, "predicts")),
        ],
        [
            [
                f"{factor}",
                *(
                    _percent(cell[block, factor][name])
                    for block in blocks
                    for name in ("share_of_factor", "share_of_prediction")
                ),
            ]
            for factor in factors
        ],
    )
    return records


def show_confounding(learned: Learned, screen: Screen, **shown: Any) -> list[dict[str, Any]] | None:
    """Print how much of each factor confounders explain, before and after; None without any."""
    if not learned.samples.confounders:
        return None
    from superfactor.interpretation import confounding

    X, _ = learned.part(learned.train)
    given = learned.samples.confounder_table.iloc[learned.train]
    table = confounding(learned.model, X, given, **shown)
    records: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    screen.table(
        "Confounders: share of a factor that they explain",
        [
            ("factor", "right"),
            ("confounder", "left"),
            *((name, "right") for name in ("before", "after", "by chance")),
        ],
        [
            [
                str(row["factor"]),
                row["confounder"],
                *(_percent(row[name]) for name in ("before", "after", "chance")),
            ]
            for row in records
        ],
    )
    return records


def _percent(share: float) -> str:
    return "–" if share != share else f"{share:.1%}"
