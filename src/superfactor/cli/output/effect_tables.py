"""Tables about covariates, blocks and confounders, for the terminal and for scripts."""

from __future__ import annotations

import math
from typing import Any

from superfactor.cli.commands.learning import Learned
from superfactor.cli.output.screen import Screen
from superfactor.interpretation import block_shares, confounding
from superfactor.interpretation.covariates import OUT_OF_FOLD, trusted_effects
from superfactor.outcomes import Outcome


def show_covariates(
    model: Any,
    X: Any,
    y: Any,
    outcome: Outcome,
    screen: Screen,
    positive: str | None = None,
    held: Any = None,
) -> list[dict[str, Any]]:
    """Print the effects of covariates, output by output, and return them as plain values.

    With many features they are adjusted for factors that were fitted without each sample (`held`). A constant
    covariate has a note instead of a row, because its interval is that of the prior.
    """
    with screen.step("covariates"):
        effects = trusted_effects(model, X, y, positive=positive, held_out=held)
    records: list[dict[str, Any]] = effects.to_dict("records")  # type: ignore[assignment]
    for output in dict.fromkeys(row["output"] for row in records):
        rows = [row for row in records if row["output"] == output and row["sd"] > 0]
        if not rows:
            continue
        kind, against = rows[0]["kind"], rows[0]["against"]
        of = "" if outcome.output_column is None else f" of {output}"
        adjusted = ", adjusted for out-of-fold factors" if effects.attrs["note"] == OUT_OF_FOLD else ""
        # The feature model has no intervals.
        interval = "" if all(math.isnan(row["low"]) for row in rows) else ", with 95 % interval"
        screen.table(
            f"Covariates: {kind}{of}{f' against {against}' if against else ''}{adjusted}{interval}",
            [("covariate", "left"), (kind, "right"), ("per s.d.", "right")],
            [[row["covariate"], *_with_interval(row)] for row in rows],
        )
    for name in (row["column"] for row in records if row["sd"] == 0):
        screen.note(f"covariate {name!r} is constant over the samples with an outcome and has no effect")
    return records


def _with_interval(row: dict[str, Any]) -> tuple[str, str]:
    """Return ``1.04 (1.01 to 1.08)``, and the estimate per standard deviation."""
    estimate, low, high = (row[name] for name in ("estimate", "low", "high"))
    if not row["kind"].endswith("ratio"):
        interval = "" if math.isnan(low) else f" ({low:+.3g} to {high:+.3g})"
        return f"{estimate:+.3g}{interval}", f"{row['estimate_per_sd']:+.3g}"
    # Enough digits for the interval, and for a small estimate.
    digits = _decimals(min(abs(estimate - 1) if math.isnan(low) else high - low, estimate))
    shown = _ratio(estimate, digits)
    if not math.isnan(low):
        shown += f" ({_ratio(low, digits)} to {_ratio(high, digits)})"
    return shown, _ratio(row["estimate_per_sd"], 2)


def _decimals(size: float) -> int:
    """Return the number of decimals, 2 to 6, that show a difference of this size."""
    return min(max(-math.floor(math.log10(abs(size))), 2), 6) if 0 < abs(size) < 1 else 2


def _ratio(value: float, decimals: int) -> str:
    """Format a ratio with these decimals, fewer for large ones, and bounds for extreme ones."""
    if value >= 1e4:
        return ">9999"
    least = 10.0**-decimals
    if value < least:
        return f"<{least:.{decimals}f}"
    return f"{value:.{min(decimals, 0 if value >= 100 else 1 if value >= 10 else decimals)}f}"


def show_blocks(model: Any, X: Any, screen: Screen, **shown: Any) -> list[dict[str, Any]] | None:
    """Print the share of each block in every factor and in the prediction; None without blocks."""
    if "blocks" not in model.named_steps:
        return None
    table = block_shares(model, X, **shown)
    table = table[table["features"] > 0]
    records: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    factors = list(dict.fromkeys(row["factor"] for row in records))
    blocks = list(dict.fromkeys(row["block"] for row in records))
    cell = {(row["block"], row["factor"]): row for row in records}
    screen.table(
        "Blocks: share of each factor, and of the prediction",
        [("factor", "left"), *((name, "right") for block in blocks for name in (block, "predicts"))],
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
    """Print the share of each factor that confounders explain, before and after adjustment; None without."""
    if not learned.samples.levels:
        return None
    X, _ = learned.part(learned.train)
    given = learned.samples.confounders.iloc[learned.train]
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
