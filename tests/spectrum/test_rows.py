"""Sources of rows against plain NumPy arrays of the same numbers."""

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sklearn

import superfactor
from superfactor.spectrum.rows import as_rows, row_blocks, rows_per_block

pa = pytest.importorskip("pyarrow")
zarr = pytest.importorskip("zarr")
ds = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("pyarrow.csv")

N, P = 100, 6


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((N, P)).astype(np.float32)


def table(X):
    return pa.table({f"f{j}": X[:, j] for j in range(X.shape[1])})


def saved(X, folder):
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


def zarr_array(X, folder, **options):
    array = zarr.create_array(folder / "x.zarr", shape=X.shape, dtype=X.dtype, **options)
    array[:] = X
    return array


def parquet(X, folder, rows=30):
    pq.write_table(table(X), folder / "x.parquet", row_group_size=rows)
    return folder / "x.parquet"


def parquet_folder(X, folder):
    (folder / "many").mkdir()
    for i, part in enumerate(np.array_split(X, 3)):
        pq.write_table(table(part), folder / "many" / f"{i}.parquet", row_group_size=20)
    return folder / "many"


def feather(X, folder):
    with pa.ipc.new_file(str(folder / "x.arrow"), table(X).schema) as writer:
        writer.write_table(table(X), max_chunksize=17)
    return folder / "x.arrow"


def csv(X, folder):
    pa.csv.write_csv(table(X.astype(np.float64)), folder / "x.csv")
    return row_blocks(ds.dataset(folder / "x.csv", format="csv"), dtype="float32")


STORAGES = {
    "memmap": saved,
    "Fortran order": lambda X, f: saved(np.asfortranarray(X), f),
    "npy path": lambda X, f: saved(X, f) is None or str(f / "x.npy"),
    "array": lambda X, f: X,
    "zarr 3": lambda X, f: zarr_array(X, f, chunks=(16, 4)),
    "zarr 2": lambda X, f: zarr_array(X, f, chunks=(16, 4), zarr_format=2),
    "zarr shards": lambda X, f: zarr_array(X, f, chunks=(8, 6), shards=(32, 6)),
    "zarr path": lambda X, f: zarr_array(X, f, chunks=(30, 6)) is None or f / "x.zarr",
    "table": lambda X, f: table(X),
    "table in chunks": lambda X, f: pa.concat_tables([table(X[:41]), table(X[41:])]),
    "parquet file": lambda X, f: pq.ParquetFile(parquet(X, f)),
    "parquet path": parquet,
    "one tall row group": lambda X, f: parquet(X, f, rows=N),
    "parquet folder": parquet_folder,
    "dataset": lambda X, f: ds.dataset(parquet_folder(X, f)),
    "arrow path": feather,
    "csv dataset": csv,
}
storages = pytest.mark.parametrize("store", STORAGES.values(), ids=STORAGES)


@storages
def test_any_rows_and_columns_are_those_of_the_array(store, X, tmp_path):
    stored = store(X, tmp_path)
    source = row_blocks(stored)
    assert source.shape == X.shape
    # Forwards, across pieces, backwards, forwards within a piece, the last row.
    for start, stop in [(0, 7), (7, 35), (35, 100), (3, 90), (50, 51), (55, 57), (99, 100)]:
        block = source.read(start, stop)
        assert block.flags.c_contiguous and block.dtype == source.dtype == np.float32
        np.testing.assert_array_equal(block, X[start:stop])
    for columns in ([5, 0, 3], [1, 2, 3]):
        some = source.select(columns)
        np.testing.assert_array_equal(some.read(20, 80), X[20:80, columns])
        np.testing.assert_array_equal(some.select([2, 1]).read(5, 9), X[5:9][:, columns][:, [2, 1]])
        assert source.names is None or some.names == [f"f{j}" for j in columns]
    for rows in (1, 33, 1000):  # blocks of about this number of rows
        cuts = source.cuts(rows)
        heights = np.diff(cuts)
        assert cuts[0] == 0 and cuts[-1] == N
        assert heights.min() > 0 and heights.max() <= 1.5 * rows
    if isinstance(stored, pq.ParquetFile):
        with pytest.raises(TypeError, match="an open pyarrow ParquetFile cannot be sent"):
            pickle.dumps(some)
        return
    twice = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(some))))
    np.testing.assert_array_equal(twice.read(10, 20), X[10:20, columns])


@pytest.mark.parametrize(
    ("store", "rows", "expected"),
    [
        (lambda X, f: zarr_array(X, f, chunks=(16, 4)), 40, [0, 32, 64, 100]),
        (lambda X, f: zarr_array(X, f, chunks=(8, 6), shards=(32, 6)), 40, [0, 32, 64, 100]),
        (lambda X, f: zarr_array(X, f, chunks=(50, 6)), 40, [0, 50, 100]),
        (lambda X, f: zarr_array(X, f, chunks=(50, 6)), 26, [0, 25, 50, 75, 100]),
        (lambda X, f: parquet(X, f, rows=30), 60, [0, 60, 100]),
        (lambda X, f: parquet(X, f, rows=30), 30, [0, 30, 60, 90, 100]),
    ],
    ids=["joined", "shards", "a little taller", "divided", "row groups", "single row groups"],
)
def test_blocks_end_at_chunks_of_the_storage(store, rows, expected, X, tmp_path):
    assert row_blocks(store(X, tmp_path)).cuts(rows) == expected


@pytest.mark.parametrize(
    "store",
    [saved, parquet, lambda X, f: zarr_array(X, f, chunks=(100, 1000))],
    ids=["memmap", "parquet", "zarr"],
)
def test_a_pickle_has_the_path_and_not_the_data(store, tmp_path):
    X = np.zeros((5000, 20))
    assert len(pickle.dumps(row_blocks(store(X, tmp_path)))) < X.nbytes / 20


VIEWS = {
    "slice": lambda m: m[10:90],
    "every third row": lambda m: m[1::3],
    "backwards": lambda m: m[::-1],
    "columns": lambda m: m[:, 2:5],
    "transposed": lambda m: m[:6].T,
    "reversed columns": lambda m: m[5:50, ::-2],
}


@pytest.mark.parametrize("offset", [0, 12, 5000])
def test_views_of_memmaps(offset, X, tmp_path):
    path = tmp_path / "raw.bin"
    path.write_bytes(bytes(offset) + X.tobytes())
    for view in VIEWS.values():
        mapped, expected = view(np.memmap(path, np.float32, "r", offset, X.shape)), view(X)
        for source in (as_rows(mapped), pickle.loads(pickle.dumps(as_rows(mapped)))):
            for start, stop in [(0, 2), (2, len(expected)), (0, 1)]:
                np.testing.assert_array_equal(source.read(start, stop), expected[start:stop])


@pytest.mark.parametrize("mode", ["c", "r+"], ids=["private", "shared"])
def test_changes_of_a_map_are_kept(mode, X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode=mode)
    source = as_rows(mapped)
    with pytest.raises(ValueError, match="read-only"):
        source.read(0, N)[0, 0] = 1
    mapped[3, 2] = 7
    for other in (source, pickle.loads(pickle.dumps(source))):
        other.read(0, 1)
        assert other.read(0, N)[3, 2] == 7


def test_results_computed_from_a_memmap_are_not_sources(X, tmp_path):
    mapped = saved(X, tmp_path)
    for plain in (mapped.copy(), mapped[[1, 2]], mapped + 1, np.asarray(mapped)):
        assert as_rows(plain) is None
    # Nor are maps without a table of numbers.
    for wrong in (np.ones(5), np.ones((2, 2, 2)), np.ones((2, 2), complex), np.array([["a", "b"]])):
        assert as_rows(saved(wrong, tmp_path)) is None


def test_a_truncated_file_raises(X, tmp_path):
    stored = pickle.dumps(as_rows(saved(X, tmp_path)))
    np.save(tmp_path / "x.npy", X[:10])
    with pytest.raises(ValueError, match=r"x\.npy: \d+ bytes are too few for the float32 array of 100 x 6"):
        pickle.loads(stored)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_pages_are_released(tmp_path):
    code = f"""
import numpy as np
from superfactor.spectrum.rows import as_rows
def resident():
    return [int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("RssFile")][0] / 1024
source = as_rows(np.load({str(tmp_path / "big.npy")!r}, mmap_mode="r"))
source.read(0, 100).sum()
before = resident()
most = 0
for a in range(0, source.shape[0], 1000):
    source.read(a, a + 1000).sum()
    most = max(most, resident() - before)
print(most)
"""
    np.save(tmp_path / "big.npy", np.ones((16_000, 512), np.float32))  # 31 MiB, blocks of 2 MiB
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(out.stdout) < 8


@pytest.mark.parametrize("kind", ["f2", "i4", "u1", "?", "f4", "f8", ">f8"])
def test_types(kind, tmp_path):
    X = (np.arange(60).reshape(20, 3) % 7).astype(kind)
    for stored in (saved(X, tmp_path), zarr_array(X, tmp_path, chunks=(9, 3))):
        source = as_rows(stored)
        assert source.dtype == ("f4" if kind == "f4" else "f8")
        np.testing.assert_array_equal(source.read(2, 9), X[2:9].astype(source.dtype))
        single = row_blocks(source, dtype="float32").read(2, 9)
        assert single.dtype == np.float32
        np.testing.assert_array_equal(single, X[2:9].astype(np.float32))


def test_columns_of_tables_become_floats():
    source = as_rows(
        pa.table(
            {
                "half": pa.array(np.array([1, 2, 3], np.float16)),
                "int": pa.array([1, None, 3]),
                "bool": pa.array([True, None, False]),
                "null": pa.nulls(3),
                "float": pa.array([None, 0.5, np.inf], pa.float32()),
                "big": pa.array([2**60 + 1, 0, 1]),
            }
        )
    )
    nan = np.nan
    expected = [[1, 1, 1, nan, nan, 2.0**60], [2, nan, nan, nan, 0.5, 0], [3, 3, 0, nan, np.inf, 1]]
    assert source.dtype == np.float64
    np.testing.assert_array_equal(source.read(0, 3), expected)


def test_text_columns_are_named_and_can_be_left_out():
    mixed = pa.table({"age": np.ones(3, np.float32), "city": ["a", "b", "c"], "id": [1, 2, 3]})
    with pytest.raises(TypeError, match=r"column 'city' is string.*exclude=\['city'\]"):
        as_rows(mixed)
    source = row_blocks(mixed, exclude=["city", "id"])
    assert source.names == ["age"] and source.dtype == np.float32
    assert row_blocks(mixed, columns=["id", "age"]).names == ["id", "age"]
    assert row_blocks(mixed, columns=[0, 2]).dtype == np.float64


@pytest.mark.parametrize("index", [None, "id"], ids=["nameless", "named"])
def test_the_index_of_a_dataframe_is_not_a_column(index, X, tmp_path):
    pd = pytest.importorskip("pandas")
    rows = pd.Index(np.arange(N) * 3, name=index)
    frame = pd.DataFrame(X, rows, [f"f{j}" for j in range(P)])
    frame.to_parquet(tmp_path / "frame.parquet")
    for stored in (tmp_path / "frame.parquet", pa.Table.from_pandas(frame)):
        source = row_blocks(stored)
        assert source.names == list(frame.columns)
        np.testing.assert_array_equal(source.read(5, 50), X[5:50])


def test_partitioned_folders_have_the_column_of_the_folder_name(X, tmp_path):
    whole = table(X).append_column("year", pa.array(np.repeat([2001, 2002], 50)))
    ds.write_dataset(
        whole,
        tmp_path / "d",
        format="parquet",
        partitioning=ds.partitioning(whole.select(["year"]).schema, flavor="hive"),
    )
    source = as_rows(ds.dataset(tmp_path / "d", format="parquet", partitioning="hive"))
    np.testing.assert_array_equal(source.read(40, 60)[:, :P], X[40:60])
    np.testing.assert_array_equal(source.read(0, N)[:, P], np.repeat([2001, 2002], 50))


def test_filtered_datasets_raise(X, tmp_path):
    some = ds.dataset(parquet(X, tmp_path)).filter(ds.field("f0") > 0)
    with pytest.raises(ValueError, match="filtered"):
        as_rows(some)


@pytest.mark.parametrize("bad", [np.nan, -np.inf], ids=["NaN", "infinity"])
def test_nan_and_infinity_are_reported_with_row_and_column(bad, X, tmp_path):
    X[45, 3] = X[45, 4] = X[50, 0] = bad
    source = as_rows(saved(X, tmp_path))
    np.testing.assert_array_equal(source.read_finite(0, 45), X[:45])
    name = "NaN" if np.isnan(bad) else "infinity"
    with pytest.raises(ValueError, match=rf"contains {name} in row 45, column 3 \(2 of the rows 40 to 59"):
        source.read_finite(40, 60)
    with pytest.raises(ValueError, match="row 45, column 'f3'"):
        as_rows(table(X)).read_finite(0, N)
    with pytest.raises(ValueError, match="row 45, column 4"):  # of the file, not of the selection
        source.select([1, 4, 0]).read_finite(0, N)


def test_finite_numbers_with_an_infinite_sum(tmp_path):
    X = np.full((4, 3), 1e308)
    np.testing.assert_array_equal(as_rows(saved(X, tmp_path)).read_finite(0, 4), X)
    with pytest.raises(ValueError, match="infinity in row 0"):
        row_blocks(X, dtype="float32").read_finite(0, 4)


def test_the_size_of_blocks_follows_working_memory():
    with sklearn.config_context(working_memory=16):
        assert rows_per_block(1024, 8) == 256  # 1 MiB would be 128 rows
        assert rows_per_block(64, 4) == 4096
    with sklearn.config_context(working_memory=1600):
        assert rows_per_block(1024, 8) == 12800


@pytest.mark.parametrize("open_file", [str, pq.ParquetFile], ids=["path", "ParquetFile"])
def test_threads_have_their_own_position(open_file, X, tmp_path):
    source = row_blocks(open_file(parquet(X, tmp_path, rows=50)))
    with ThreadPoolExecutor(4) as pool:
        blocks = list(pool.map(lambda a: source.read(a, a + 5), list(range(0, N, 5)) * 5))
    np.testing.assert_array_equal(np.concatenate(blocks), np.tile(X, (5, 1)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": [0], "exclude": [1]}, "only one of the two"),
        ({"columns": ["f9"]}, r"columns=\['f9'\]: X has no column 'f9'"),
        ({"exclude": [6]}, r"exclude=\[6\]: 6 is not a column of X, which has 6"),
        ({"columns": []}, "no column of 6 is left"),
        ({"dtype": "int32"}, "dtype='int32': 'float32', 'float64' or None"),
    ],
    ids=["both", "unknown name", "unknown index", "none left", "dtype"],
)
def test_bad_options(options, message, X):
    with pytest.raises(ValueError, match=message):
        row_blocks(table(X), **options)


def test_bad_sources(X, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.npy'.*no such file"):
        row_blocks(tmp_path / "nowhere.npy")
    with pytest.raises(ValueError, match=r"x\.csv': a path ending in \.npy, \.zarr"):
        row_blocks("x.csv")
    with pytest.raises(TypeError, match=r"got builtins\.list"):
        row_blocks([[1.0]])
    with pytest.raises(TypeError, match="real numbers are required, got dtype complex128"):
        row_blocks(np.ones((2, 2), complex))
    np.save(tmp_path / "flat.npy", X[0])
    for flat in (X[0], tmp_path / "flat.npy", zarr.array(X[0])):
        with pytest.raises(ValueError, match=r"2 dimensions is required, got shape \(6,\)"):
            row_blocks(flat)
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    group.create_array("counts", shape=(4, 3), dtype="f4")[:] = 2
    with pytest.raises(ValueError, match=r"a group; give the path of one of its arrays \['counts'\]"):
        row_blocks(tmp_path / "g.zarr")
    assert row_blocks(tmp_path / "g.zarr" / "counts").read(0, 4).sum() == 24
    for name in ("x.npy", "x.parquet", "x.feather", "x.zarr"):
        (tmp_path / name).mkdir() if name == "x.zarr" else (tmp_path / name).write_text("no table")
        with pytest.raises(ValueError, match=rf"^source='.*{name}': cannot be read as \w+ \(.+\)$"):
            row_blocks(tmp_path / name)
    (tmp_path / "bare").mkdir()
    with pytest.raises(ValueError, match=r"bare': cannot be read as parquet \(a folder without files"):
        row_blocks(tmp_path / "bare")
    with pytest.raises(ValueError, match="rows 90 to 101: X has rows 0 to 100"):
        row_blocks(X).read(90, 101)
    with pytest.raises(ValueError, match="'a' is there twice"):
        row_blocks(pa.table([[1], [2]], names=["a", "a"]))


def test_sources_have_a_short_representation(X):
    assert repr(superfactor.row_blocks(X)) == "<MemmapRows 100 x 6, float32>"
