"""What is done to a table and might be overlooked is told, and what is wrong with it in words that help."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.cli.command import ALL, cohort, refused, superfactor

GENES = [f"gene{j}" for j in range(12)]
ROLES = ("--target", "status", "--id", "patient", "--drop", "sex,age")


@pytest.fixture
def fit(tmp_path):
    def run(data, *more):
        data.to_csv(tmp_path / "t.csv", index=False)
        return ("fit", tmp_path / "t.csv", *ROLES, *ALL, *more, "--out", tmp_path / "m.skops")

    return run


def notes(*words):
    done = superfactor(*words, "--json")
    assert done.code == 0, done
    return "\n".join(done.json["notes"])


# --- notes ------------------------------------------------------------------------------------------


def test_batches_of_one_sample(fit):
    data = cohort().assign(batch=["A", "B", "C"] + ["A", "B"] * 18 + ["D"])
    said = notes(*fit(data, "--adjust", "batch"))
    assert "--adjust batch: only one sample of 'C', 'D'" in said


@pytest.mark.parametrize("word", ["unknown", "?", "n.a.", "Missing"])
def test_labels_that_look_like_missing_values(word, fit):
    data = cohort()
    data.loc[:3, "status"] = word
    words = fit(data)
    said = notes(*words)
    assert (
        f"the label {word!r} of 4 samples is taken as a class, but looks like a missing label: --unlabeled"
        in said
    )
    assert "looks like none" not in notes(*words, "--unlabeled", word)


def test_sparse_values_that_become_dense(tmp_path):
    anndata = pytest.importorskip("anndata")
    data = cohort()
    X = np.maximum(data[GENES].to_numpy(), 0)
    obs = data[["status"]].assign(batch=np.resize(["A", "B"], 40)).set_index(data["patient"])
    made = anndata.AnnData(sp.csr_matrix(X), obs=obs)
    made.var_names = GENES
    made.write_h5ad(tmp_path / "t.h5ad")
    words = ("fit", tmp_path / "t.h5ad", "--target", "status", *ALL, "--out", tmp_path / "m.skops")
    assert "sparse" not in notes(*words)
    assert "sparse values were adjusted, and are now dense: 1 MB" in notes(*words, "--adjust", "batch")
    data[["patient", "age"]].rename(columns={"patient": ""}).to_csv(tmp_path / "b.csv", index=False)
    said = notes(*words, "--block", f"other={tmp_path / 'b.csv'}")
    assert "and are now dense: 1 MB" in said


def test_predictions_have_the_share_of_imputed_values(fit, tmp_path):
    data = cohort()
    data.loc[0, GENES[:9]] = np.nan
    data.loc[1, GENES[0]] = np.nan
    data.loc[[0, 1, 2], "status"] = None
    words = fit(data, "--predictions", tmp_path / "own.csv")
    done = superfactor(*words)
    assert done.code == 0, done
    assert pd.read_csv(tmp_path / "own.csv")["missing"].tolist() == [0.75, 0.0833, 0.0]
    assert [line.split()[-1] for line in done.out.splitlines() if line.startswith("P00")] == [
        *("75%", "8%", "0%")
    ]
    table, out = tmp_path / "t.csv", tmp_path / "p.csv"
    assert superfactor("predict", tmp_path / "m.skops", table, "--out", out).code == 0
    expected = data[GENES].isna().mean(axis=1).round(4)
    np.testing.assert_allclose(pd.read_csv(out)["missing"], expected)


# --- errors -----------------------------------------------------------------------------------------


def test_names_that_differ_between_files(tmp_path):
    data = cohort()
    data[["patient", *GENES]].rename(columns={"patient": ""}).to_csv(tmp_path / "g.csv", index=False)
    data.assign(patient=data["patient"].str.lower())[["patient", "status"]].to_csv(
        tmp_path / "p.csv", index=False
    )
    files = (tmp_path / "g.csv", "--phenotype", tmp_path / "p.csv")
    line = refused("fit", *files, "--target", "status", *ALL, "--out", tmp_path / "m")
    assert "such as 'P000', 'P001' and 38 more" in line
    assert "here are 'p000' in 'patient'" in line
    assert "--id" in line


def test_several_sheets_need_a_choice(tmp_path):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        pd.DataFrame({"about": ["nothing"]}).to_excel(book, sheet_name="Cover", index=False)
        cohort().to_excel(book, sheet_name="Values", index=False)
    words = ("fit", tmp_path / "t.xlsx", *ROLES, *ALL, "--out", tmp_path / "m.skops")
    line = refused(*words)
    assert line.endswith("t.xlsx: it has the sheets 'Cover', 'Values'; choose one with --sheet\n")
    done = superfactor(*words, "--sheet", "values")
    assert done.code == 0, done
    cohort().to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", tmp_path / "t.csv", *ROLES, *ALL, "--out", tmp_path / "m.skops")
    assert superfactor(*fit).code == 0
    line = refused("predict", tmp_path / "m.skops", tmp_path / "t.xlsx", "--out", tmp_path / "p")
    assert line.endswith("t.xlsx: it has the sheets 'Cover', 'Values'; choose one with --sheet\n")


def test_only_rare_classes(fit):
    words = fit(cohort())
    assert "no class has 100 samples or more" in refused(*words, "--min-class", "100")
    assert "--min-class 0: an integer of at least 1 is required" in refused(*words, "--min-class", "0")
