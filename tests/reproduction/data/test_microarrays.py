"""Microarrays in the layout of CuMiDa, compared with the tables they were written from."""

import warnings

import numpy as np
import pandas as pd
import pytest

from reproduction.data import DataNotFound, find_microarrays, load_microarray, microarrays
from reproduction.data.files import checksum

SITE = "https://sbcb.inf.ufrgs.br/data/cumida/Genes/"


def table(n=6, p=4):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(5, 1, (n, p)), columns=[f"g{j}" for j in range(p)])
    frame.insert(0, "type", (["normal", "tumoral"] * n)[:n])
    frame.insert(0, "samples", np.arange(n))
    return frame


def write_arrays(path, **arrays):
    frame = table()
    usual = {
        "X": frame.iloc[:, 2:].to_numpy(np.float64),
        "y": frame["type"].to_numpy(np.str_),
        "feature_names": np.array(frame.columns[2:], dtype=np.str_),
    }
    np.savez(path, **{**usual, **arrays})


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".npz"])
@pytest.mark.parametrize("by", ["name", "file-name", "path"])
def test_a_table_is_read_by_name_or_path(ending, by, tmp_path):
    expected = table()
    path = tmp_path / f"Any_GSE1.v2{ending}"
    write_arrays(path) if ending == ".npz" else expected.to_csv(path, index=False)
    given = {"name": "Any_GSE1.v2", "file-name": path.name, "path": path}[by]
    data = load_microarray(given, None if by == "path" else tmp_path)
    np.testing.assert_array_equal(data.X, expected.iloc[:, 2:])
    assert data.y.tolist() == expected["type"].tolist()
    assert data.features.tolist() == ["g0", "g1", "g2", "g3"]
    assert (data.name, data.source) == ("Any_GSE1.v2", path.name)


def test_several_probes_of_one_gene_are_numbered(tmp_path):
    table().rename(columns={"g1": "g0"}).to_csv(tmp_path / "a.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_microarray("a", tmp_path).features.tolist() == ["g0", "g0.1", "g2", "g3"]


def test_the_papers_two_come_first(small, tmp_path, cache, monkeypatch):
    assert find_microarrays() == []
    monkeypatch.setenv("SUPERFACTOR_DATA_DIR", str(small))
    assert find_microarrays() == ["Pancreatic_GSE16515", "Breast_GSE70947"]
    table().to_csv(tmp_path / "Breast_GSE70947.csv.gz", index=False)
    table().to_csv(tmp_path / "Bladder_GSE1.csv", index=False, quoting=1)
    write_arrays(tmp_path / "another.npz")
    np.savez(tmp_path / "counts.npz", data=np.eye(2))
    for name in ("broken.npz", "broken.csv.gz", "empty.csv"):
        (tmp_path / name).write_bytes(b"PK")
    (tmp_path / "folder.csv").mkdir()
    assert find_microarrays(tmp_path) == ["Breast_GSE70947", "Bladder_GSE1", "another"]


def test_downloads_are_checked_and_kept(web, cache, monkeypatch):
    page = f"{SITE}Pancreatic/GSE16515/Pancreatic_GSE16515.csv"
    for wrong, reason in ((b"<html>", "not a table that begins"), (table(), "6 samples, not the paper's 51")):
        web[page] = wrong if isinstance(wrong, bytes) else wrong.to_csv(index=False).encode()
        with pytest.raises(DataNotFound, match=reason):
            load_microarray("Pancreatic_GSE16515")
        assert list(cache.iterdir()) == []
    web[page] = table(n=51).to_csv(index=False).encode()
    id = checksum(web[page], "git")
    source = f"Pancreatic_GSE16515.csv (not the authors' copy: git id {id})"
    assert load_microarray("Pancreatic_GSE16515").source == source
    web.clear()
    monkeypatch.setitem(microarrays._GIT_ID, "Pancreatic_GSE16515", id)
    assert load_microarray("Pancreatic_GSE16515").source == "Pancreatic_GSE16515.csv"
    with pytest.raises(DataNotFound, match="no connection"):
        load_microarray("Breast_GSE70947")


def test_a_users_file_is_used_and_distinguished_from_the_papers(small):
    breast = load_microarray("Breast_GSE70947", small)
    assert breast.source == "Breast_GSE70947.csv (80 samples, not the paper's 289)"


@pytest.mark.parametrize("name", ["any.csv", "nowhere/Breast_GSE70947.csv", "GSE1"])
def test_invalid_names(name, tmp_path):
    with pytest.raises(DataNotFound, match="no such file"):
        load_microarray(name, tmp_path)


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


def test_unusable_arrays(tmp_path):
    write_arrays(tmp_path / "a.npz", y=np.array(["a"]))
    with pytest.raises(ValueError, match=r"a\.npz: X .*, y .*, feature_names"):
        load_microarray("a", tmp_path)
    np.savez(tmp_path / "a.npz", Z=np.eye(2))
    with pytest.raises(ValueError, match=r"not an \.npz file with the arrays X, feature_names, y"):
        load_microarray("a", tmp_path)
