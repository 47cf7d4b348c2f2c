from itertools import product

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from tests.plotting.models import wine

from superfactor import SMFClassifier
from superfactor.plotting import CVSurfaceDisplay
from superfactor.selection import SMFClassifierCV


@pytest.fixture(scope="module")
def search():
    X, y, _ = wine()
    grid = {"xi": [10.0, 0.1, 1.0], "lam": [0.5, 50.0], "n_components": [2, 1]}
    models = ["filter", "feature"]
    return SMFClassifierCV(**grid, model=models, scoring="accuracy", cv=2).fit(X, y)


def results(xi, lam, n_components=(2,), models=("filter",), seed=0):
    names = ("xi", "lam", "n_components", "model")
    params = [dict(zip(names, values, strict=True)) for values in product(xi, lam, n_components, models)]
    scores = np.random.default_rng(seed).uniform(0.5, 1.0, len(params))
    return {"params": params, "mean_test_score": scores, "std_test_score": scores / 10}


def mean_of(table, **wanted):
    for params, mean in zip(table["params"], table["mean_test_score"], strict=True):
        if params == wanted:
            return mean
    raise LookupError(wanted)


def ring(display):
    (x,), (y,) = display.best_.get_data()
    return x, y


def test_one_heat_map_for_each_model_and_rank(search):
    display = CVSurfaceDisplay.from_estimator(search)
    titles = [ax.get_title() for ax in display.axes_]
    kinds = [("filter", 1), ("filter", 2), ("feature", 1), ("feature", 2)]
    assert titles == [f"{m} model, {r} factor{'s' * (r > 1)}" for m, r in kinds]
    for ax, (model, r) in zip(display.axes_, kinds, strict=True):
        cells = ax.collections[0].get_array()
        assert cells.shape == (2, 3)
        for (i, lam), (j, xi) in product(enumerate([0.5, 50.0]), enumerate([0.1, 1.0, 10.0])):
            point = {"xi": xi, "lam": lam, "n_components": r, "model": model}
            assert cells[i, j] == mean_of(search.cv_results_, **point)
        assert [label.get_text() for label in ax.get_xticklabels()] == ["0.1", "1", "10"]
        np.testing.assert_array_equal(ax.get_yticks(), [0.5, 50.0])
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_every_cell_shows_its_score(search):
    ax = CVSurfaceDisplay.from_estimator(search, n_components=2, model="filter").ax_
    for text in ax.texts:
        xi, lam = text.get_position()
        point = {"xi": xi, "lam": lam, "n_components": 2, "model": "filter"}
        assert text.get_text() == f"{mean_of(search.cv_results_, **point):.3f}"
    assert len(ax.texts) == 6


def test_the_ring_is_at_the_chosen_point(search):
    display = CVSurfaceDisplay.from_estimator(search)
    best = search.best_params_
    assert ring(display) == (best["xi"], best["lam"])
    title = f"{best['model']} model, {best['n_components']} factor"
    assert display.best_.axes.get_title().startswith(title)
    one = CVSurfaceDisplay.from_estimator(search, n_components=best["n_components"], model=best["model"])
    assert len(one.axes_) == 1
    assert ring(one) == (best["xi"], best["lam"])
    other = 3 - best["n_components"]
    assert CVSurfaceDisplay.from_estimator(search, n_components=other).best_ is None


def test_the_ring_goes_round_its_number_and_stays_in_its_cell():
    table = results([0.1, 1.0], [0.1, 1.0, 10.0])
    table["mean_test_score"] *= -1  # a sign makes numbers as wide as they get
    display = CVSurfaceDisplay(table, 0).plot()
    ax, mark = display.ax_, display.best_
    display.figure_.canvas.draw()
    shape = mark._marker.get_transform().transform_path(mark._marker.get_path()).get_extents()
    point = display.figure_.dpi / 72
    size, edge = mark.get_markersize() * point, 4 * point
    numbers = {text.get_position(): text.get_window_extent().width for text in ax.texts}
    assert numbers[ring(display)] < shape.width * size - edge < ax.bbox.width / 2
    assert shape.height * size < ax.bbox.height / 3


def test_a_ridge_of_zero_has_a_place_before_all_others():
    table = results([1.0, 10.0], [0.0, 0.01, 1.0])
    chosen = next(k for k, params in enumerate(table["params"]) if params["lam"] == 0)
    display = CVSurfaceDisplay(table, chosen).plot()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["0", "0.01", "1"]
    np.testing.assert_allclose(display.ax_.get_yticks(), [0.0001, 0.01, 1.0])
    np.testing.assert_allclose(ring(display), (1.0, 0.0001))


def test_panels_with_a_single_value_beside_larger_ones():
    one, more = results([1.0], [0.0]), results([0.1, 1.0], [0.1, 1.0], models=("feature",))
    table = {key: [*one[key], *more[key]] for key in one}
    display = CVSurfaceDisplay(table, 0).plot()
    assert [ax.collections[0].get_array().size for ax in display.axes_] == [1, 4]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["0"]
    x, y = ring(display)
    assert (x, y) == (1.0, display.ax_.get_yticks()[0])


@pytest.mark.parametrize(
    "xi, lam, name", [([1.0], [0.1, 1.0, 10.0], "lam"), ([3.0, 0.3], [1.0], "xi")], ids=["lam", "xi"]
)
def test_one_line_each_where_one_weight_varies(xi, lam, name):
    table = results(xi, lam, n_components=(2, 3))
    display = CVSurfaceDisplay(table, 2).plot()
    assert len(display.axes_) == 1
    values = sorted(lam if name == "lam" else xi)
    for r, container in zip((2, 3), display.ax_.containers, strict=True):
        line = container.lines[0]
        np.testing.assert_array_equal(line.get_xdata(), values)
        fixed = {"xi": xi[0], "lam": lam[0], "n_components": r, "model": "filter"}
        expected = [mean_of(table, **fixed | {name: value}) for value in values]
        np.testing.assert_array_equal(line.get_ydata(), expected)
    point = table["params"][2]
    assert ring(display) == (point[name], table["mean_test_score"][2])
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["filter model, 2 factors", "filter model, 3 factors", "chosen"]


def test_scores_that_are_no_numbers_leave_their_cells_empty():
    table = results([1.0, 10.0], [0.1, 1.0])
    table["mean_test_score"][0] = np.nan
    display = CVSurfaceDisplay(table, 1).plot()
    assert len(display.ax_.texts) == 3
    assert np.ma.masked_invalid(display.ax_.collections[0].get_array()).mask.sum() == 1
    table["mean_test_score"][:] = np.nan
    assert CVSurfaceDisplay(table, 1).plot().ax_.texts[:] == []


def test_scikit_learns_grid_search_over_a_pipeline():
    X, y, model = wine()
    grid = {"smfclassifier__xi": [1.0, 10.0], "smfclassifier__lam": [0.1, 1.0]}
    found = GridSearchCV(model, grid, cv=2).fit(X, y)
    display = CVSurfaceDisplay.from_estimator(found)
    assert ring(display) == tuple(found.best_params_[f"smfclassifier__{k}"] for k in ("xi", "lam"))


def test_bad_input_is_named_in_one_line(search):
    for call, kind, line in [
        (
            lambda: CVSurfaceDisplay.from_estimator(search, n_components=7),
            ValueError,
            "n_components=7: None or one of 1, 2",
        ),
        (
            lambda: CVSurfaceDisplay.from_estimator(search, model="svd"),
            ValueError,
            "model='svd': None or one of 'feature', 'filter'",
        ),
        (
            lambda: CVSurfaceDisplay.from_estimator(SMFClassifier()),
            TypeError,
            "search=SMFClassifier: a fitted SMFClassifierCV",
        ),
        (
            lambda: CVSurfaceDisplay(results([1.0], [1.0]) | {"params": [{"tol": 1}]}, 0).plot(),
            ValueError,
            "cv_results: it varies tol; one of xi, lam",
        ),
    ]:
        with pytest.raises(kind, match=line) as caught:
            call()
        assert "\n" not in str(caught.value)
