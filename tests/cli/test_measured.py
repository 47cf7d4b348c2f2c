"""How well a fit predicts, as `superfactor fit` says it: nested cross-validation, and words."""

import numpy as np
import pandas as pd
import pytest
from tests.cli.command import ALL, SETTING, cohort, refused, roles, superfactor

from superfactor import SMFClassifierCV, saving
from superfactor.selection import nested_scores

ONE = (*SETTING, "--repeats", "1", "--no-stable")


@pytest.fixture(scope="module")
def measured(table, tmp_path_factory):
    out = tmp_path_factory.mktemp("measured") / "m.skops"
    words = ("fit", table, *roles(), *ONE, "--out", out)
    return superfactor(*words), superfactor(*words, "--json").json, out


def test_is_the_library_on_the_same_samples(measured):
    _, told, _ = measured
    data = cohort()
    X = data.filter(like="gene").assign(M=data["sex"] == "M", age=data["age"]).to_numpy(dtype=float)
    search = SMFClassifierCV(*(2,), xi=0.1, lam=1.0, covariate_columns=[12, 13])
    y = data["status"].to_numpy(dtype=str)
    found = nested_scores(search, X, y, n_repeats=1, covariate_names=("sex", "age"))
    for own, expected in (
        (told["nested"]["summary"], found.summary),
        (told["nested"]["baselines"]["covariates alone"], found.baselines["covariates alone"]),
    ):
        assert own == {
            metric: {end: pytest.approx(x) if x == x else None for end, x in values.items()}
            for metric, values in expected.items()
        }
    words = found.verdict.as_dict()
    assert told["verdict"] == words | {"advice": told["verdict"]["advice"]}
    assert len(told["verdict"]["advice"]) == len(words["advice"])


def test_terminal_and_json_say_the_same(measured):
    done, told, out = measured
    assert done.code == 0, done
    said = " ".join(done.out.split())
    verdict = told["verdict"]
    for words in (verdict["headline"], *verdict["sentences"]):
        assert words in said
    assert "PCA+LR" in said
    assert "covar.: covariates alone" in said
    # What is proven comes after what it is worth.
    assert said.index(verdict["headline"]) < said.index("Optimality: ")
    assert max(map(len, done.out.splitlines())) <= 80
    about = saving.read(out).about
    assert about["verdict"] == verdict
    assert about["nested"]["summary"] == {
        metric: {
            end: told["nested"]["summary"][metric][end] if x == x else pytest.approx(x, nan_ok=True)
            for end, x in values.items()
        }
        for metric, values in about["nested"]["summary"].items()
    }


def test_the_model_is_fitted_to_all_samples(measured):
    done, told, out = measured
    assert "fitted to all samples" in " ".join(done.out.split())
    assert len(saving.read(out).about["training_ids"]) == 40
    assert told["scores"]["held_out"] is None


def test_noise_is_not_shown_to_predict(tmp_path):
    data = cohort(seed=3).drop(columns=["sex", "age"])
    data["status"] = np.random.default_rng(1).permutation(data["status"])
    data.to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", "--target", "status", "--id", "patient", *ONE)
    done = superfactor(*words, "--permutations", "3", "--out", tmp_path / "m")
    said = " ".join(done.out.split())
    assert "Not shown to be better than guessing" in said
    assert "of 3 tries" in said
    assert "Try: more samples" in said


def test_unequal_classes_use_balanced_accuracy(tmp_path):
    data = cohort(n=60)
    data = data[(data["status"] == "normal") | (data.index < 24)]
    data.to_csv(tmp_path / "t.csv", index=False)
    told = superfactor("fit", tmp_path / "t.csv", *roles(), *ONE, "--out", tmp_path / "m", "--json")
    assert told.json["nested"]["headline"] == "balanced_accuracy"
    assert "balanced accuracy" in told.json["verdict"]["headline"]


def test_two_samples_of_a_class_are_too_few(tmp_path):
    data = cohort()
    data = data[(data["status"] == "normal") | (data.index < 4)]
    data.to_csv(tmp_path / "t.csv", index=False)
    done = superfactor("fit", tmp_path / "t.csv", *roles(), *ONE, "--out", tmp_path / "m", "--json")
    assert done.json["nested"] is None
    assert done.json["verdict"]["grade"] == "not shown"
    assert "too few to measure" in done.json["verdict"]["headline"]


class TestGroups:
    @pytest.fixture
    def visits(self, tmp_path):
        """Three visits of each patient, all alike; the genes know nothing."""
        data = cohort(n=20, p=30, seed=5).drop(columns=["sex", "age", "gene0", "gene1"])
        data = data.loc[np.repeat(data.index, 3)]
        data.to_csv(tmp_path / "visits.csv", index=False)
        return tmp_path / "visits.csv"

    def test_repeated_measures_do_not_leak(self, visits, tmp_path):
        words = ("fit", visits, "--target", "status", "--rank", "2", "--xi", "0.001", "--lam", "0.001")
        words += ("--repeats", "1", "--no-stable", "--out", tmp_path / "m", "--json")
        apart = superfactor(*words, "--id", "patient").json
        assert apart["nested"]["summary"]["accuracy"]["mean"] < 0.85  # the same name is one group
        together = superfactor(*words, "--id", "patient", "--group", "patient").json
        assert together["nested"]["summary"]["accuracy"]["mean"] < 0.85
        assert together["verdict"]["grade"] == "not shown"
        assert together["table"]["features"] == 28
        line = refused(*words, "--drop", "patient", "--group", "patient")
        assert "given both as --drop and as --group" in line

    @pytest.mark.parametrize("size", [0.4, 0.7])
    def test_the_requested_share_of_groups(self, visits, tmp_path, size):
        words = ("fit", visits, "--target", "status", "--group", "patient", *ALL)
        told = superfactor(*words, "--test-size", str(size), "--out", tmp_path / "m", "--json").json
        assert told["scores"]["held_out"]["samples"] / 60 == pytest.approx(size, abs=0.1)

    def test_held_out_groups(self, visits, tmp_path):
        words = ("fit", visits, "--target", "status", "--group", "patient", "--test-size", "0.25")
        words += ALL
        assert superfactor(*words, "--out", tmp_path / "m").code == 0
        about = saving.read(tmp_path / "m").about
        patient = pd.read_csv(visits)["patient"]
        rows = {part: about[f"{part}_ids"].astype(int) - 1 for part in ("training", "held_out")}
        assert len(rows["held_out"]) >= 12
        assert not set(patient[rows["training"]]) & set(patient[rows["held_out"]])

    def test_empty_cells(self, visits, tmp_path):
        text = visits.read_text().replace("P000", "")
        (tmp_path / "e.csv").write_text(text)
        words = ("fit", tmp_path / "e.csv", "--target", "status", "--group", "patient")
        assert "--group patient: empty for 3 of 60" in refused(*words, "--out", tmp_path / "m")


def test_repeats_that_are_no_number(table, tmp_path):
    words = ("fit", table, *roles(), "--repeats", "few", "--out", tmp_path / "m")
    assert "--repeats few: auto or an integer of at least 0" in refused(*words)


def test_ctrl_c_prints_one_line(table, tmp_path, monkeypatch):
    from superfactor.selection.evaluation import outer

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(outer.OuterFold, "rows", interrupted)
    done = superfactor("fit", table, *roles(), *ONE, "--out", tmp_path / "m")
    assert (done.code, done.err) == (130, "error: interrupted\n")
    assert not (tmp_path / "m").exists()


def test_permutations_require_nested_scores(table, tmp_path):
    line = refused("fit", table, *roles(), "--repeats", "0", "--permutations", "20", "--out", tmp_path / "m")
    assert "--permutations needs nested cross-validation" in line
