"""Several yes/no labels from a CSV file: fit, model file, predict, evaluate, report."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from tests.cli.command import SETTING, superfactor

from superfactor import SMFClassifier, load, saving
from superfactor.cli.record import recorded_scores
from superfactor.outcomes import outcome_named
from superfactor.outcomes.descriptions import description_of

N, GENES, FLAGS = 120, [f"gene{j}" for j in range(8)], ["pain", "fever", "cough"]


def study():
    """Three labels that two factors of the features know about."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(N, 2))
    table = pd.DataFrame(
        (Z @ rng.normal(size=(2, 8)) + 0.3 * rng.normal(size=(N, 8))).round(3), columns=GENES
    )
    table.insert(0, "patient", [f"P{i}" for i in range(N)])
    activations = np.column_stack([3 * Z[:, 0], 3 * Z[:, 1] + 1, 2 * Z.sum(axis=1)])
    table[FLAGS] = (rng.random((N, 3)) < 1 / (1 + np.exp(-activations))).astype(int)
    return table


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """The folder with first.csv, second.csv and m.skops, and what the fit said."""
    folder, table = tmp_path_factory.mktemp("flags"), study()
    table[:80].to_csv(folder / "first.csv", index=False)
    table[80:].to_csv(folder / "second.csv", index=False)
    words = ("--target", ",".join(FLAGS), "--id", "patient", *SETTING, "--no-stable", "--repeats", "1")
    done = superfactor("fit", folder / "first.csv", *words, "--cv", "3", "--out", folder / "m.skops")
    assert done.code == 0, done
    return folder, " ".join(done.out.split())


def test_predictions_and_figures(fitted):
    folder, _ = fitted
    done = superfactor("predict", folder / "m.skops", folder / "second.csv", "--out", folder / "p.csv")
    assert done.code == 0, done
    found, table = pd.read_csv(folder / "p.csv"), study()[80:]
    rows = found.filter(like="probability").to_numpy()
    own = load(folder / "m.skops").predict_proba(table[GENES].to_numpy())
    np.testing.assert_allclose(rows, own)
    done = superfactor("evaluate", folder / "m.skops", folder / "second.csv", "--json")
    assert done.code == 0, done
    assert done.json["outcome"] == "flags"
    area = roc_auc_score(table[FLAGS], rows, average="macro")
    assert any(value["mean"] == pytest.approx(area) for value in done.json["summary"].values())


def test_stored_probabilities_come_back_as_they_were(fitted):
    folder, _ = fitted
    stored = saving.read(folder / "m.skops").about["nested"]
    found = recorded_scores(stored).predictions
    np.testing.assert_array_equal(found, stored["predictions"].astype(float))
    assert np.ptp(found.sum(axis=1)) > 0.5  # each label has a probability of its own


def test_terminal_and_page_show_labels(fitted):
    folder, said = fitted
    assert all(name in said for name in FLAGS)
    done = superfactor("report", folder / "m.skops", folder / "first.csv", "--out", folder / "r.html")
    assert done.code == 0, done
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert all(name in page for name in FLAGS)


def test_a_probability_of_one_half_is_decided_as_by_predict():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    model = SMFClassifier(2, fit_intercept=False).fit(X, (X[:, :2] > 0).astype(int))
    asked = np.vstack([np.zeros(4), X[:5]])
    found = description_of("flags").predictions(outcome_named("flags"), model, asked, ["a", "b"])
    assert found.columns["probability[a]"][0] == 0.5
    decided = np.column_stack([found.columns["predicted[a]"], found.columns["predicted[b]"]])
    np.testing.assert_array_equal(decided, model.predict(asked))
