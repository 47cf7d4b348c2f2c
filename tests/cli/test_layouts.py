"""The same samples in every kind of file: the same model."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler
from tests.cli.command import ALL, cohort, refused, superfactor

from superfactor import SMFClassifier, saving

anndata = pytest.importorskip("anndata")
GENES = ["TP53", "BRCA1", "EGFR", "MYC", "KRAS", "PTEN", "RB1", "CDK4", "AKT1", "MTOR", "ESR1", "VHL"]


@pytest.fixture(scope="module")
def data():
    table = cohort().drop(columns=["sex", "age"])
    return table.set_axis(["patient", "status", *GENES], axis=1)


@pytest.fixture(scope="module")
def expected(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    data.to_csv(folder / "t.csv", index=False)
    words = ("--target", "status", "--id", "patient", *ALL, "--out", folder / "m.skops")
    done = superfactor("fit", folder / "t.csv", *words, "--json")
    return done.json["certificate"]["objective"], folder / "m.skops"


def genes_in_rows(data):
    return data.set_index("patient")[GENES].T.rename_axis("gene").reset_index()


def comma(data, folder):
    data.to_csv(folder / "t.csv", sep=";", decimal=",", index=False)
    return (folder / "t.csv", "--id", "patient")


def excel(data, folder):
    with pd.ExcelWriter(folder / "t.xlsx") as book:
        pd.DataFrame({"about": ["nothing"]}).to_excel(book, sheet_name="cover", index=False)
        data.to_excel(book, sheet_name="values", index=False)
    return (folder / "t.xlsx", "--sheet", "values", "--id", "patient")


def two_sheets(data, folder):
    with pd.ExcelWriter(folder / "t.xlsx") as book:
        genes_in_rows(data).to_excel(book, sheet_name="genes", index=False)
        data[["patient", "status"]].to_excel(book, sheet_name="people", index=False)
    sheets = [f"{folder / 't.xlsx'}:{name}" for name in ("genes", "people")]
    return (sheets[0], "--phenotype", sheets[1], "--id", "patient")


def features(data, folder):
    genes_in_rows(data).to_csv(folder / "genes.tsv", sep="\t", index=False)
    data[["patient", "status"]].sample(frac=1, random_state=0).to_csv(folder / "people.csv", index=False)
    return (folder / "genes.tsv", "--phenotype", folder / "people.csv", "--id", "patient")


def parquet(data, folder):
    data.set_index("patient").to_parquet(folder / "t.parquet")
    return (folder / "t.parquet", "--id", "patient")


def annotated(data, folder):
    made = anndata.AnnData(
        data[GENES].to_numpy(),
        obs=data[["status"]].set_axis(data["patient"], axis=0),
        var=pd.DataFrame(index=GENES),
    )
    made.layers["own"], made.X = made.X, made.X * 2
    made.write_h5ad(folder / "t.h5ad")
    return (folder / "t.h5ad", "--layer", "own")


@pytest.mark.parametrize("write", [comma, excel, two_sheets, features, parquet, annotated])
def test_layouts(write, data, expected, tmp_path):
    words = (*write(data, tmp_path), "--target", "status", *ALL)
    done = superfactor("fit", *words, "--out", tmp_path / "m.skops", "--json")
    assert done.code == 0, done
    assert done.json["certificate"]["objective"] == pytest.approx(expected[0], rel=1e-9)
    table = words[0] if write is not two_sheets else tmp_path / "t.xlsx"
    # A model knows the layer and the sheet it was fitted to, but not which way round other files are.
    more = ("--layout", "features") if write in (two_sheets, features) else ()
    more += ("--sheet", "genes") if write is two_sheets else ()
    predict = ("predict", tmp_path / "m.skops", table, *more, "--out", tmp_path / "p.csv", "--json")
    assert superfactor(*predict).json["trained_on"] == {"yes": 40}
    # And so does one that was fitted to the plain table, if it is told.
    more += {excel: ("--sheet", "values"), annotated: ("--layer", "own")}.get(write, ())
    predict = ("predict", expected[1], table, *more, "--out", tmp_path / "q.csv", "--json")
    assert superfactor(*predict).json["trained_on"] == {"yes": 40}


def test_a_layer_is_that_of_files_that_have_some(data, tmp_path):
    words = (*annotated(data, tmp_path), "--target", "status", *ALL)
    superfactor("fit", *words, "--out", tmp_path / "m.skops")
    data.to_csv(tmp_path / "t.csv", index=False)
    done = superfactor("predict", tmp_path / "m.skops", tmp_path / "t.csv", "--out", tmp_path / "p")
    assert done.code == 0, done


# --- sparse -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.poisson(0.2, (90, 30)).astype(float)
    X[:, :3] += 2 * np.eye(3)[y]
    folder = tmp_path_factory.mktemp("sparse")
    obs = pd.DataFrame({"type": np.array(["a", "b", "c"])[y]}, index=[f"c{i}" for i in range(90)])
    obs["batch"] = np.where(rng.random(90) < 0.5, "p", "q")
    made = anndata.AnnData(sp.csr_matrix(X), obs=obs)
    made.var_names = [f"g{j}" for j in range(30)]
    made.write_h5ad(folder / "t.h5ad")
    return folder / "t.h5ad", X, obs["type"].to_numpy()


def test_sparse_stays_sparse(counts, tmp_path, monkeypatch):
    path, X, y = counts
    monkeypatch.setattr(sp.csr_matrix, "toarray", _refuse_to_write_out)
    words = ("fit", path, "--target", "type", *ALL, "--out", tmp_path / "m.skops")
    done = superfactor(*words, "--json")
    assert done.code == 0, done
    S = StandardScaler(with_mean=False).fit_transform(sp.csr_matrix(X))
    same = SMFClassifier(2, xi=0.1, lam=1.0, random_state=0).fit(S, y)
    assert done.json["certificate"]["objective"] == pytest.approx(same.objective_, rel=1e-9)
    done = superfactor("predict", tmp_path / "m.skops", path, "--out", tmp_path / "p.csv", "--json")
    assert done.json["trained_on"] == {"yes": 90}
    # A plain table of the same samples is taken as the model takes them.
    table = pd.DataFrame(X, columns=[f"g{j}" for j in range(30)])
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ("predict", tmp_path / "m.skops", tmp_path / "t.csv", "--out", tmp_path / "q.csv")
    assert superfactor(*words, "--json").json["trained_on"] == {"yes": 90}
    one, other = (pd.read_csv(tmp_path / name).iloc[:, 1:] for name in ("p.csv", "q.csv"))
    pd.testing.assert_frame_equal(one, other)
    assert saving.read(tmp_path / "m.skops").about["sparse"]


def _refuse_to_write_out(self, *args, **kwargs):
    assert self.shape != (90, 30), "X was written out"
    return sp.csr_array(self).toarray()


@pytest.mark.parametrize("more", [(), ("--covariates", "batch"), ("--adjust", "batch"), ("--log2",)])
def test_pages_of_sparse_data(more, counts, tmp_path):
    words = ("fit", counts[0], "--target", "type", *ALL, *more, "--out", tmp_path / "m.skops")
    done = superfactor(*words, "--report", tmp_path / "r.html")
    assert done.code == 0, done
    again = ("report", tmp_path / "m.skops", counts[0], "--out", tmp_path / "q.html")
    assert superfactor(*again).code == 0


def test_a_matrix_without_names_is_in_the_order_of_the_labels(counts, tmp_path):
    path, X, y = counts
    sp.save_npz(tmp_path / "t.npz", sp.csr_matrix(X))
    people = pd.DataFrame({"cell": [f"c{i}" for i in range(90)], "type": y})
    people.to_csv(tmp_path / "people.csv", index=False)
    words = ("--target", "type", *ALL, "--out", tmp_path / "m.skops", "--json")
    named = superfactor("fit", path, *words).json["certificate"]["objective"]
    beside = ("fit", tmp_path / "t.npz", "--phenotype", tmp_path / "people.csv", "--id", "cell")
    done = superfactor(*beside, *words)
    assert done.code == 0, done
    assert done.json["certificate"]["objective"] == pytest.approx(named, rel=1e-9)
    assert "t.npz has no names of samples: they are in the order of people.csv" in done.json["notes"]
    people.head(80).to_csv(tmp_path / "people.csv", index=False)
    line = refused(*beside, *words[:-1])
    assert "90 rows without names of samples" in line
