"""Labels in a separate file, features in several files: joined by names, with notes on unmatched samples."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.cli.command import ALL, SETTING, cohort, refused, superfactor

from superfactor import SMFClassifier
from superfactor.interpretation import block_shares
from superfactor.preprocessing import BlockScaler, LowRankImputer

GENES = [f"gene{j}" for j in range(12)]
PEOPLE = ["patient", "status", "sex", "age"]
ROLES = ("--target", "status", "--id", "patient", "--covariates", "sex,age")


def objective(done):
    assert done.code == 0, done
    return done.json["certificate"]["objective"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    data = cohort()
    data.to_csv(folder / "plain.csv", index=False)
    # In another order, two unknown to the table, and one of the table missing.
    people = data[PEOPLE].drop(index=5)
    people = pd.concat([people, people.head(2).assign(patient=["X1", "X2"])])
    people.sample(frac=1, random_state=0).to_csv(folder / "people.csv", index=False)
    data[["patient", *GENES]].to_csv(folder / "genes.csv", index=False)
    data[["patient", *GENES[:8]]].drop(index=[2, 3]).to_csv(folder / "rna.csv", index=False)
    data[["patient", *GENES[8:]]].drop(index=7).to_csv(folder / "protein.csv", index=False)
    return folder


def test_labels_in_a_separate_file(files, tmp_path):
    cohort().drop(index=5).to_csv(tmp_path / "t.csv", index=False)
    words = (*ROLES, *ALL, "--out", tmp_path / "m.skops", "--json")
    plain = superfactor("fit", tmp_path / "t.csv", *words)
    joined = superfactor("fit", files / "genes.csv", "--phenotype", files / "people.csv", *words)
    assert objective(joined) == pytest.approx(objective(plain), rel=1e-9)
    told = joined.json["table"]["join"]
    assert told["by"] == "patient"
    assert told["samples"] == 39
    assert [(group["why"], group["samples"]) for group in told["lost"]] == [
        ("not in people.csv", 1),
        ("not in genes.csv", 2),
    ]
    assert told["lost"][0]["first"] == ["P005"]
    assert sorted(told["lost"][1]["first"]) == ["X1", "X2"]
    assert "1 sample of genes.csv left out, not in people.csv: 'P005'" in joined.json["notes"]
    words = ("predict", tmp_path / "m.skops", files / "genes.csv", "--out", tmp_path / "p")
    assert "columns are missing: 'sex', 'age'" in refused(*words)
    done = superfactor(*words, "--phenotype", files / "people.csv")
    assert done.code == 0, done
    assert len(pd.read_csv(tmp_path / "p")) == 39
    report = ("report", tmp_path / "m.skops", files / "genes.csv", "--out", tmp_path / "r.html")
    assert superfactor(*report, "--phenotype", files / "people.csv").code == 0


# --- blocks -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def blocks(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("blocks")
    tables = ("--block", f"rna={files / 'rna.csv'}", "--block", f"protein={files / 'protein.csv'}")
    words = ("fit", *tables, "--phenotype", files / "people.csv", *ROLES, *ALL)
    done = superfactor(*words, "--out", folder / "m.skops", "--report", folder / "r.html", "--json")
    return folder, tables, done


def test_blocks_are_scaled_side_by_side(blocks, files):
    folder, _, done = blocks
    data = cohort().drop(index=5)
    X = data[GENES].assign(F=data["sex"] == "F", age=data["age"]).to_numpy(dtype=float)
    X[[data.index.get_loc(i) for i in (2, 3)], :8] = np.nan
    X[data.index.get_loc(7), 8:12] = np.nan
    # Samples that only the second table has come after all others.
    order = [i for i in range(39) if i not in (2, 3)] + [2, 3]
    X, y = X[order], data["status"].to_numpy()[order]
    model = make_pipeline(
        LowRankImputer(passthrough_columns=[12, 13]),
        StandardScaler(),
        BlockScaler({"rna": slice(0, 8), "protein": slice(8, 12)}),
        SMFClassifier(2, xi=0.1, lam=1.0, covariate_columns=[12, 13], random_state=0),
    ).fit(X, y)
    assert objective(done) == pytest.approx(model[-1].objective_, rel=1e-9)
    told = done.json
    assert told["table"]["blocks"] == {"rna": 8, "protein": 4}
    expected = block_shares(model, X)
    expected = expected[expected["features"] > 0].to_dict("records")
    assert [row["block"] for row in told["blocks"]] == [row["block"] for row in expected]
    for row, other in zip(told["blocks"], expected, strict=True):
        assert row["share_of_factor"] == pytest.approx(other["share_of_factor"], abs=1e-6)
        assert row["share_of_prediction"] == pytest.approx(other["share_of_prediction"], abs=1e-6)
    assert told["table"]["join"]["without_block"] == [
        {"block": "rna", "samples": 2, "first": ["P002", "P003"]},
        {"block": "protein", "samples": 1, "first": ["P007"]},
    ]
    assert "rna" in (folder / "r.html").read_text()


def test_new_samples_without_a_block(blocks, files, tmp_path):
    folder, tables, _ = blocks
    words = ("predict", folder / "m.skops", "--phenotype", files / "people.csv")
    done = superfactor(*words, *tables, "--out", tmp_path / "p", "--json")
    assert done.json["samples"] == 39
    done = superfactor(*words, *tables[:2], "--out", tmp_path / "p", "--json")
    assert done.json["samples"] == 37
    assert "no block 'protein': its features are missing values" in done.json["notes"]


def test_evaluate_and_select_join_too(files, tmp_path):
    tables = (files / "genes.csv", "--phenotype", files / "people.csv")
    done = superfactor("select", *tables, *ROLES, *SETTING, "--json")
    assert done.json["table"]["join"]["samples"] == 39
    fit = ("fit", *tables, *ROLES, *ALL, "--out", tmp_path / "m.skops")
    assert superfactor(*fit).code == 0
    other = cohort(seed=8).assign(patient=[f"Q{i}" for i in range(40)])
    other[["patient", *GENES]].to_csv(tmp_path / "genes.csv", index=False)
    other[PEOPLE].to_csv(tmp_path / "people.csv", index=False)
    words = ("evaluate", tmp_path / "m.skops", tmp_path / "genes.csv")
    done = superfactor(*words, "--phenotype", tmp_path / "people.csv", "--json")
    assert done.json["samples"] == 40
    assert done.json["summary"]["accuracy"]["mean"] > 0.8
