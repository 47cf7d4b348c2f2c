"""New samples as they come: other formats, empty cells, names that occur twice, blocks by wrong names."""

import numpy as np
import pandas as pd
import pytest
from tests.cli.command import ALL, cohort, refused, superfactor

GENES = [f"gene{j}" for j in range(12)]
NEW = cohort(seed=7).assign(patient=[f"Q{i}" for i in range(40)])


@pytest.fixture
def predict(model, tmp_path):
    def run(data, *more):
        data.to_csv(tmp_path / "new.csv", index=False)
        words = ("predict", model, tmp_path / "new.csv", "--out", tmp_path / "p.csv", *more)
        done = superfactor(*words)
        assert done.code == 0, done
        return pd.read_csv(tmp_path / "p.csv"), done.err

    return run


# --- names ------------------------------------------------------------------------------------------


def test_names_of_samples(tmp_path):
    anndata = pytest.importorskip("anndata")
    data = cohort().rename(columns={"patient": "samples", "status": "type"})
    data = data[["samples", "type", *GENES]]
    data.to_csv(tmp_path / "t.csv", index=False)
    obs = data[["type"]].set_index(data["samples"].to_numpy())
    other = anndata.AnnData(data[GENES].to_numpy() + 0.5, obs=obs)
    other.var_names = GENES
    other.write_h5ad(tmp_path / "t.h5ad")
    for mine, new in (("t.csv", "t.h5ad"), ("t.h5ad", "t.csv")):
        fit = ("fit", tmp_path / mine, "--target", "type", *ALL, "--out", tmp_path / "m.skops")
        assert superfactor(*fit).code == 0
        out = tmp_path / "p.csv"
        done = superfactor("predict", tmp_path / "m.skops", tmp_path / new, "--out", out)
        assert done.code == 0, done
        found = pd.read_csv(out)
        assert found.iloc[:, 0].tolist() == data["samples"].tolist()
        assert set(found["trained_on"]) == {"same name"}


def test_names_that_occur_twice(predict):
    found, said = predict(NEW.assign(patient=["Q0", "Q0", *NEW["patient"][2:]]))
    assert len(found) == 40
    assert "1 sample name occurs more than once: 'Q0'; predictions are in the order" in said


# --- labels -----------------------------------------------------------------------------------------


def test_labels_of_another_column_and_spelling(model, tmp_path):
    table = NEW.assign(status=NEW["status"].where(NEW.index > 4, "?"))
    table.rename(columns={"status": "diagnosis"}).to_csv(tmp_path / "new.csv", index=False)
    words = ("evaluate", model, tmp_path / "new.csv")
    assert "name the one that holds it with --target" in refused(*words)
    words += ("--target", "diagnosis")
    assert "holds '?'" in refused(*words)
    told = superfactor(*words, "--unlabeled", "?", "--json").json
    NEW[NEW.index > 4].to_csv(tmp_path / "new.csv", index=False)
    same = superfactor("evaluate", model, tmp_path / "new.csv", "--json").json
    assert told["samples"] == 35
    assert told["summary"] == same["summary"]


def test_labels_of_formerly_unlabeled_samples(tmp_path):
    data = cohort().drop(columns=["sex", "age"])
    data.assign(status=data["status"].where(data.index > 9)).to_csv(tmp_path / "t.csv", index=False)
    words = ("--target", "status", "--id", "patient", *ALL, "--out", tmp_path / "m")
    assert superfactor("fit", tmp_path / "t.csv", *words).code == 0
    # Measured again, so that only their names tell who they are.
    data[GENES] += np.random.default_rng(0).normal(scale=0.01, size=(40, 12))
    data.to_csv(tmp_path / "new.csv", index=False)
    told = superfactor("evaluate", tmp_path / "m", tmp_path / "new.csv", "--json").json
    assert told["samples"] == 10
    assert any("10 of these 10 samples contributed to the factors" in note for note in told["notes"])
