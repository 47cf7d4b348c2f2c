"""The factors of a model, for the terminal and for scripts: roles and top features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from superfactor.cli.errors import UserError
from superfactor.cli.output.screen import Screen
from superfactor.interpretation import supervised_factors, top_features
from superfactor.interpretation.roles import NOT_SHOWN, PREDICTIVE, beyond, roles
from superfactor.outcomes.descriptions import Description, description_of
from superfactor.selection import Verdict

# Features at each end of a factor, in the terminal and in JSON.
SHOWN, IN_JSON = 3, 5
# Correlations smaller than this many standard errors are not shown.
STANDARD_ERRORS = 2


def check_positive(positive: str | None, about: Mapping[str, Any]) -> None:
    """Raise an error unless `--positive` is one of the labels in the metadata of a model or study."""
    known = [str(label) for label in about["classes"]]
    if positive is not None and not known:
        target = about["target"]
        raise UserError(f"--positive {positive}: {target!r} has no classes; leave the option out")
    if positive is not None and positive not in known:
        raise UserError(f"--positive {positive}: one of the labels {', '.join(known)} is required")


def factor_facts(
    view: Any,
    *,
    by: str = "correlation",
    markers: Any = None,
    held: dict[str, Any] | None = None,
    verdict: Verdict | None = None,
    n: int = IN_JSON,
) -> list[dict[str, Any]]:
    """Return the factors of a view with their roles and top features as plain values."""
    table, top = supervised_factors(view), top_features(view, n, by=by, markers=markers)
    top["told_from_none"] = abs(top["correlation"]) * len(view.scores) ** 0.5 >= STANDARD_ERRORS
    found = roles(
        view, None if held is None else held["predictive"], None if verdict is None else verdict.of_factors
    )
    return [
        _plain(number, row, top, role, held)
        for (number, row), role in zip(table.iterrows(), found, strict=True)
    ]


def _plain(number: Any, row: Any, top: Any, role: str, held: dict[str, Any] | None) -> dict[str, Any]:
    own = top[top["factor"] == number]
    ends = {
        end: own[own["end"] == end].drop(columns=["factor", "end", "rank"]).to_dict("records")
        for end in ("high", "low")
    }
    coef = {key[5:-1]: float(row[key]) for key in row.index if key.startswith("coef[")}
    return {
        "factor": int(number),
        "role": role,
        "share_of_variance": float(row["share_of_variance"]),
        "contribution": float(row["contribution"]),
        "contribution_out_of_fold": None if held is None else held["contribution"][int(number) - 1],
        "alone_out_of_fold": _alone(int(number) - 1, held),
        "coef": coef,
        "direction": str(row["direction"]),
        **ends,
    }


def _alone(j: int, held: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the association of factor j alone with the outcome in held-out samples; None if unknown."""
    if held is None or held["own"] is None:
        return None
    return {"name": held["own_name"], "of": held["own_of"][j], "value": held["own"][j]}


def show_factors(
    factors: list[dict[str, Any]],
    screen: Screen,
    about: Mapping[str, Any],
    *,
    by: str = "correlation",
    covariates: bool = False,
    shown: int = SHOWN,
) -> None:
    """Print the role of each factor, then its top features; `about` is the metadata of the model."""
    description = description_of(about.get("outcome", "classes"))
    roles = {factor["role"] for factor in factors}
    if NOT_SHOWN in roles and PREDICTIVE not in roles:
        screen.print()
        screen.print(_nothing(about["target"], covariates, description), style="bold yellow")
    _show_roles(factors, screen, description)
    _show_features(factors, screen, by, shown)


def _nothing(target: str, covariates: bool, description: Description) -> str:
    if covariates:
        return (
            f"It is not shown that the factors improve the prediction of {target!r} from the covariates in "
            f"held-out samples: do not interpret factors or features as {description.not_to_be_read}."
        )
    return (
        f"It is not shown that the factors predict {target!r} in held-out samples: do not interpret factors "
        f"or features as {description.not_to_be_read}."
    )


def _show_roles(factors: list[dict[str, Any]], screen: Screen, description: Description) -> None:
    # With two classes the signs of factors are chosen so that coefficients refer to the same class.
    outputs = list(factors[0]["coef"])
    alone = factors[0]["alone_out_of_fold"]
    columns = [("factor", "right"), ("variance", "right"), ("role", "left")]
    columns += [("coef.", "right") if len(outputs) == 1 else ("direction", "left")]
    rows = [
        [
            str(factor["factor"]),
            f"{factor['share_of_variance']:.1%}",
            factor["role"],
            _effect(factor, outputs),
        ]
        for factor in factors
    ]
    if alone is not None:
        figures = [factor["alone_out_of_fold"] for factor in factors]
        columns += [(alone["name"], "right")]
        rows = [[*row, f"{own['value']:z.2f}"] for row, own in zip(rows, figures, strict=True)]
        if len(outputs) > 1:
            columns += [("of", "left")]
            rows = [[*row, own["of"]] for row, own in zip(rows, figures, strict=True)]
    screen.table("Factors", columns, rows)
    screen.legend(_legend(factors, outputs, description))


def _effect(factor: dict[str, Any], outputs: list[str]) -> str:
    """Return the cell with the effect of a factor on the outcome."""
    if factor["role"] == "background":
        return "–"
    if len(outputs) == 1:
        return f"{factor['coef'][outputs[0]]:+z.2f}"
    return str(factor["direction"]).replace(", ", "\n")


def _legend(
    factors: list[dict[str, Any]], outputs: list[str], description: Description
) -> list[tuple[str, str]]:
    """Return explanations of the words in the table."""
    roles = [factor["role"] for factor in factors]
    rows = [("variance", "share of the variance of the features that the factor explains")]
    if len(outputs) == 1:
        rows.append(("coef.", f"{description.coefficient(outputs)} per standard deviation of the factor"))
    elif set(roles) != {"background"}:
        rows.append(("direction", description.direction))
    alone = factors[0]["alone_out_of_fold"]
    if alone is not None:
        words = (
            f"of this factor alone, held-out samples of all folds together; {description.alone_of_nothing}"
        )
        rows.append((alone["name"], words))
    if NOT_SHOWN in roles:
        words = "predicts the training samples; not shown for held-out samples"
        rows.append((NOT_SHOWN, words))
    if "background" in roles:
        rows.append(("background", f"adds nothing to the prediction{beyond(roles)}"))
    return rows


def _show_features(factors: list[dict[str, Any]], screen: Screen, by: str, shown: int) -> None:
    first, second = ("corr.", "weight") if by == "correlation" else ("weight", "corr.")
    columns = [("factor", "right")]
    for end in ("high end", "low end"):
        columns += [(end, "left"), (first, "right"), (second, "right")]
    rows = []
    ends = [[_some(factor[end], by, shown) for end in ("high", "low")] for factor in factors]
    for factor, both in zip(factors, ends, strict=True):
        high, low = ([_cells(feature, by) for feature in end] for end in both)
        for i in range(max(len(high), len(low), 1)):
            name = str(factor["factor"]) if i == 0 else ""
            rows.append([name, *(_at(high, i)), *(_at(low, i))])
    title = "Features that go with each factor" if by == "correlation" else "Features by weight"
    screen.table(title, columns, rows)
    legend = [
        ("corr.", "correlation with the factor in the training samples"),
        ("weight", "weight in the score of the factor; the largest is 1"),
    ]
    if any(feature["disagrees"] for both in ends for end in both for feature in end):
        legend.append(("*", "weight and correlation have opposite signs: the feature corrects others"))
    screen.legend(legend)


def _some(features: list[dict[str, Any]], by: str, most: int) -> list[dict[str, Any]]:
    """Return the first features at one end; ranked by correlation, only those that differ from zero."""
    return [f for f in features[:most] if by != "correlation" or f["told_from_none"]]


def _at(cells: Sequence[list[str]], i: int) -> list[str]:
    return cells[i] if i < len(cells) else ["–" if i == 0 else "", "", ""]


def _cells(feature: dict[str, Any], by: str) -> list[str]:
    """Return the cells of a feature: name with the note of a known marker, and both values."""
    note = feature.get("note")
    name = f"{feature['feature']} [{note}]" if note else str(feature["feature"])
    mark = "* " if feature["disagrees"] else ""
    correlation, weight = f"{feature['correlation']:+z.2f}", f"{mark}{feature['weight']:+z.2f}"
    return [name, correlation, weight] if by == "correlation" else [name, weight, correlation]
