"""Counts from a CSV file, with and without an exposure: fit, model file, predict, evaluate, report."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import d2_tweedie_score, mean_poisson_deviance
from tests.cli.command import SETTING, refused, superfactor

from superfactor import load, saving

N, GENES = 120, [f"gene{j}" for j in range(8)]
WAYS = {
    "plain": ("--drop", "hours,age,site"),
    "exposure": ("--exposure", "hours", "--drop", "age,site"),
    "adjusted": ("--exposure", "hours", "--covariates", "age", "--adjust", "site"),
    "centred": ("--exposure", "hours", "--drop", "age,site", "--no-standardize"),
}


def study():
    """Visits in hours of very different length, whose rate one of two factors knows."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(N, 2))
    table = pd.DataFrame(
        (Z @ rng.normal(size=(2, 8)) + 0.3 * rng.normal(size=(N, 8))).round(3), columns=GENES
    )
    table.insert(0, "patient", [f"P{i}" for i in range(N)])
    table["hours"] = (10 ** rng.uniform(0, 1.5, N)).round(2)
    table["age"] = rng.integers(30, 80, N)
    table["site"] = rng.choice(["north", "south"], N)
    table["visits"] = rng.poisson(table["hours"] * np.exp(0.8 * Z[:, 0] - 0.5))
    return table


def words(way):
    return ("--target", "visits", "--task", "counts", "--id", "patient", *WAYS[way], *SETTING, "--no-stable")


@pytest.fixture(scope="module", params=list(WAYS))
def fitted(request, tmp_path_factory):
    """The way, the folder with first.csv, second.csv, m.skops and r.html, and the JSON of the fit."""
    folder, table = tmp_path_factory.mktemp(request.param), study()
    table[:80].to_csv(folder / "first.csv", index=False)
    table[80:].to_csv(folder / "second.csv", index=False)
    more = ("--repeats", "1", "--cv", "3", "--test-size", "0.2", "--report", folder / "r.html")
    done = superfactor(
        *("fit", folder / "first.csv", *words(request.param), *more), *("--out", folder / "m.skops", "--json")
    )
    assert done.code == 0, done
    return request.param, folder, done.json


def predicted(folder):
    done = superfactor("predict", folder / "m.skops", folder / "second.csv", "--out", folder / "p.csv")
    assert done.code == 0, done
    return pd.read_csv(folder / "p.csv")["predicted"].to_numpy()


def test_output_of_a_fit(fitted):
    way, _, told = fitted
    assert told["table"]["outcome"] == told["nested"]["outcome"] == "counts"
    assert told["nested"]["headline"] == "d2"
    held_out = told["scores"]["held_out"]
    assert held_out["samples"] == 16 and held_out["d2"] > held_out["guess"]["d2"]
    if way != "plain":  # hours explain much of the visits, and the rate is all that is left to explain
        summary, baselines = told["nested"]["summary"], told["nested"]["baselines"]
        assert summary["mean_deviance"]["mean"] < 2
        assert baselines["ridge Poisson regression"]["mean_deviance"]["mean"] < 2
        assert baselines["always the mean rate"]["mean_deviance"]["mean"] > 3


def test_the_exposure_is_not_scaled(fitted):
    way, folder, _ = fitted
    if way == "plain":
        return
    model, table = load(folder / "m.skops"), study()[80:]
    columns = [*GENES, *(["age"] if "age" in WAYS[way] else []), "hours"]
    X = table[columns].to_numpy(float)
    if way == "adjusted":  # an indicator of each site behind
        X = np.column_stack([X, table["site"] == "north", table["site"] == "south"]).astype(float)
        X = X[:, : model.n_features_in_]
    at = columns.index("hours")
    np.testing.assert_array_equal(model[:-1].transform(X)[:, at], table["hours"])
    doubled = X.copy()
    doubled[:, at] *= 2
    np.testing.assert_allclose(model.predict(doubled), 2 * model.predict(X))
    np.testing.assert_allclose(predicted(folder), model.predict(X))


def test_evaluate_has_the_figures_of_scikit_learn(fitted):
    way, folder, _ = fitted
    done = superfactor("evaluate", folder / "m.skops", folder / "second.csv", "--json")
    assert done.code == 0, done
    table, expected = study()[80:], predicted(folder)
    out_of = np.ones(40) if way == "plain" else table["hours"].to_numpy()
    d2 = d2_tweedie_score(table["visits"] / out_of, expected / out_of, power=1, sample_weight=out_of)
    summary = done.json["summary"]
    assert summary["d2"]["mean"] == pytest.approx(d2)
    assert summary["mean_deviance"]["mean"] == pytest.approx(mean_poisson_deviance(table["visits"], expected))
    assert summary["mean_absolute_error"]["mean"] == pytest.approx(np.abs(table["visits"] - expected).mean())


def test_the_page_of_a_model_file(fitted):
    way, folder, _ = fitted
    assert "eviance explained" in (folder / "r.html").read_text(encoding="utf-8")
    done = superfactor("report", folder / "m.skops", folder / "first.csv", "--out", folder / "r2.html")
    assert done.code == 0, done
    page = (folder / "r2.html").read_text(encoding="utf-8")
    assert "eviance explained" in page and "the mean rate" in page
    assert ("<dt>Exposure</dt><dd>hours: expected counts" in page) == (way != "plain")


def test_the_terminal_shows_counts(tmp_path):
    study().to_csv(tmp_path / "t.csv", index=False)
    more = ("--repeats", "1", "--cv", "3", "--out", tmp_path / "m.skops")
    done = superfactor("fit", tmp_path / "t.csv", *words("exposure"), *more)
    assert done.code == 0, done
    said = " ".join(done.out.split())
    assert "visits: 0 to" in said and "explained share of the deviance" in said
    assert "change of the logarithm of the expected visits" in said
    assert "PCA+Poi., ridge: tuned Poisson regressions; guess: always the mean rate" in said
    assert "accuracy" not in said and "class" not in said


def test_the_file_stores_the_exposure(fitted):
    way, folder, _ = fitted
    assert saving.read(folder / "m.skops").about["exposure"] == (None if way == "plain" else "hours")
    if way == "plain":
        return
    table = study()[80:]
    table.drop(columns="hours").to_csv(folder / "without.csv", index=False)
    said = refused("predict", folder / "m.skops", folder / "without.csv", "--out", folder / "p2.csv")
    assert "hours" in said
    table.assign(hours=0.0).to_csv(folder / "none.csv", index=False)
    said = refused("predict", folder / "m.skops", folder / "none.csv", "--out", folder / "p2.csv")
    assert "hours" in said


def test_counts_taken_as_classes_give_a_hint(tmp_path):
    table = study().drop(columns=["patient", "site"])
    table["visits"] %= 8
    table.loc[0, "visits"] = 8  # one sample of the last class
    table.to_csv(tmp_path / "t.csv", index=False)
    done = superfactor("fit", tmp_path / "t.csv", "--target", "visits", "--out", tmp_path / "m.skops")
    assert done.code == 2 and "--task counts" in done.err and "--drop-rare" in done.err, done
