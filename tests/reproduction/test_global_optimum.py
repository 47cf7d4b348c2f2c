"""How a fit is proven optimal: the logic of the map, and the map."""

import numpy as np
import pytest

from reproduction import Setting
from reproduction import global_optimum as experiment
from reproduction import optimum_maps as maps
from reproduction.fits import TheoremConstants, state
from reproduction.restarts import Weighted

NOTHING = {"printed": False, "profiled": False, "residual": False, "ascent": False, "excess": 0.0}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, maps.UNPROVEN),
        ({"ascent": True}, maps.ASCENT),
        ({"residual": True, "ascent": True}, maps.CERTIFICATE),
        ({"profiled": True, "residual": True, "ascent": True}, maps.PROFILED),
        ({"printed": True, "profiled": True, "residual": True, "ascent": True}, maps.PRINTED),
        ({"excess": -1e-8}, maps.UNPROVEN),
        ({"excess": -1e-3}, maps.BEATEN),
        ({"residual": True, "ascent": True, "excess": -1e-3}, maps.BEATEN),
    ],
)
def test_category(facts, expected):
    assert experiment.category(**NOTHING | facts) == expected


@pytest.fixture(scope="module")
def example():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 6))
    y = (X[:, 0] + rng.standard_normal(30) > 0).astype(float)[:, None]
    ones = np.ones((30, 1))
    problems = {
        model: state(model, X, y, xi=1.0, lam=1.0, covariates=ones) for model in ("filter", "feature")
    }

    def evaluated(model, xi, lam, floor, plan):
        given = Weighted(model, X, y, xi, lam, ones)
        return experiment.evaluate(problems[model].restated(xi, lam), given, 2, floor, plan, 0)

    return X, evaluated


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize(("xi", "lam"), [(100.0, 100.0), (1.0, 0.5)])
def test_a_setting_is_classified_by_the_papers_constants(example, model, xi, lam):
    X, evaluated = example
    squares = np.linalg.svd(X, compute_uv=False) ** 2
    floor = xi * squares[2:].sum()
    plan = experiment.Plan(restarts=10, checks=3, ascent=20)
    found = evaluated(model, xi, lam, floor, plan)
    # Two classes: α⁺ = 1/4; the intercept is a column of ones with ridge λ.
    both = np.hstack([X, np.ones((30, 1))])
    reach = np.linalg.norm(both, 2) ** 2 if model == "filter" else 1 + 30
    printed = TheoremConstants(min(2 * xi, 2 * lam), max(2 * xi, 2 * lam + reach / 4))
    alone = squares[0] if model == "filter" else 1.0
    assert found["condition_printed"] == pytest.approx(printed.condition_number)
    assert found["condition_profiled"] == pytest.approx(1 + alone / 4 / (2 * lam))
    assert (found["category"] == maps.PRINTED) == printed.applies
    # What restarts find can lie neither below the bounds nor, where proven, below the answer.
    supervised = found["objective"] - floor
    assert found["unsupervised_bound"] <= found["lower_bound_residual"] + 1e-9
    for bound in ("lower_bound_residual", "lower_bound_ascent"):
        assert found["best_of_restarts"] >= found[bound] - 1e-9 * supervised
    if found["proven_ascent"]:
        assert found["excess_of_restarts"] >= -1e-9
        assert found["restarts"] == 3
    else:
        assert found["restarts"] == 10
    assert found["relative_gap_ascent"] <= found["relative_gap_residual"]


@pytest.mark.slow
def test_nothing_proven_is_refuted(quick_run, data_dir):
    outcome, _, _ = quick_run("global-optimum", data_dir)
    table = outcome.tables[""]
    assert list(outcome.figures) == ["", *table["data"].unique()[1:]]
    plan = experiment.Plan.quick()
    assert (table.groupby(["data", "model"]).size() == len(plan.weights) ** 2).all()
    proven = table[table["proven_ascent"]]
    assert len(proven) > len(table) / 2
    assert proven["excess_of_restarts"].min() >= -1e-9
    lowest = np.minimum(table["best_of_restarts"], table["objective"])
    supervised = table["objective"] - table["unsupervised_bound"]
    assert np.all(lowest >= table["lower_bound_ascent"] - 1e-9 * supervised)


def test_without_a_microarray_the_rest_is_done(tmp_path):
    notes = []
    sets = list(experiment.data_sets(Setting(data_dir=tmp_path, note=notes.append)))
    assert [data.name for data in sets] == ["breast-cancer", "digits-3-8"]
    assert "no microarray at hand" in notes[0]
    for data in sets:
        assert data.Y.shape == (len(data.X), 1)
        np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)
