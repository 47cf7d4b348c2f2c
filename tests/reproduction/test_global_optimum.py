"""Who can tell that a fit is optimal: the logic of the map, and the map itself."""

import numpy as np
import pandas as pd
import pytest

from reproduction import Setting
from reproduction import global_optimum as experiment
from reproduction import optimum_maps as maps
from superfactor.lifting import restate
from superfactor.theory import TheoremConstants

NOTHING = {"printed": False, "profiled": False, "residual": False, "ascent": False, "excess": 0.0}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, maps.UNPROVEN),
        ({"excess": 1.0}, maps.UNPROVEN),
        ({"ascent": True}, maps.ASCENT),
        ({"residual": True, "ascent": True}, maps.CERTIFICATE),
        ({"profiled": True}, maps.PROFILED),
        ({"profiled": True, "residual": True, "ascent": True}, maps.PROFILED),
        ({"printed": True, "profiled": True, "residual": True, "ascent": True}, maps.PRINTED),
        ({"excess": -1e-8}, maps.UNPROVEN),
        ({"excess": -1e-3}, maps.BEATEN),
        ({"residual": True, "ascent": True, "excess": -1e-3}, maps.BEATEN),
    ],
    ids=[
        "nothing holds",
        "restarts are worse",
        "ascent",
        "residual",
        "profiled condition only",
        "profiled condition and certificate",
        "everything holds",
        "a restart lower within the tolerance",
        "a restart is lower",
        "a restart refutes a proof",
    ],
)
def test_category(facts, expected):
    assert experiment.category(**NOTHING | facts) == expected


@pytest.mark.parametrize(
    ("gap", "expected"),
    [(0.5, "50 %"), (0.1, "10 %"), (0.026, "2.6 %"), (0.0001, "1e−4"), (3e-12, "3e−12")],
    ids=str,
)
def test_the_number_in_a_cell(gap, expected):
    row = {"category": maps.UNPROVEN, "relative_gap_ascent": gap, "excess_of_restarts": -0.2}
    assert maps.number(row) == expected
    assert maps.number(row | {"category": maps.BEATEN}) == "−20 %"


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 6))
    y = (X[:, 0] + rng.standard_normal(30) > 0).astype(float)[:, None]
    return X, {model: experiment.stated(model, X, y) for model in ("filter", "feature")}


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize(("xi", "lam"), [(100.0, 100.0), (1.0, 100.0), (1.0, 0.5), (0.3, 1e-4)])
def test_a_setting_is_judged_by_the_papers_constants(problem, model, xi, lam):
    X, problems = problem
    squares = np.linalg.svd(X, compute_uv=False) ** 2
    floor = xi * squares[2:].sum()
    plan = experiment.Plan(restarts=10, checks=3, ascent=20)
    found = experiment.judge(restate(problems[model], xi, lam), 2, floor, plan, 0)
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


def test_the_cases_above_are_of_every_kind(problem):
    X, problems = problem
    floor = (np.linalg.svd(X, compute_uv=False) ** 2)[2:].sum()
    plan = experiment.Plan(restarts=2, checks=1, ascent=20)
    proven = experiment.judge(restate(problems["filter"], 1.0, 100.0), 2, floor, plan, 0)
    hard = experiment.judge(restate(problems["filter"], 0.3, 1e-4), 2, 0.3 * floor, plan, 0)
    assert proven["proven_residual"]
    assert not hard["proven_ascent"]


@pytest.fixture(scope="module")
def outcome(data_dir):
    return experiment.run(Setting(quick=True, data_dir=data_dir))


def test_a_quick_run_maps_every_setting(outcome):
    table = outcome.tables[""]
    names = table["data"].unique()
    assert list(outcome.figures) == ["", *names[1:]]
    assert len(names) >= 2
    for figure, name in zip(outcome.figures.values(), names, strict=True):
        rows = table[table["data"] == name]
        written = [text.get_text() for ax in figure.axes for text in ax.texts]
        assert sorted(written) == sorted(maps.number(row) for _, row in rows.iterrows())
        shown = {text.get_text() for text in figure.legends[0].get_texts()}
        assert shown == set(rows["category"])


def test_nothing_proven_is_refuted(outcome):
    table = outcome.tables[""]
    proven = table[table["proven_ascent"]]
    assert len(proven) > len(table) / 2
    assert proven["excess_of_restarts"].min() >= -1e-9
    lowest = np.minimum(table["best_of_restarts"], table["objective"])
    supervised = table["objective"] - table["unsupervised_bound"]
    assert np.all(lowest >= table["lower_bound_ascent"] - 1e-9 * supervised)


def test_the_comparison_counts(outcome):
    table = outcome.tables[""]
    text = outcome.comparison
    assert f"Of {len(table)} settings" in text
    assert f"holds in {(table['condition_printed'] < 3).sum()} as printed" in text
    assert "No restart" in text


def test_the_comparison_says_where_restarts_are_better(outcome):
    table = outcome.tables[""].copy()
    table.loc[0, ["category", "excess_of_restarts"]] = [maps.BEATEN, -0.25]
    text = experiment.compare(pd.DataFrame(table))
    assert "Random restarts found a lower objective in 1 settings, by up to 0.25" in text
    assert "No restart" not in text


def test_without_a_microarray_the_rest_is_done(tmp_path):
    notes = []
    sets = list(experiment.data_sets(Setting(data_dir=tmp_path, note=notes.append)))
    assert [data.name for data in sets] == ["breast-cancer", "digits-3-8"]
    assert "no microarray at hand" in notes[0]
    for data in sets:
        assert data.Y.shape == (len(data.X), 1)
        np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match=r"own: one class only \(tumour\); two are required"):
        experiment._data("own", np.eye(4), np.array(["tumour"] * 4))
