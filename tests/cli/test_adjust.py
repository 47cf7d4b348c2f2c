"""What a batch explains leaves the features, and what new samples have of it is told."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.cli.command import ALL, cohort, superfactor

from superfactor import SMFClassifier
from superfactor.interpretation import confounding
from superfactor.preprocessing import Adjuster

GENES = [f"gene{j}" for j in range(12)]
ROLES = ("--target", "status", "--id", "patient", "--covariates", "age", "--drop", "sex")


def shifted(seed=0, batches=("May", "June", "July")):
    """The cohort in batches that have nothing to do with the label, features shifted by each."""
    data = cohort(n=60, seed=seed)
    batch = np.arange(60) // 2 % 3
    shift = np.random.default_rng(1).normal(scale=4, size=(3, len(GENES)))
    data[GENES] += shift[batch]
    return data.assign(batch=np.array(batches)[batch])


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adjusted")
    shifted().to_csv(folder / "t.csv", index=False)
    words = ("fit", folder / "t.csv", *ROLES, *ALL, "--adjust", "batch", "--out", folder / "m.skops")
    return folder, superfactor(*words, "--report", folder / "r.html", "--json")


def by_hand(data):
    X = data[[*GENES, "age", "batch"]]
    steps = Adjuster("batch", keep=["age"]), StandardScaler()
    model = SMFClassifier(2, xi=0.1, lam=1.0, covariate_columns=[12], random_state=0)
    return make_pipeline(*steps, model).fit(X, data["status"]), X


def test_the_model_is_that_of_the_adjuster_before_it(fitted):
    _, done = fitted
    assert done.code == 0, done
    model, X = by_hand(shifted())
    assert done.json["certificate"]["objective"] == pytest.approx(model[-1].objective_, rel=1e-9)
    expected = confounding(model, X)
    for row, other in zip(done.json["confounding"], expected.to_dict("records"), strict=True):
        assert row["confounder"] == other["confounder"] == "batch"
        assert row["before"] == pytest.approx(other["before"], abs=1e-6)
        assert row["after"] == pytest.approx(other["after"], abs=1e-6)


def test_page_and_facts_name_the_confounder(fitted):
    folder, done = fitted
    assert done.json["table"]["adjusted_for"] == ["batch"]
    page = (folder / "r.html").read_text()
    assert "Confounders and the factors" in page
    again = folder / "again.html"
    done = superfactor("report", folder / "m.skops", folder / "t.csv", "--out", again)
    assert done.code == 0, done


def test_new_batches_and_none_at_all(fitted, tmp_path):
    folder, _ = fitted
    model, _ = by_hand(shifted())
    new = shifted(seed=3, batches=("May", "June", "August"))
    new.to_csv(tmp_path / "new.csv", index=False)
    words = ("predict", folder / "m.skops", tmp_path / "new.csv", "--out", tmp_path / "p")
    done = superfactor(*words)
    assert "'batch' is empty or an unknown level for 20 of 60 samples" in done.err
    assert "confounders" not in done.err  # said once
    found = pd.read_csv(tmp_path / "p").filter(like="probability").to_numpy()
    with pytest.warns(UserWarning, match="confounders"):
        expected = model.predict_proba(new[[*GENES, "age", "batch"]])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    new.drop(columns="batch").to_csv(tmp_path / "new.csv", index=False)
    done = superfactor(*words)
    assert "no column 'batch', for which the model is adjusted: the features of all samples" in done.err


@pytest.mark.filterwarnings("error:confounders")
def test_samples_of_no_batch_are_counted_once(tmp_path):
    table = shifted()
    table.loc[:3, "batch"] = None
    table.loc[10:14, "status"] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", *ROLES, *ALL, "--adjust", "batch", "--out", tmp_path / "m")
    done = superfactor(*words, "--report", tmp_path / "r.html", "--predictions", tmp_path / "p")
    assert done.code == 0, done
    assert done.err.count("'batch' is empty") == 1
    assert "UserWarning" not in done.err
    report = superfactor("report", tmp_path / "m", tmp_path / "t.csv", "--out", tmp_path / "r")
    assert report.code == 0, report
