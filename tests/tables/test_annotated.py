"""AnnData and MuData files, beside what these libraries read from them."""

import sys

import anndata
import h5py
import mudata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from superfactor.tables import open_table, read_table


def cells(n=6, p=4, seed=0, names=None):
    rng = np.random.default_rng(seed)
    obs = pd.DataFrame(
        {
            "kind": pd.Categorical(["B", "T", None, "B", "T", "NK"][:n]),
            "depth": np.arange(n, dtype=np.int32),
            "good": np.arange(n) % 2 == 0,
            "donor": ["007", "008", "009"] * (n // 3),
        },
        index=names or [f"cell{i}" for i in range(n)],
    )
    var = pd.DataFrame(index=[f"g{j}" for j in range(p)])
    counts = rng.poisson(1, (n, p)).astype(np.float32)
    return anndata.AnnData(counts, obs=obs, var=var)


def test_columns_of_obs(tmp_path):
    cells().write_h5ad(tmp_path / "a.h5ad")
    table = open_table(tmp_path / "a.h5ad", text=["depth"])
    assert table.frame.columns.tolist() == ["row name", "kind", "depth", "good", "donor"]
    assert table.frame["row name"].tolist() == [f"cell{i}" for i in range(6)]
    assert table.frame["kind"].tolist() == ["B", "T", None, "B", "T", "NK"]
    assert table.frame["depth"].tolist() == list("012345")
    assert table.frame["good"].tolist() == [1.0, 0.0] * 3
    assert table.frame["donor"].tolist() == ["007", "008", "009"] * 2
    assert table.frame.index.name == "row"
    np.testing.assert_array_equal(table.matrix, cells().X)
    assert table.matrix.dtype == np.float64
    assert (table.features, table.blocks, table.notes) == (["g0", "g1", "g2", "g3"], {}, ())


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
def test_layers_and_sparse(make, tmp_path):
    data = cells()
    raw = anndata.AnnData(make(3 * data.X), obs=data.obs, var=data.var)
    few = raw[:, :2].copy()
    few.layers["counts"] = make(data.X[:, :2])
    few.raw = raw
    few.write_h5ad(tmp_path / "a.h5ad")
    for layer, expected in ((None, 3 * data.X[:, :2]), ("counts", data.X[:, :2]), ("raw", 3 * data.X)):
        table = open_table(tmp_path / "a.h5ad", layer=layer)
        assert table.matrix.format == "csr"
        np.testing.assert_array_equal(table.matrix.toarray(), expected)
        assert len(table.features) == expected.shape[1]
    with pytest.raises(ValueError, match="there is no layer 'count'; there are counts, raw"):
        open_table(tmp_path / "a.h5ad", layer="count")


def test_repeated_names(tmp_path):
    data = cells()
    data.var_names = ["a", "b", "a", "c"]
    data.write_h5ad(tmp_path / "a.h5ad")
    with pytest.warns(UserWarning, match="1 feature has the name of another"):
        assert open_table(tmp_path / "a.h5ad").features == ["a", "b", "a.1", "c"]


def pair(rna, protein):
    both = mudata.MuData({"rna": rna, "protein": protein})
    both.obs["outcome"] = np.arange(both.n_obs) % 2
    return both


def test_modalities_side_by_side(tmp_path):
    rna, protein = cells(), cells(p=3, seed=1)
    protein.var_names = ["p0", "p1", "g1"]
    both = pair(rna, protein[::-1].copy())
    both.write(tmp_path / "a.h5mu")
    table = open_table(tmp_path / "a.h5mu", text=["outcome"])
    assert table.blocks == {"rna": (0, 4), "protein": (4, 7)}
    assert table.features == ["g0", "rna:g1", "g2", "g3", "p0", "p1", "protein:g1"]
    np.testing.assert_array_equal(table.matrix, np.hstack([rna.X, protein.X]))
    assert table.frame["row name"].tolist() == list(both.obs_names)
    assert table.frame["outcome"].tolist() == ["0", "1"] * 3
    assert table.frame["protein:kind"].tolist() == ["B", "T", None, "B", "T", "NK"]


def test_samples_that_a_modality_lacks(tmp_path):
    rna, protein = cells()[:4].copy(), cells(p=3, seed=1)[2:].copy()
    protein.var_names = ["p0", "p1", "p2"]
    both = pair(rna, protein)
    both.write(tmp_path / "a.h5mu")
    table = open_table(tmp_path / "a.h5mu")
    expected = pd.concat([rna.to_df(), protein.to_df()], axis=1).loc[both.obs_names]
    np.testing.assert_array_equal(table.matrix, expected)
    assert tuple(map(str, table.notes)) == (
        "4 of 6 samples are not in every modality, and have missing values there",
    )
    rna.X = sparse.csr_matrix(rna.X)
    pair(rna, protein).write(tmp_path / "b.h5mu")
    table = open_table(tmp_path / "b.h5mu")
    np.testing.assert_array_equal(table.matrix.toarray(), expected.dropna())
    assert table.frame["row name"].tolist() == list(expected.dropna().index)
    assert "4 of 6 samples are not in every modality and are left out" in str(table.notes[0])


def test_a_layer_of_one_modality(tmp_path):
    rna, protein = cells(), cells(p=3, seed=1)
    rna.layers["log"] = np.log1p(rna.X)
    pair(rna, protein).write(tmp_path / "a.h5mu")
    table = open_table(tmp_path / "a.h5mu", layer="log")
    np.testing.assert_array_equal(table.matrix, np.hstack([np.log1p(rna.X), protein.X]))
    assert tuple(map(str, table.notes)) == ("X is used for modalities without a layer 'log': protein",)
    with pytest.raises(ValueError, match="no layer 'counts'; there are log"):
        open_table(tmp_path / "a.h5mu", layer="counts")


def test_other_files_are_refused(tmp_path, monkeypatch):
    (tmp_path / "a.h5ad").write_text("no")
    with h5py.File(tmp_path / "b.h5ad", "w") as file:
        file["numbers"] = [1, 2]
    for name in ("a.h5ad", "b.h5ad"):
        with pytest.raises(ValueError, match="not a file of AnnData or MuData"):
            open_table(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        open_table(tmp_path / "c.h5ad")
    anndata.AnnData(obs=cells().obs, layers={"x": cells().X}).write_h5ad(tmp_path / "d.h5ad")
    with pytest.raises(ValueError, match="there is no X; choose a layer: x"):
        open_table(tmp_path / "d.h5ad")
    with pytest.raises(ValueError, match="rows are always samples"):
        open_table(tmp_path / "d.h5ad", layout="features")
    with pytest.raises(ValueError, match="open_table reads it"):
        cells().write_h5ad(tmp_path / "e.h5ad")
        read_table(tmp_path / "e.h5ad")
    with pytest.raises(ValueError, match=r"only \.h5ad and \.h5mu files have a layer"):
        open_table(tmp_path / "a.csv", layer="counts")
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(ValueError, match=r"pip install 'superfactor\[anndata\]'"):
        open_table(tmp_path / "e.h5ad")
