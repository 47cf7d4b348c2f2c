"""Join labels and features from several files by sample names; lost samples are reported."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.tables.cohort import GENES, ROLES, cohort, said

from superfactor import SMFClassifier, SMFClassifierCV
from superfactor.preprocessing import BlockScaler, LowRankImputer
from superfactor.tables import TableError, read_study

PEOPLE = ["patient", "status", "sex", "age"]


def people():
    """Phenotypes in another order than the table, with two further samples and one missing."""
    known = cohort()[PEOPLE].drop(index=5)
    known = pd.concat([known, known.head(2).assign(patient=["X1", "X2"])])
    return known.sample(frac=1, random_state=0)


def same(study, other):
    np.testing.assert_array_equal(study.design, other.design)
    np.testing.assert_array_equal(study.y, other.y)
    assert study.ids.tolist() == other.ids.tolist()


def test_labels_in_a_separate_file(read):
    study = read(cohort()[["patient", *GENES]], people(), **ROLES)
    same(study, read(cohort().drop(index=5), **ROLES))
    joined = study.joined
    assert (joined["by"], joined["samples"]) == ("patient", 39)
    lost = [(group["why"], sorted(group["first"])) for group in joined["lost"]]
    assert lost == [("not in people.csv", ["P005"]), ("not in t.csv", ["X1", "X2"])]
    assert "1 sample of t.csv left out, not in people.csv: 'P005'" in said(study)


def test_column_of_names_is_found(read):
    table = cohort()[["patient", *GENES]].rename(columns={"patient": ""})
    study = read(table, people(), target="status", covariates=["sex", "age"])
    assert (study.joined["by"], study.roles.id) == ("patient", "patient")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.assign(patient=d["patient"].str.lower()), "no sample of"),
        (lambda d: d.drop(columns="patient"), "id: there is no column 'patient'"),
        (lambda d: pd.concat([d, d.head(1)]), "1 sample name in column 'patient' occurs more"),
        (
            lambda d: d.reset_index(drop=True).assign(patient=lambda d: d["patient"].where(d.index > 0)),
            "missing sample name in column 'patient' at line 2",
        ),
    ],
    ids=["other-names", "no-names", "twice", "empty"],
)
def test_unusable_sample_names_are_refused(change, message, read):
    with pytest.raises(TableError) as caught:
        read(cohort()[["patient", *GENES]], change(people()), **ROLES)
    assert message in str(caught.value) and "people.csv" in str(caught.value)
    assert caught.value.kind == "join"


def test_missing_column_of_names_is_refused(read):
    table = cohort()[["patient", *GENES]].rename(columns={"patient": ""})
    others = people().assign(patient=lambda d: d["patient"] + "x")
    with pytest.raises(
        TableError, match=r"no column has the sample names .* such as 'P000', 'P001' and 38 more; here"
    ):
        read(table, others, target="status")
    with pytest.raises(TableError, match=r"t\.csv: id is required, the column with the sample names"):
        read(cohort()[GENES], others[["status", "age"]], target="status")


def test_contradicting_files_are_refused(read):
    data = cohort()
    # Values agree where both files have one (61.0 equals 61); an empty cell is filled from the other file.
    table = data.assign(age=data["age"].astype(float), sex=data["sex"].where(data.index > 3))
    same(read(table, people(), **ROLES), read(data.drop(index=5), **ROLES))
    with pytest.raises(TableError) as caught:
        read(data.assign(status="tumoral"), people(), **ROLES)
    assert "column 'status' differs between" in str(caught.value)
    # P005 is not in people.csv.
    assert "for 20 of 39 samples, first for 'P000': 'normal' and 'tumoral'" in str(caught.value)
    # Columns that are not used may differ.
    assert (
        len(read(data.assign(status=1), people(), target="sex", id="patient", drop=["status", "age"]).y) == 39
    )
    a = data[["patient", "status", *GENES[:6]]]
    b = data.assign(status=data["status"].where(data.index != 7, "normal"))[["patient", "status", *GENES[6:]]]
    with pytest.raises(TableError, match="for 1 of 40 samples, first for 'P007': 'tumoral' and"):
        read(None, blocks={"a": a, "b": b}, target="status", id="patient")


@pytest.mark.parametrize(
    "files", [{"blocks": {"t": "t.csv"}}, {"phenotype": "t.csv"}, {"blocks": {"b": "../{}/t.csv"}}]
)
def test_same_file_twice_is_refused(files, tmp_path):
    cohort().to_csv(tmp_path / "t.csv", index=False)
    files = {
        role: tmp_path / file if isinstance(file, str) else
        {name: tmp_path / path.format(tmp_path.name) for name, path in file.items()}
        for role, file in files.items()
    }  # fmt: skip
    with pytest.raises(TableError, match=r"the same file twice|blocks=\{'t': '…'\}: files already is"):
        read_study(tmp_path / "t.csv", **files, **ROLES)


# --- blocks ---------------------------------------------------------------------------------------


def two_blocks():
    data = cohort()
    rna = data[["patient", *GENES[:8]]].drop(index=[2, 3])
    return {"rna": rna, "protein": data[["patient", *GENES[8:]]].drop(index=7)}


def test_blocks_are_joined_and_scaled(read):
    study = read(None, people(), two_blocks(), **ROLES)
    data = cohort().drop(index=5)
    X = data[GENES].to_numpy()
    X[[2, 3], :8] = np.nan
    X[data.index.get_loc(7), 8:] = np.nan
    # Samples that only the second table has come last.
    order = [i for i in range(39) if i not in (2, 3)] + [2, 3]
    np.testing.assert_array_equal(study.X, X[order])
    assert study.blocks == {"rna": (0, 8), "protein": (8, 12)}
    assert study.joined["without_block"] == [
        {"block": "rna", "samples": 2, "first": ["P002", "P003"]},
        {"block": "protein", "samples": 1, "first": ["P007"]},
    ]
    assert "2 samples of 39 without 'rna': its features are missing values for 'P002', 'P003'" in said(study)
    by_hand = make_pipeline(
        LowRankImputer(passthrough_columns=[12, 13]),
        StandardScaler(),
        BlockScaler({"rna": slice(0, 8), "protein": slice(8, 12)}),
        SMFClassifier(2, xi=0.1, lam=1.0, covariate_columns=[12, 13]),
    ).fit(study.design, study.y)
    search = SMFClassifierCV(2, xi=0.1, lam=1.0, cv=2, **study.search_options()).fit(study.design, study.y)
    found = search.best_estimator_[-1].objective_
    assert found == pytest.approx(by_hand[-1].objective_, rel=1e-9)


def test_new_samples_without_a_block(read):
    blocks = two_blocks()
    study = read(None, people(), blocks, **ROLES)
    new = read(None, people(), {"rna": blocks["rna"]}, like=study)
    assert (new.design.shape, new.gaps.impute) == ((37, 14), "lowrank")
    assert np.isnan(new.X[:, 8:]).all()
    assert "no block 'protein': its features are missing values" in said(new)
    for wrong, message in (
        ({"rnaseq": blocks["rna"]}, "the model has no block 'rnaseq'; it has 'rna', 'protein'"),
        ({"rna": blocks["protein"]}, "model's block 'rna' is in it, but those of 'protein'"),
    ):
        with pytest.raises(TableError, match=message):
            read(None, people(), wrong, like=study)


def test_equal_names_in_two_blocks_get_a_prefix(read):
    data = cohort()
    blocks = {"x": data[["patient", *GENES[:3]]], "y": data[["patient", *GENES[2:4]]]}
    study = read(None, people(), blocks, target="status", id="patient", drop=["sex", "age"])
    assert study.names == ("gene0", "gene1", "x:gene2", "y:gene2", "gene3")
    assert read(None, people(), {"x": blocks["x"]}, like=study).names == study.names


def test_a_table_and_a_block(read):
    study = read(cohort()[[*PEOPLE, *GENES[:8]]], blocks={"protein": two_blocks()["protein"]}, **ROLES)
    assert study.blocks == {"t": (0, 8), "protein": (8, 12)}
    assert len(study.y) == 40


# --- layouts --------------------------------------------------------------------------------------

SYMBOLS = ["TP53", "BRCA1", "EGFR", "MYC", "KRAS", "PTEN", "RB1", "CDK4", "AKT1", "MTOR", "ESR1", "VHL"]


def features_in_rows(data, folder):
    turned = data.set_index("patient")[SYMBOLS].T.rename_axis("gene").reset_index()
    turned.to_csv(folder / "genes.tsv", sep="\t", index=False)
    data[["patient", "status"]].sample(frac=1, random_state=0).to_csv(folder / "people.csv", index=False)
    return folder / "genes.tsv", {"phenotype": folder / "people.csv", "id": "patient"}


def two_sheets(data, folder):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(folder / "t.xlsx") as book:
        data[["patient", *SYMBOLS]].to_excel(book, sheet_name="genes", index=False)
        data[["patient", "status"]].to_excel(book, sheet_name="people", index=False)
    return f"{folder / 't.xlsx'}:genes", {"phenotype": f"{folder / 't.xlsx'}:people", "id": "patient"}


def without_names(data, folder):
    sp.save_npz(folder / "t.npz", sp.csr_matrix(data[SYMBOLS].to_numpy()))
    data[["patient", "status"]].to_csv(folder / "people.csv", index=False)
    return folder / "t.npz", {"phenotype": folder / "people.csv", "id": "patient"}


def annotated(data, folder):
    anndata = pytest.importorskip("anndata")
    obs = data[["status"]].set_axis(data["patient"], axis=0)
    made = anndata.AnnData(data[SYMBOLS].to_numpy() * 2, obs=obs, var=pd.DataFrame(index=SYMBOLS))
    made.layers["own"] = data[SYMBOLS].to_numpy()
    made.write_h5ad(folder / "t.h5ad")
    return folder / "t.h5ad", {"layer": "own"}


@pytest.mark.parametrize("write", [features_in_rows, two_sheets, without_names, annotated])
def test_same_study_in_other_formats(write, tmp_path):
    data = cohort().drop(columns=["sex", "age"]).set_axis(["patient", "status", *SYMBOLS], axis=1)
    file, more = write(data, tmp_path)
    study = read_study(file, target="status", **more)
    X = study.X.toarray() if sp.issparse(study.X) else study.X
    np.testing.assert_allclose(X, data[SYMBOLS], rtol=1e-14)  # Excel has 16 digits
    assert study.y.tolist() == data["status"].tolist()
    assert study.ids.tolist() == data["patient"].tolist()
    if write is annotated:  # the layer is remembered, and ignored for formats without layers
        np.testing.assert_array_equal(read_study(file, like=study).X, data[SYMBOLS])
        data.to_csv(tmp_path / "t.csv", index=False)
        np.testing.assert_array_equal(read_study(tmp_path / "t.csv", like=study).X, data[SYMBOLS])
    if write is without_names:
        assert "t.npz has no sample names: its rows are matched to people.csv by order" in said(study)
        data.head(30).to_csv(tmp_path / "people.csv", index=False)
        with pytest.raises(TableError, match=r"40 rows without sample names, but .* has 30"):
            read_study(file, target="status", **more)


def sparse_table(folder, **more):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, (40, 20)).astype(float)
    names = np.array([f"g{j}" for j in range(20)])
    sparse = sp.csr_matrix(X)
    parts = {"data": sparse.data, "indices": sparse.indices, "indptr": sparse.indptr, "shape": sparse.shape}
    labels = {
        "y": np.array(["a", "b"])[np.arange(40) % 2],
        "batch": np.array(["p", "q"])[rng.integers(0, 2, 40)],
    }
    np.savez(folder / "t.npz", **parts, **labels, feature_names=names, **more)
    return X


def test_sparse_stays_sparse(tmp_path):
    X = sparse_table(tmp_path)
    study = read_study(tmp_path / "t.npz", target="y", covariates=["batch"])
    assert sp.issparse(study.design) and study.design.shape == (40, 21)
    np.testing.assert_array_equal(study.X.toarray(), X)
    assert study.search_options()["preprocess"] == "standardize"
    assert study.search_options(standardize=False)["preprocess"] is None
    logs = read_study(tmp_path / "t.npz", target="y", drop="batch", log2=True)
    np.testing.assert_allclose(logs.X.toarray(), np.log2(np.maximum(X, 1)))
    # A dense table of new samples is converted to the form of the model.
    plain = pd.DataFrame(X, columns=study.names).assign(batch=study.covariates["batch"])
    plain.to_csv(tmp_path / "t.csv", index=False)
    new = read_study(tmp_path / "t.csv", like=study)
    assert sp.issparse(new.design)
    np.testing.assert_array_equal(new.design.toarray(), study.design.toarray())
    adjusted = read_study(tmp_path / "t.npz", target="y", adjust=["batch"])
    assert said(adjusted) == ["sparse values were adjusted, and are now dense: 1 MB"]
    np.testing.assert_array_equal(adjusted.X, X)


def test_large_sparse_values_are_not_made_dense(tmp_path, monkeypatch):
    sparse_table(tmp_path)
    monkeypatch.setattr("superfactor.tables.columns.numbers.MOST_DENSE", 100)
    with pytest.raises(TableError, match="must be made dense to be adjusted, and 40 x 20 values"):
        read_study(tmp_path / "t.npz", target="y", adjust=["batch"])


def test_arrays_joined_to_a_table(tmp_path):
    names = {"feature_names": np.array(["a", "b", "c"]), "obs_names": np.array([f"P{i}" for i in range(6)])}
    people = pd.DataFrame({"patient": names["obs_names"], "status": list("xyxyxy"), "d": np.arange(6) / 4})
    people.to_csv(tmp_path / "people.csv", index=False)
    X = np.arange(18.0).reshape(6, 3) / 8
    roles = {"target": "status", "id": "patient"}
    for values in (X, sp.csr_matrix(X)):
        np.savez(tmp_path / "t.npz", **(_parts(values) | names))
        one = read_study(tmp_path / "t.npz", phenotype=tmp_path / "people.csv", drop=["b", "d"], **roles)
        assert one.names == ("a", "c")
        assert sp.issparse(one.X) == sp.issparse(values)
        np.testing.assert_array_equal(one.X.toarray() if sp.issparse(one.X) else one.X, X[:, [0, 2]])
        blocks = {"arrays": tmp_path / "t.npz", "table": tmp_path / "people.csv"}
        two = read_study(blocks, **roles)
        assert two.names == ("a", "b", "c", "d")
        assert any("joined to dense values" in line for line in said(two)) == sp.issparse(values)
    X[3, 1] = np.inf
    for values in (X, sp.csr_matrix(X)):
        np.savez(tmp_path / "t.npz", **(_parts(values) | names))
        with pytest.raises(TableError, match=r"a value out of range \(inf\) at sample P3, feature 'b'"):
            read_study(tmp_path / "t.npz", phenotype=tmp_path / "people.csv", drop=["d"], **roles)


def _parts(values):
    if not sp.issparse(values):
        return {"X": values}
    return {name: getattr(values, name) for name in ("data", "indices", "indptr", "shape")}
