"""Candidates: what the user lists, and grids whose meaning does not change with the units of the data."""

import math

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid, StratifiedKFold
from tests.estimators.data import MODELS

from superfactor import SMFClassifierCV
from superfactor.outcomes import Classes
from superfactor.selection.search import grid
from superfactor.units import WeightUnits

every_model = pytest.mark.parametrize("model", MODELS)


def numbers(n=45, p=20, seed=0):
    """X (n, p) with three strong directions, not centred, and three classes."""
    rng = np.random.default_rng(seed)
    codes = 3 * rng.standard_normal((n, 3))
    X = codes @ rng.standard_normal((3, p)) + rng.standard_normal((n, p)) + 0.5
    return X, np.argmax(codes + rng.standard_normal((n, 3)), axis=1)


def found(X, model="filter", n_components="auto", xi="auto", lam="auto", n=None, **limits):
    options = {"steps": Classes.steps, "n_outputs": 2, "largest": 20, **limits}
    null_loss = (len(X) if n is None else n) * math.log(3)
    units = WeightUnits(null_loss / np.sum(X**2), np.linalg.norm(X, 2) ** 2)
    return grid.candidates(n_components, model, xi, lam, units=units, **options)


def column(points, name):
    return np.array([point[name] for point in points])


# --- units ---------------------------------------------------------------------------------------------


@every_model
def test_weights_are_shares_of_what_no_model_at_all_costs(model):
    X, _ = numbers()
    points = found(X, model)
    shares = column(points, "xi") * np.sum(X**2) / (len(X) * math.log(3))
    assert sorted(set(shares.round(12))) == pytest.approx(Classes.steps.xi[model])
    largest = np.linalg.norm(X, 2) ** 2 if model == "filter" else 1.0
    steps = column(points, "lam") / largest
    assert sorted(set(steps.round(12))) == pytest.approx(Classes.steps.lam[model])
    ranks = set(column(points, "n_components"))
    assert len(points) == len(ranks) * len(Classes.steps.xi[model]) * len(Classes.steps.lam[model])


@every_model
def test_another_unit_of_x_is_one_of_the_weights(model):
    X, _ = numbers()
    one, large = found(X, model), found(1000 * X, model)
    ridge = 1e6 if model == "filter" else 1.0
    np.testing.assert_allclose(column(large, "xi"), 1e-6 * column(one, "xi"), rtol=1e-9)
    np.testing.assert_allclose(column(large, "lam"), ridge * column(one, "lam"), rtol=1e-9)
    assert (column(large, "n_components") == column(one, "n_components")).all()


@every_model
def test_samples_of_weight_two_are_samples_twice(model):
    X, _ = numbers()
    weighted = found(math.sqrt(2) * X, model, n=2 * len(X))
    double = found(np.vstack([X, X]), model)
    for name in ("xi", "lam", "n_components"):
        np.testing.assert_allclose(column(weighted, name), column(double, name), rtol=1e-9)


def test_the_choice_does_not_depend_on_units():
    X, y = numbers()
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    options = {"cv": cv, "preprocess": "center", "scoring": "neg_log_loss"}
    one = SMFClassifierCV(**options).fit(X, y)
    large = SMFClassifierCV(**options).fit(1000 * X, y)
    # The scores of the candidates are apart, so that there is one choice.
    scores = np.sort(one.cv_results_["mean_test_score"])
    assert scores[-1] - scores[-2] > 1e-4
    assert large.best_index_ == one.best_index_
    assert large.best_score_ == pytest.approx(one.best_score_, abs=1e-5)
    np.testing.assert_allclose(large.predict_proba(1000 * X), one.predict_proba(X), atol=1e-5)


# --- ranks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_classes", "largest", "expected"),
    [(2, 20, {2, 3}), (5, 20, {5, 8}), (2, 2, {2}), (3, 4, {3, 4}), (9, 4, {4})],
    ids=["two", "several", "allowed", "as many as allowed", "allowed before classes"],
)
def test_ranks_are_the_classes_and_half_as_many_again(n_classes, largest, expected):
    X, _ = numbers()
    points = found(X, n_outputs=n_classes - 1, largest=largest)
    assert set(column(points, "n_components")) == expected


# --- what the user lists ---------------------------------------------------------------------------------


def test_lists_are_combined_as_scikit_learn_does():
    X, _ = numbers()
    listed = {"n_components": [3, 1], "xi": [2.0, 1.0], "lam": [0.5, 5.0]}
    expected = [{"model": name, **point} for name in ("feature", "filter") for point in ParameterGrid(listed)]
    points = found(X, ["feature", "filter"], **listed)
    assert points == [{key: point[key] for key in points[0]} for point in expected]


def test_each_model_has_its_own_grid():
    X, _ = numbers()
    points = found(X, ["filter", "feature"])
    for model in ("filter", "feature"):
        alone = found(X, model)
        assert [point for point in points if point["model"] == model] == alone


def test_single_values_repetitions_and_numpy_numbers():
    X, _ = numbers()
    points = found(X, "filter", np.int64(2), np.array([1.0, 2.0, 1.0]), 3)
    assert [(p["n_components"], p["xi"], p["lam"]) for p in points] == [(2, 1.0, 3), (2, 2.0, 3)]
    assert all(type(p["xi"]) is float for p in points)


@pytest.mark.parametrize(
    "choice",
    [(0, "filter", 1, 1), (1, "auto", 1, 1), (1, "filter", 0, 1), (1, "filter", 1, [1.0, -1])],
    ids=["n_components", "model", "xi", "lam"],
)
def test_values_that_no_classifier_takes_are_named(choice, request):
    name = request.node.callspec.id
    with pytest.raises(ValueError, match=rf"'{name}' parameter of SMFClassifierCV must be"):
        grid.check_choices(*choice, "SMFClassifierCV")
    grid.check_choices("auto", ["filter", "feature"], "auto", [0.0, "auto"], "SMFClassifierCV")
