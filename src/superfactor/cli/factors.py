"""The factor table on the screen and for scripts."""

from __future__ import annotations

import math
from typing import Any

from superfactor.cli.errors import UserError
from superfactor.cli.screen import Screen

# Features shown at each end of a factor.
SHOWN = 3


def check_shown(rotation: str | None, positive: str | None, classes: Any) -> None:
    """Words of `--rotation` and `--positive` that mean something for labels of these classes."""
    from superfactor.interpretation.view import ROTATIONS

    if rotation is not None and rotation not in ROTATIONS:
        raise UserError(f"--rotation {rotation}: {', '.join(ROTATIONS)} is required")
    known = [str(label) for label in classes]
    if positive is not None and positive not in known:
        raise UserError(f"--positive {positive}: one of the labels {', '.join(known)} is required")


def show_factors(
    model: Any,
    screen: Screen,
    markers: Any = None,
    rotation: str | None = None,
    positive: str | None = None,
) -> list[dict[str, Any]]:
    """Print one row a factor, those that predict first, and return all of it as plain values.

    Parameters
    ----------
    model : fitted model
    markers : dict from feature to note, or None
        Features with a note are shown with it.
    rotation, positive : as in `superfactor.interpretation.factor_view`
    """
    from superfactor.interpretation import factor_view, supervised_factors, top_features

    view = factor_view(model, rotation=rotation, positive=positive)
    table, top = supervised_factors(view), top_features(view, 5, markers=markers)
    top = top.astype({"weight": float})
    factors = [_plain(number, row, top) for number, row in table.iterrows()]
    _show(factors, view.outputs, screen)
    return factors


def _show(factors: list[dict[str, Any]], outputs: tuple[str, ...], screen: Screen) -> None:
    # With two classes every factor speaks for the same one: its sign is chosen so.
    binary = len(outputs) == 1
    title = (
        f"Factors; coef.: log-odds of {outputs[0]} per standard deviation" if binary else "Factors"
    )
    columns = [("factor", "right"), ("variance", "right")]
    columns += [("coef.", "right") if binary else ("direction", "left")]
    columns += [("high end", "left"), ("low end", "left")]
    rows = [
        [
            str(factor["factor"]),
            f"{factor['share_of_variance']:.1%}",
            _says(factor, outputs),
            _end(factor["high"]),
            _end(factor["low"]),
        ]
        for factor in factors
    ]
    screen.table(title, columns, rows)


def _says(factor: dict[str, Any], outputs: tuple[str, ...]) -> str:
    """What a factor says about the outcome, in a cell."""
    if factor["role"] == "background":
        return "background"
    if len(outputs) == 1:
        return f"{factor['coef'][outputs[0]]:+.2f}"
    return str(factor["direction"]).replace(", ", "\n")


def show_covariates(
    model: Any, X: Any, y: Any, screen: Screen, positive: str | None = None
) -> list[dict[str, Any]]:
    """Print what each covariate does, class by class, if there are any; return it as plain values.

    One that never varies has a note in place of a row: its interval is that of the prior.

    Parameters
    ----------
    model : fitted model
    X, y : what it was fitted to
    positive : with two classes the one whose odds are shown; None for the usual
    """
    from superfactor.interpretation import covariate_effects

    with screen.step("covariates"):
        effects = covariate_effects(model, X, y, positive=positive)
    records: list[dict[str, Any]] = effects.to_dict("records")  # type: ignore[assignment]
    for output in dict.fromkeys(row["output"] for row in records):
        rows = [row for row in records if row["output"] == output and row["sd"] > 0]
        if not rows:
            continue
        kind, against = rows[0]["kind"], rows[0]["against"]
        # The feature model has none.
        interval = "" if all(math.isnan(row["low"]) for row in rows) else ", with 95 % interval"
        screen.table(
            f"Covariates: {kind} of {output} against {against}{interval}",
            [("covariate", "left"), (kind, "right"), ("per s.d.", "right")],
            [[row["covariate"], *_with_interval(row)] for row in rows],
        )
    for name in (row["column"] for row in records if row["sd"] == 0):
        screen.note(
            f"covariate {name!r} is the same for every sample with a label: it says nothing"
        )
    return records


def _with_interval(row: dict[str, Any]) -> tuple[str, str]:
    """``1.04 (1.01 to 1.08)``, and the estimate per standard deviation."""
    estimate, low, high = (row[name] for name in ("estimate", "low", "high"))
    # Both the distance and a small estimate itself are to be seen.
    digits = _decimals(min(abs(estimate - 1) if math.isnan(low) else high - low, estimate))
    shown = _ratio(estimate, digits)
    if not math.isnan(low):
        shown += f" ({_ratio(low, digits)} to {_ratio(high, digits)})"
    return shown, _ratio(row["estimate_per_sd"], 2)


def _decimals(size: float) -> int:
    """As many as it takes to see a difference of this size: 2 to 6."""
    return min(max(-math.floor(math.log10(abs(size))), 2), 6) if 0 < abs(size) < 1 else 2


def _ratio(value: float, decimals: int) -> str:
    """A ratio with these decimals, fewer where it is large; what is far from 1 only as such."""
    if value >= 1e4:
        return ">9999"
    least = 10.0**-decimals
    if value < least:
        return f"<{least:.{decimals}f}"
    return f"{value:.{min(decimals, 0 if value >= 100 else 1 if value >= 10 else decimals)}f}"


def show_stability(stability: Any, screen: Screen) -> list[dict[str, Any]] | None:
    """Print how faithfully each factor returns under resampling, and return it as plain values.

    Parameters
    ----------
    stability : Stability, or None for nothing
    """
    if stability is None:
        return None
    import numpy as np

    from superfactor.interpretation.tables import ROLES

    similarity = np.median(stability.similarity, axis=0)
    frequency = stability.table.groupby("factor")["frequency"].mean()
    found: list[dict[str, Any]] = [
        {
            "factor": number,
            "role": ROLES[bool(carries)],
            "similarity": float(cosine),
            "frequency": float(frequency.get(number, 0.0)),
        }
        for number, (cosine, carries) in enumerate(
            zip(similarity, stability.predictive, strict=True), start=1
        )
    ]
    rows = [
        [str(f["factor"]), f["role"], f"{f['similarity']:.2f}", f"{f['frequency']:.0%}"]
        for f in found
    ]
    columns = [("factor", "right"), ("role", "left")]
    columns += [(name, "right") for name in ("similarity", "top features that return")]
    screen.table(f"Stability over {stability.n_resamples} resamples", columns, rows)
    return found


def _plain(number: Any, row: Any, top: Any) -> dict[str, Any]:
    own = top[top["factor"] == number]
    ends = {
        end: own[own["end"] == end].drop(columns=["factor", "end", "rank"]).to_dict("records")
        for end in ("high", "low")
    }
    coef = {key[5:-1]: float(row[key]) for key in row.index if key.startswith("coef[")}
    return {
        "factor": int(number),
        "role": str(row["role"]),
        "share_of_variance": float(row["share_of_variance"]),
        "coef": coef,
        "direction": str(row["direction"]),
        **ends,
    }


def _end(features: list[dict[str, Any]]) -> str:
    """The first few features, one a line; a known marker with its note."""
    lines = []
    for feature in features[:SHOWN]:
        note = feature.get("note")
        lines.append(f"{feature['feature']} [{note}]" if note else feature["feature"])
    return "\n".join(lines) or "–"
