"""Missing values are filled in, and the user is told how many, where, and what became of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.cli.command import ALL, cohort, superfactor

from superfactor import SMFClassifier, saving
from superfactor.preprocessing import LowRankImputer

ROLES = ("--target", "status", "--id", "patient", "--covariates", "sex,age")
GENES = [f"gene{j}" for j in range(12)]


def holes(table, share=0.05):
    """The cohort with holes, one feature of nothing else, and one sample of mostly such."""
    gone = np.random.default_rng(0).random((len(table), len(GENES))) < share
    table = table.copy()
    table[GENES] = table[GENES].mask(gone)
    table["gene5"] = np.nan
    table.loc[7, GENES[6:]] = np.nan
    table.loc[7, "gene0"] = np.nan
    return table


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gaps")
    holes(cohort()).to_csv(folder / "t.csv", index=False)
    words = ("fit", folder / "t.csv", *ROLES, *ALL, "--out", folder / "m.skops")
    return folder, superfactor(*words, "--report", folder / "r.html", "--json"), superfactor(*words)


def test_the_model_is_that_of_the_imputer_before_it(fitted):
    _, done, _ = fitted
    assert done.code == 0, done
    data = holes(cohort())
    X = data[[g for g in GENES if g != "gene5"]].assign(F=data["sex"] == "F", age=data["age"])
    model = make_pipeline(
        LowRankImputer(passthrough_columns=[11, 12]),
        StandardScaler(),
        SMFClassifier(2, xi=0.1, lam=1.0, covariate_columns=[11, 12], random_state=0),
    ).fit(X.to_numpy(dtype=float), data["status"])
    assert done.json["certificate"]["objective"] == pytest.approx(model[-1].objective_, rel=1e-9)


def test_output_with_missing_values(fitted):
    folder, done, shown = fitted
    told = done.json["table"]["missing"]
    data = holes(cohort())[[g for g in GENES if g != "gene5"]]
    assert told["share"] == pytest.approx(data.isna().to_numpy().mean())
    assert told["impute"] == "lowrank"
    assert told["features_without_values"] == ["gene5"]
    assert told["samples_missing_half"] == ["P007"]
    assert "note: 1 feature without any value left out: 'gene5'" in shown.err
    assert "of the values are missing and filled in by a low-rank fit" in shown.err
    assert "1 of 40 samples miss more than half of the features: 'P007'" in shown.err
    assert "Optimality (for the table with imputed values): " in " ".join(shown.out.split())
    page = (folder / "r.html").read_text()
    assert "values are missing and filled in" not in page  # as a note: the page has its own words
    assert f"{data.isna().to_numpy().sum()} of 440 values" in page
    assert page.count("refers to the table with imputed missing values") == 2  # Result and Convergence
    assert "1 feature without any value left out" in page


def test_new_samples_may_have_gaps(fitted, tmp_path):
    folder, _, _ = fitted
    new = holes(cohort(seed=4), 0.1).assign(gene5=1.0)
    new.to_csv(tmp_path / "new.csv", index=False)
    done = superfactor("predict", folder / "m.skops", tmp_path / "new.csv", "--out", tmp_path / "p")
    assert done.code == 0, done
    assert "values are missing and filled in by a low-rank fit" in done.err
    found = pd.read_csv(tmp_path / "p").filter(like="probability").to_numpy()
    data = new[[g for g in GENES if g != "gene5"]].assign(F=new["sex"] == "F", age=new["age"])
    model = saving.read(folder / "m.skops").model
    np.testing.assert_allclose(found, model.predict_proba(data.to_numpy(dtype=float)))


def test_a_model_of_complete_samples_fills_in_its_means(model, tmp_path):
    complete = cohort(seed=4)
    gone = complete.assign(gene3=complete["gene3"].where(complete.index > 2))
    gone.to_csv(tmp_path / "gone.csv", index=False)
    done = superfactor("predict", model, tmp_path / "gone.csv", "--out", tmp_path / "gone", "--json")
    assert done.json["missing"]["impute"] == "training means"
    (scaler,) = (s for _, s in saving.read(model).model.steps if hasattr(s, "mean_"))
    filled = complete.assign(gene3=gone["gene3"].fillna(scaler.mean_[3]))
    filled.to_csv(tmp_path / "filled.csv", index=False)
    superfactor("predict", model, tmp_path / "filled.csv", "--out", tmp_path / "filled")
    one, other = (pd.read_csv(tmp_path / name).filter(like="probability") for name in ("gone", "filled"))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_report_of_a_table_with_gaps(fitted, tmp_path):
    folder, _, _ = fitted
    done = superfactor("report", folder / "m.skops", folder / "t.csv", "--out", tmp_path / "r.html", "--json")
    assert done.json["samples"] == {"fitted": 40, "held_out": 0}
