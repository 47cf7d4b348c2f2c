"""`superfactor select`: the search of the library, in a table."""

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold
from tests.cli.command import cohort, roles, superfactor

from superfactor import SMFClassifierCV

GRID = ("--rank", "1,2", "--xi", "0.1,1", "--lam", "0.1,1")


def searched(**options):
    data = cohort()
    return SMFClassifierCV(
        [1, 2], xi=[0.1, 1.0], lam=[0.1, 1.0], cv=StratifiedKFold(5, shuffle=True, random_state=0), **options
    ).fit(data.filter(like="gene").to_numpy(), data["status"].to_numpy(dtype=str))


def test_scores_are_those_of_the_library(table, tmp_path):
    words = ("--target", "status", "--drop", "patient,sex,age", *GRID)
    done = superfactor("select", table, *words, "--out", tmp_path / "grid.csv", "--json")
    best, simple = searched(), searched(rule="one_standard_error")
    for name, search in (("best", best), ("one_standard_error", simple)):
        told = done.json[name]
        assert {key: told[key] for key in search.best_params_} == search.best_params_
        assert told["log_likelihood"] == search.best_score_
    grid = pd.read_csv(tmp_path / "grid.csv")
    assert len(grid) == 8
    np.testing.assert_allclose(grid["mean_test_score"], best.cv_results_["mean_test_score"])
    np.testing.assert_allclose(grid["split4_test_score"], best.cv_results_["split4_test_score"])
    np.testing.assert_allclose(done.json["share_of_variance"], best.scree_.share)
    assert done.json["selection"]["elbow"] == best.scree_.elbow


def test_says_what_to_choose(table):
    done = superfactor("select", table, *roles(), *GRID)
    assert done.code == 0, done
    assert "the elbow is at rank" in done.out
    assert "8 of 8 settings" in done.out
    assert "\nchosen, as in superfactor fit: rank " in done.out
    assert "simplest within one standard error: rank " in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_quiet(table, tmp_path):
    done = superfactor("select", table, *roles(), *GRID, "--quiet", "--out", tmp_path / "g.csv")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "g.csv").exists()


def test_numbers_are_never_cut_short(table, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    words = ("--rank", "1,2", "--xi", "0.1", "--lam", "3750,0.000123")
    done = superfactor("select", table, *roles(), *words)
    for number in ("3.75e+03", "0.000123"):
        assert number in done.out
