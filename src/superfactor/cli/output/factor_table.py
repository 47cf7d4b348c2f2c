"""The factors of a model, on the screen and for scripts: what each is good for, and what goes with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from superfactor.cli.errors import UserError
from superfactor.cli.output.screen import Screen
from superfactor.interpretation import supervised_factors, top_features
from superfactor.interpretation.roles import NOT_SHOWN, PREDICTIVE, beyond, roles
from superfactor.outcomes.descriptions import Description, description_of
from superfactor.selection import Verdict

# Features shown at each end of a factor, and told to scripts.
SHOWN, TOLD = 3, 5
# A correlation smaller than so many standard errors cannot be told from none.
STANDARD_ERRORS = 2


def check_positive(positive: str | None, about: Mapping[str, Any]) -> None:
    """`--positive` is one of the labels, where there are some in the record of a model or study."""
    known = [str(label) for label in about["classes"]]
    if positive is not None and not known:
        target = about["target"]
        raise UserError(
            f"--positive {positive}: {target!r} has no classes, one of which could be up; leave it out"
        )
    if positive is not None and positive not in known:
        raise UserError(f"--positive {positive}: one of the labels {', '.join(known)} is required")


def factor_facts(
    view: Any,
    *,
    by: str = "correlation",
    markers: Any = None,
    held: dict[str, Any] | None = None,
    verdict: Verdict | None = None,
    n: int = TOLD,
) -> list[dict[str, Any]]:
    """Everything about the factors of a view as plain values, those that predict first."""
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
    """How factor j goes with a class by itself, on samples not seen; None where that is not known."""
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
    """Print what each factor is good for, then the features at its ends; `about` is the model's record."""
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
            f"The factors were not shown to say more of {target!r} than the covariates do, on samples not "
            f"seen: read none of them, and no feature, as {description.not_to_be_read}."
        )
    return (
        f"Nothing was shown to predict {target!r} on samples not seen: read no factor, and no feature, as "
        f"{description.not_to_be_read}."
    )


def _show_roles(factors: list[dict[str, Any]], screen: Screen, description: Description) -> None:
    # With two classes every factor speaks for the same one: its sign is chosen so.
    outputs = list(factors[0]["coef"])
    alone = factors[0]["alone_out_of_fold"]
    columns = [("factor", "right"), ("variance", "right"), ("role", "left")]
    columns += [("coef.", "right") if len(outputs) == 1 else ("direction", "left")]
    rows = [
        [str(factor["factor"]), f"{factor['share_of_variance']:.1%}", factor["role"], _says(factor, outputs)]
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


def _says(factor: dict[str, Any], outputs: list[str]) -> str:
    """What a factor says about the outcome, in a cell."""
    if factor["role"] == "background":
        return "–"
    if len(outputs) == 1:
        return f"{factor['coef'][outputs[0]]:+z.2f}"
    return str(factor["direction"]).replace(", ", "\n")


def _legend(
    factors: list[dict[str, Any]], outputs: list[str], description: Description
) -> list[tuple[str, str]]:
    """What the words of the table mean, of those that are in it."""
    roles = [factor["role"] for factor in factors]
    said = [("variance", "share of the variance of the features that goes with the factor")]
    if len(outputs) == 1:
        said.append(("coef.", f"{description.coefficient(outputs)} per standard deviation of the factor"))
    elif set(roles) != {"background"}:
        said.append(("direction", description.direction))
    alone = factors[0]["alone_out_of_fold"]
    if alone is not None:
        words = f"of the factor alone, on samples not seen; {description.alone_of_nothing}"
        said.append((alone["name"], words))
    if NOT_SHOWN in roles:
        words = "carries the prediction of the samples fitted, not shown to hold for others"
        said.append((NOT_SHOWN, words))
    if "background" in roles:
        said.append(("background", f"adds nothing to the prediction{beyond(roles)}"))
    return said


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
    said = [
        ("corr.", "correlation with the factor in the samples fitted"),
        ("weight", "how the factor is computed; the largest is 1"),
    ]
    if any(feature["disagrees"] for both in ends for end in both for feature in end):
        said.append(("*", "weight against correlation: the feature corrects others"))
    screen.legend(said)


def _some(features: list[dict[str, Any]], by: str, most: int) -> list[dict[str, Any]]:
    """The first of those at one end; of what is to go with a factor, none that may not."""
    return [f for f in features[:most] if by != "correlation" or f["told_from_none"]]


def _at(cells: Sequence[list[str]], i: int) -> list[str]:
    return cells[i] if i < len(cells) else ["–" if i == 0 else "", "", ""]


def _cells(feature: dict[str, Any], by: str) -> list[str]:
    """Name, a known marker with its note, and both figures."""
    note = feature.get("note")
    name = f"{feature['feature']} [{note}]" if note else str(feature["feature"])
    mark = "* " if feature["disagrees"] else ""
    correlation, weight = f"{feature['correlation']:+z.2f}", f"{mark}{feature['weight']:+z.2f}"
    return [name, correlation, weight] if by == "correlation" else [name, weight, correlation]
