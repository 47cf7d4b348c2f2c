"""The factor table on the screen and for scripts."""

from __future__ import annotations

from typing import Any

from superfactor.cli.screen import Screen

# Features shown at each end of a factor.
SHOWN = 3


def show_factors(model: Any, screen: Screen, markers: Any = None) -> list[dict[str, Any]]:
    """Print one row a factor, and return all of it as plain values.

    Parameters
    ----------
    model : fitted model
    markers : dict from feature to note, or None
        Features with a note are marked with an asterisk.
    """
    from superfactor.interpretation import factor_view, supervised_factors, top_features

    view = factor_view(model)
    table, top = supervised_factors(view), top_features(view, 5, markers=markers)
    top = top.astype({"weight": float})
    factors = [_plain(number, row, top) for number, row in table.iterrows()]
    binary = len(view.outputs) == 1
    columns = [("factor", "right"), ("variance", "right")]
    columns += [("coef.", "right")] if binary else []
    columns += [("direction", "left"), ("high end", "left"), ("low end", "left")]
    rows = []
    for factor in factors:
        row = [str(factor["factor"]), f"{factor['share_of_variance']:.1%}"]
        row += [f"{next(iter(factor['coef'].values())):+.2f}"] if binary else []
        row += [factor["direction"], _ends(factor["high"]), _ends(factor["low"])]
        rows.append(row)
    screen.table("Factors", columns, rows)
    return factors


def _plain(number: Any, row: Any, top: Any) -> dict[str, Any]:
    own = top[top["factor"] == number]
    ends = {
        end: own[own["end"] == end].drop(columns=["factor", "end", "rank"]).to_dict("records")
        for end in ("high", "low")
    }
    coef = {key[5:-1]: float(row[key]) for key in row.index if key.startswith("coef[")}
    return {
        "factor": int(number),
        "share_of_variance": float(row["share_of_variance"]),
        "coef": coef,
        "direction": str(row["direction"]),
        **ends,
    }


def _ends(features: list[dict[str, Any]]) -> str:
    return ", ".join(f["feature"] + "*" * bool(f.get("note")) for f in features[:SHOWN]) or "–"
