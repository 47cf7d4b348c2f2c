"""MatrixMarket folders and arrays in .npz files, beside what SciPy and NumPy wrote."""

import gzip

import numpy as np
import pytest
from scipy import io, sparse

from superfactor.tables import open_table

COUNTS = sparse.random(5, 3, density=0.6, random_state=0, format="csr")


def ten_x(folder, prefix="", features="features.tsv", zipped=False, matrix=COUNTS):
    def put(name, text):
        data = text.encode()
        path = folder / f"{prefix}{name}{'.gz' * zipped}"
        path.write_bytes(gzip.compress(data) if zipped else data)

    io.mmwrite(folder / "m.mtx", matrix.T, precision=17)
    put("matrix.mtx", (folder / "m.mtx").read_text())
    (folder / "m.mtx").unlink()
    put("barcodes.tsv", "".join(f"CELL{i}-1\n" for i in range(5)))
    put(features, "ENSG01\tTP53\tGene Expression\nENSG02\t\tGene Expression\nENSG03\tMYC\tx\n")
    return folder


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    ("prefix", "features"), [("", "features.tsv"), ("", "genes.tsv"), ("GSM7_", "features.tsv")]
)
def test_ten_x_folders(prefix, features, zipped, tmp_path):
    folder = ten_x(tmp_path, prefix, features, zipped)
    for path in (folder, folder / f"{prefix}matrix.mtx{'.gz' * zipped}"):
        table = open_table(path)
        assert table.matrix.format == "csr"
        np.testing.assert_array_equal(table.matrix.toarray(), COUNTS.toarray())
        assert table.features == ["TP53", "ENSG02", "MYC"]
        assert table.frame["row name"].tolist() == [f"CELL{i}-1" for i in range(5)]
        assert tuple(map(str, table.notes)) == ()


def test_names_determine_the_layout(tmp_path):
    folder = ten_x(tmp_path, matrix=COUNTS.T)
    np.testing.assert_array_equal(open_table(folder).matrix.toarray(), COUNTS.toarray())
    (folder / "barcodes.tsv").write_text("A\nB\n")
    with pytest.raises(ValueError, match="matrix is 5 × 3, but there are names of 3 features, 2"):
        open_table(folder)


def test_a_matrix_alone(tmp_path):
    path = tmp_path / "words.mtx"
    io.mmwrite(path, COUNTS, precision=17)
    table = open_table(path)
    np.testing.assert_array_equal(table.matrix.toarray(), COUNTS.toarray())
    assert table.features == ["feature 1", "feature 2", "feature 3"]
    assert table.frame.shape == (5, 0)
    assert "rows are read as samples" in str(table.notes[0])
    assert open_table(path, layout="features").matrix.shape == (3, 5)
    io.mmwrite(path, COUNTS.toarray())
    assert isinstance(open_table(path).matrix, np.ndarray)


def test_no_matrix(tmp_path):
    with pytest.raises(ValueError, match=r"a folder without matrix\.mtx"):
        open_table(tmp_path)
    for name in ("A_matrix.mtx", "B_matrix.mtx"):
        (tmp_path / name).write_text("no")
    with pytest.raises(ValueError, match="several matrices"):
        open_table(tmp_path)
    with pytest.raises(ValueError, match="not a MatrixMarket file"):
        open_table(tmp_path / "A_matrix.mtx")
    with pytest.raises(FileNotFoundError):
        open_table(tmp_path / "C_matrix.mtx")


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_what_scipy_saves(form, kind, tmp_path):
    sparse.save_npz(tmp_path / "a.npz", kind(COUNTS).asformat(form))
    table = open_table(tmp_path / "a.npz")
    assert table.matrix.format == "csr"
    np.testing.assert_array_equal(table.matrix.toarray(), COUNTS.toarray())
    assert table.features == ["feature 1", "feature 2", "feature 3"]
    assert tuple(map(str, table.notes)) == ()
    turned = open_table(tmp_path / "a.npz", layout="features")
    np.testing.assert_array_equal(turned.matrix.toarray(), COUNTS.toarray().T)


def test_arrays_with_the_matrix(tmp_path):
    np.savez(
        tmp_path / "a.npz",
        X=COUNTS.toarray().astype(np.float32),
        feature_names=np.array(["a", "b", "c"]),
        y=np.array([0, 1, 1, 0, 1]),
        site=np.array([b"x", b"y", b"x", b"y", b"x"]),
        obs_names=np.arange(5),
        frequency=np.zeros(3),
    )
    table = open_table(tmp_path / "a.npz", text=["y"])
    np.testing.assert_array_equal(table.matrix, COUNTS.toarray().astype(np.float32))
    assert table.frame.columns.tolist() == ["row name", "y", "site"]
    assert table.frame["row name"].tolist() == list("01234")
    assert table.frame["y"].tolist() == list("01101")
    assert table.frame["site"].tolist() == list("xyxyx")
    assert tuple(map(str, table.notes)) == ("arrays of another length are left out: frequency",)


def test_arrays_that_are_not_read(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=np.array(["a", None], dtype=object))
    with pytest.raises(ValueError, match="array 'y' holds Python objects, which are not opened"):
        open_table(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", a=np.eye(2), b=np.eye(3))
    with pytest.raises(ValueError, match=r"it has the arrays a, b; X .* required"):
        open_table(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", data=[1.0], indices=[7], indptr=[0, 1], shape=[1, 2])
    with pytest.raises(ValueError, match="not a sparse matrix"):
        open_table(tmp_path / "c.npz")
    (tmp_path / "d.npz").write_text("no")
    with pytest.raises(ValueError, match=r"not an \.npz file"):
        open_table(tmp_path / "d.npz")
    whole = (tmp_path / "b.npz").read_bytes()
    (tmp_path / "e.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"not a complete \.npz file"):
        open_table(tmp_path / "e.npz")
