"""The candidates of a search, as they are arranged in a plot."""

from __future__ import annotations

from typing import Any

from superfactor.models import MODELS
from superfactor.plotting.drawing import figures

# xi, lam, n_components and model (None where the search did not vary them), mean, std, chosen.
Point = dict[str, Any]
VARIED = ("xi", "lam", "n_components", "model")


def listed(results: dict[str, Any], best_index: int) -> list[Point]:
    """Every candidate of `cv_results_`; parameters of a pipeline's step go by their short names."""
    points = []
    for k, params in enumerate(results["params"]):
        point: Point = dict.fromkeys(VARIED)
        point |= {name.split("__")[-1]: value for name, value in params.items()}
        point["mean"] = float(results["mean_test_score"][k])
        point["std"] = float(results["std_test_score"][k])
        point["chosen"] = k == best_index
        points.append(point)
    if all(points[0][name] is None for name in VARIED[:3]):
        raise ValueError(
            f"cv_results: has {', '.join(results['params'][0]) or 'no parameters'}; one of xi, lam "
            "and n_components is required"
        )
    return points


def only(points: list[Point], name: str, value: Any) -> list[Point]:
    """The points with this value of a parameter; None keeps all."""
    kept = [point for point in points if value is None or point[name] == value]
    if not kept:
        found = ", ".join(map(repr, distinct(points, name)))
        raise ValueError(f"{name}={value!r}: None or one of {found} is required")
    return kept


def distinct(points: list[Point], name: str) -> list[Any]:
    """The values of a parameter, ascending."""
    return sorted({point[name] for point in points})


def chosen(points: list[Point]) -> Point | None:
    """The chosen candidate, if it is one of these."""
    return next((point for point in points if point["chosen"]), None)


def grouped(points: list[Point], *names: str) -> dict[str, list[Point]]:
    """Points that agree in these parameters, by a title such as "filter model, 3 factors"."""

    def order(point: Point) -> tuple[int, int]:
        name = point["model"]
        return -1 if name is None else list(MODELS).index(name), point["n_components"] or 0

    groups: dict[str, list[Point]] = {}
    for point in sorted(points, key=order):
        r = point["n_components"]
        words = {
            "n_components": "" if r is None else f"{r} factor" + "s" * (r > 1),
            "model": "" if point["model"] is None else f"{point['model']} model",
        }
        title = ", ".join(words[name] for name in names if words[name])
        groups.setdefault(title or "mean score", []).append(point)
    return groups


def cells(groups: dict[str, list[Point]], widest: int) -> list[tuple[int, int]]:
    """Row and column of each group's panel, one model under the other, at most `widest` columns."""
    models = [points[0]["model"] for points in groups.values()]
    rows, columns = figures.grid_shape(max(map(models.count, models)), widest)
    found = []
    for k, model in enumerate(models):
        first = models.index(model)
        row, column = divmod(k - first, columns)
        found.append((row + (rows if first else 0), column))
    return found


def places(points: list[Point], name: str) -> dict[Any, float]:
    """Where each value stands on its axis: at itself, but λ = 0 one step before all others."""
    values = distinct(points, name)
    if name == "n_components" or values[0] > 0:
        return {value: float(value) for value in values}
    positive = values[1:] or [1.0]
    step = positive[1] / positive[0] if len(positive) > 1 else 10.0
    return {0: positive[0] / step} | {value: float(value) for value in values[1:]}
