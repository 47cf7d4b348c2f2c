"""Microarrays in the layout of CuMiDa, compared with the tables they were written from."""

import gzip
import warnings

import numpy as np
import pandas as pd
import pytest

from superfactor.datasets import DataNotFound, find_microarrays, load_microarray, microarrays
from superfactor.datasets.files import checksum

SITE = "https://sbcb.inf.ufrgs.br/data/cumida/Genes/"


def table(n=6, p=4, scale=1.0):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(scale * rng.normal(5, 1, (n, p)), columns=[f"g{j}" for j in range(p)])
    frame.insert(0, "type", ["normal", "tumoral"] * (n // 2))
    frame.insert(0, "samples", np.arange(n))
    return frame


def write_arrays(path, **arrays):
    frame = table()
    usual = {
        "X": frame.iloc[:, 2:].to_numpy(np.float32),
        "y": frame["type"].to_numpy(np.str_),
        "feature_names": np.array(frame.columns[2:], dtype=np.str_),
    }
    np.savez(path, **{**usual, **arrays})


# --- reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
@pytest.mark.parametrize("by", ["name", "file-name", "path"])
def test_tables(ending, by, tmp_path):
    expected = table()
    path = tmp_path / f"Any_GSE1.v2{ending}"
    expected.to_csv(path, index=False)
    given = {"name": "Any_GSE1.v2", "file-name": path.name, "path": path}[by]
    data = load_microarray(given, None if by == "path" else tmp_path)
    assert data.name == "Any_GSE1.v2"
    np.testing.assert_array_equal(data.X, expected.iloc[:, 2:])
    assert data.y.tolist() == expected["type"].tolist()
    assert data.features.tolist() == ["g0", "g1", "g2", "g3"]
    assert data.source == path.name


def test_arrays(tmp_path):
    write_arrays(tmp_path / "any.npz")
    data = load_microarray("any", tmp_path)
    expected = table()
    np.testing.assert_allclose(data.X, expected.iloc[:, 2:], rtol=1e-6)
    assert (data.X.dtype, data.name, data.source) == (np.float64, "any", "any.npz")
    assert data.y.tolist() == expected["type"].tolist()
    assert data.features.tolist() == ["g0", "g1", "g2", "g3"]


def test_several_probes_of_one_gene_are_numbered_without_ado(tmp_path):
    frame = table().rename(columns={"g1": "g0"})
    frame.to_csv(tmp_path / "a.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = load_microarray("a", tmp_path)
    assert data.features.tolist() == ["g0", "g0.1", "g2", "g3"]


@pytest.mark.parametrize(
    ("X", "logged"),
    [
        ([[0.5, 15.6], [3.0, 2.0]], True),
        ([[-9.0, 8.0], [0.0, 1.0]], True),
        ([[0.0, 18710.3], [3.0, 2.0]], False),
        ([[-1807.0, 25.0], [3.0, 2.0]], False),
    ],
    ids=["log-intensities", "log-ratios", "intensities", "negative-intensities"],
)
def test_logarithms_are_taken_once(X, logged):
    X = np.array(X)
    names = np.array(["a", "b"])
    data = microarrays.Microarray("any", X, names, names, "any.csv")
    assert data.logged is logged
    on_log_scale = data.log2()
    expected = X if logged else [[np.log2(x) if x > 1 else 0.0 for x in row] for row in X]
    np.testing.assert_allclose(on_log_scale.X, expected)
    assert on_log_scale.log2() is on_log_scale
    assert ("log2" in on_log_scale.source) is not logged


# --- finding --------------------------------------------------------------------------------------


def test_the_papers_two_come_first(small, tmp_path):
    assert find_microarrays(small) == ["Pancreatic_GSE16515", "Breast_GSE70947"]
    table().to_csv(tmp_path / "Breast_GSE70947.csv.gz", index=False)
    table().to_csv(tmp_path / "Breast_GSE70947.csv", index=False)
    table().to_csv(tmp_path / "Bladder_GSE1.csv", index=False, quoting=1)
    write_arrays(tmp_path / "another.npz")
    np.savez(tmp_path / "counts.npz", data=np.eye(2))
    (tmp_path / "broken.npz").write_bytes(b"PK")
    (tmp_path / "broken.csv.gz").write_bytes(b"samples,type")
    (tmp_path / "empty.csv").write_bytes(b"")
    table().drop(columns="samples").to_csv(tmp_path / "other.csv", index=False)
    (tmp_path / "folder.csv").mkdir()
    assert find_microarrays(tmp_path) == ["Breast_GSE70947", "Bladder_GSE1", "another"]


def test_where_they_are_looked_for(small, tmp_path, cache, monkeypatch):
    assert find_microarrays() == []
    table().to_csv(cache / "Liver_GSE1.csv", index=False)
    assert find_microarrays() == ["Liver_GSE1"]
    monkeypatch.setenv("SUPERFACTOR_DATA_DIR", str(small))
    assert find_microarrays() == ["Pancreatic_GSE16515", "Breast_GSE70947"]
    assert find_microarrays(tmp_path) == []


# --- downloads and checks -------------------------------------------------------------------------


def test_a_download_from_cumida(web, cache):
    web[f"{SITE}Liver/GSE14520_U133A/Liver_GSE14520_U133A.csv"] = table().to_csv(index=False).encode()
    data = load_microarray("Liver_GSE14520_U133A")
    np.testing.assert_array_equal(data.X, table().iloc[:, 2:])
    web.clear()
    np.testing.assert_array_equal(load_microarray("Liver_GSE14520_U133A").X, data.X)
    assert find_microarrays() == ["Liver_GSE14520_U133A"]


def test_the_authors_copy_is_known_by_its_contents(web, monkeypatch):
    data = table(n=51 + 1).head(51).to_csv(index=False).encode()
    web[f"{SITE}Pancreatic/GSE16515/Pancreatic_GSE16515.csv"] = data
    id = checksum(data, "git")
    source = f"Pancreatic_GSE16515.csv (not the authors' copy: git id {id})"
    assert load_microarray("Pancreatic_GSE16515").source == source
    monkeypatch.setitem(microarrays._GIT_ID, "Pancreatic_GSE16515", id)
    assert load_microarray("Pancreatic_GSE16515").source == "Pancreatic_GSE16515.csv"


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (b"<!DOCTYPE html><html>", "not a table that begins with the columns 'samples' and 'type'"),
        (table().to_csv(index=False).encode(), "6 samples, not the paper's 289"),
    ],
    ids=["a-web-page", "another-table"],
)
def test_a_download_of_something_else(page, reason, web, cache):
    web[f"{SITE}Breast/GSE70947/Breast_GSE70947.csv"] = page
    with pytest.raises(DataNotFound, match=reason):
        load_microarray("Breast_GSE70947")
    assert list(cache.iterdir()) == []


def test_a_file_of_the_users_own_is_used_and_told_from_the_papers(small):
    assert "not the authors' copy" in load_microarray("Pancreatic_GSE16515", small).source
    breast = load_microarray("Breast_GSE70947", small)
    assert breast.source == "Breast_GSE70947.csv (80 samples, not the paper's 289)"


def test_offline(tmp_path):
    with pytest.raises(DataNotFound) as error:
        load_microarray("Breast_GSE70947", tmp_path)
    message = str(error.value)
    assert "\n" not in message
    for part in ("no connection", "https://sbcb.inf.ufrgs.br/cumida", "SUPERFACTOR_DATA_DIR"):
        assert part in message


@pytest.mark.parametrize("name", ["any", "any.csv", "nowhere/Breast_GSE70947.csv", "GSE1"])
def test_names_that_cannot_be_asked_for(name, tmp_path):
    with pytest.raises(DataNotFound, match="no such file"):
        load_microarray(name, tmp_path)


# --- what is wrong is said ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.rename(columns={"type": "label"}), "first columns have to be 'samples' and"),
        (lambda t: t.assign(g1="high"), "column 'g1' is not numeric"),
        (lambda t: t.assign(g2=np.nan), "column 'g2' has values that are missing"),
        (lambda t: t.assign(type=["a", None] * 3), "column 'type' has empty cells"),
        (lambda t: t[["samples", "type"]], "no columns"),
    ],
    ids=["no-type", "text", "missing", "unlabelled", "no-genes"],
)
def test_unusable_tables(change, message, tmp_path):
    change(table()).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match=message):
        load_microarray("a", tmp_path)


@pytest.mark.parametrize("arrays", [{"y": np.array(["a"])}, {"X": np.ones(6)}], ids=["labels", "a-vector"])
def test_arrays_that_do_not_fit(arrays, tmp_path):
    write_arrays(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=r"a\.npz: X .*, y .*, feature_names"):
        load_microarray("a", tmp_path)


def test_files_that_are_something_else(tmp_path):
    np.savez(tmp_path / "a.npz", Z=np.eye(2))
    with pytest.raises(ValueError, match=r"not an \.npz file with the arrays X, feature_names, y"):
        load_microarray("a", tmp_path)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"samples,type,g\n" * 9)[:-9])
    with pytest.raises(ValueError, match="not a complete gzip file"):
        load_microarray("b", tmp_path)


def test_all_real_microarrays_can_be_read(real):
    for name in find_microarrays(real):
        data = load_microarray(name, real)
        assert data.X.shape == (len(data.y), len(data.features))
        assert data.log2().logged
