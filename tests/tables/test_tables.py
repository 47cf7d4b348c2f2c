"""Tables on disk, compared with pandas where it reads them and with their own text elsewhere."""

import gzip
import sys

import numpy as np
import pandas as pd
import pytest

from superfactor.tables import read_table
from superfactor.tables.grids import rows
from superfactor.tables.grids.cells import ROW_NAMES, is_number


def written(folder, name, text, encoding="utf-8"):
    path = folder / name
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def frame(n=7, p=5):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"g{j}" for j in range(p)])
    table.insert(0, "patient", [f"P{i:02}" for i in range(n)])
    table.insert(3, "sex", ["F", "M"] * (n // 2) + ["F"] * (n % 2))
    return table


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.csv", {}),
        ("a.CSV", {}),
        ("a.tab", {"sep": "\t"}),
        ("a.txt", {"sep": "\t"}),
        ("a.csv", {"sep": ";"}),
        ("a.txt", {"sep": ","}),
        ("a.tsv.gz", {"sep": "\t", "compression": "gzip"}),
        ("a.csv", {"encoding": "utf-8-sig"}),
        ("a.csv", {"quoting": 1}),
        ("a.csv", {"lineterminator": "\r\n"}),
        ("a.parquet", None),
    ],
)
def test_what_pandas_writes_comes_back(name, options, tmp_path):
    expected = frame()
    path = tmp_path / name
    if options is None:
        expected.to_parquet(path)
    else:
        expected.to_csv(path, index=False, **options)
    table = read_table(path)
    assert list(table.columns) == list(expected.columns)
    for column in expected:
        np.testing.assert_array_equal(table[column], expected[column])
    assert table["g0"].dtype == np.float64
    first = 1 if options is None else 2
    assert table.index.name == ("row" if options is None else "line")
    assert table.index.tolist() == list(range(first, first + len(expected)))


def test_lines_are_those_of_the_file(tmp_path):
    text = 'note,g\n"two\nlines",1\n\n"one, with comma",2\n'
    table = read_table(written(tmp_path, "a.csv", text))
    assert table["note"].tolist() == ["two\nlines", "one, with comma"]
    assert table["g"].tolist() == [1.0, 2.0]
    assert table.index.tolist() == [3, 5]


@pytest.mark.parametrize("header", [",a,b", '"",a,b', "a,b"], ids=["pandas", "quoted", "r"])
def test_row_names_without_a_header(header, tmp_path):
    table = read_table(written(tmp_path, "a.csv", f"{header}\n007,1,2\n008,3,4\n"))
    assert table.columns.tolist() == [ROW_NAMES, "a", "b"]
    assert table[ROW_NAMES].tolist() == ["007", "008"]
    assert table["b"].tolist() == [2.0, 4.0]


def test_requested_columns_stay_as_written(tmp_path):
    path = written(tmp_path, "a.csv", "id,g,label\n007,1,1\n010,2,0\n")
    table = read_table(path, text=["id", "label", "not there"])
    assert table["id"].tolist() == ["007", "010"]
    assert table["label"].tolist() == ["1", "0"]
    pd.DataFrame({"id": [7, 10], "g": [1.5, 2.5], "ok": [True, False]}).to_parquet(tmp_path / "b.parquet")
    table = read_table(tmp_path / "b.parquet", text=["id", "ok"])
    assert table["id"].tolist() == ["7", "10"]
    assert table["ok"].tolist() == ["True", "False"]


def test_cumida_names_and_labels_are_text(tmp_path):
    table = read_table(written(tmp_path, "a.csv", "samples,type,1007_s_at\n834,0,7.5\n835,1,8.5\n"))
    assert table["samples"].tolist() == ["834", "835"]
    assert table["type"].tolist() == ["0", "1"]
    other = read_table(written(tmp_path, "b.csv", "type,samples,g\n0,1,7.5\n"))
    assert other["type"].tolist() == [0.0]


def test_numbers_first_and_text_later_is_text_throughout(tmp_path):
    table = read_table(written(tmp_path, "a.csv", "stage,g\n01,1\n2,2\nIV,3\n,4\n"))
    assert table["stage"].tolist() == ["01", "2", "IV", None]
    assert table["g"].tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("rows", ["1_000,2\n3,4", "3,4\n1_000,2", "3,4\n1_000,"])
def test_an_underscore_makes_text_wherever_it_stands(rows, tmp_path):
    table = read_table(written(tmp_path, "a.csv", f"sample,g\n{rows}\n"))
    assert sorted(table["sample"]) == ["1_000", "3"]
    assert table["g"].dtype == float


def test_missing_cells(tmp_path):
    table = read_table(written(tmp_path, "a.csv", "a,b,c\n1,NA,x\n,2,\nnan, ,N/A\n"))
    np.testing.assert_array_equal(table["a"], [1, np.nan, np.nan])
    np.testing.assert_array_equal(table["b"], [np.nan, 2, np.nan])
    assert table["c"].tolist() == ["x", None, None]
    pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "c": ["x", None]}).to_parquet(
        tmp_path / "a.parquet"
    )
    table = read_table(tmp_path / "a.parquet")
    np.testing.assert_array_equal(table["a"], [1, np.nan])
    assert table["c"].tolist() == ["x", None]


def test_repeated_names_are_numbered_with_a_warning(tmp_path):
    path = written(tmp_path, "a.csv", "TP53,g,TP53,TP53.1,TP53\n1,2,3,4,5\n")
    with pytest.warns(UserWarning, match=r"2 columns have the name .* \(TP53.2, TP53.3\)"):
        table = read_table(path)
    assert table.columns.tolist() == ["TP53", "g", "TP53.2", "TP53.1", "TP53.3"]
    assert table.iloc[0].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    with pytest.raises(ValueError, match="two columns are named 'TP53'"):
        read_table(path, text=["TP53"])


def test_wide_table_is_one_block(tmp_path):
    values = np.random.default_rng(1).normal(size=(3, 4000)).round(6)
    table = pd.DataFrame(values, columns=[f"g{j}" for j in range(4000)])
    table.to_csv(tmp_path / "a.csv", index=False)
    back = read_table(tmp_path / "a.csv")
    np.testing.assert_array_equal(back.to_numpy(), values)
    assert len(back._mgr.blocks) == 1  # many would make every later step slow


def test_progress_reaches_the_end(tmp_path):
    path = written(tmp_path, "a.csv", "a\n" + "1\n" * 10)
    seen = []
    read_table(path, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "", "empty, or no header"),
        ("a.csv", "\n\n", "empty, or no header"),
        ("a.csv", "a,b\n", "no samples below the header"),
        ("a.csv", "a,b\n1,2\n1\n", "line 3 has 1 cells, but the header has 2 columns"),
        ("a.csv", "a,b\n1,2\n1,2,3\n", "line 3 has 3 cells"),
        ("a.csv", "a,,c\n1,2,3\n", "column 2 has no name"),
        ("a.csv", 'a,b\n1,"2\n', "line 2: unexpected end of data"),
        ("a.xlsx", "a,b\n1,2\n", "not an Excel workbook"),
        ("table", "a,b\n1,2\n", "a name that ends in .csv"),
        ("a.parquet", "a,b\n1,2\n", "not a Parquet file"),
        ("a.parquet.gz", "a,b\n1,2\n", "a name that ends in .csv"),
    ],
)
def test_no_table(name, text, message, tmp_path):
    with pytest.raises(ValueError, match=message) as caught:
        read_table(written(tmp_path, name, text))
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"a,b\n\xe9\0,2\n", b"\xff\xfea\0,\0b"], ids=["zeros", "half"])
def test_bytes_that_are_no_text(data, tmp_path):
    (tmp_path / "a.csv").write_bytes(data)
    with pytest.raises(ValueError, match="not UTF-8 text"):
        read_table(tmp_path / "a.csv")


def test_invalid_and_incomplete_gzip(tmp_path):
    (tmp_path / "a.csv.gz").write_text("a,b\n1,2\n")
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 10000)
    (tmp_path / "b.csv.gz").write_bytes(whole[: len(whole) // 2])
    for name in ("a.csv.gz", "b.csv.gz"):
        with pytest.raises(ValueError, match="not a complete gzip file"):
            read_table(tmp_path / name)


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"pip install 'superfactor\[cli\]'"):
        read_table(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("index", "names", "first"),
    [
        (pd.Index(list("xyz"), name="patient"), ["patient"], ["x", "y", "z"]),
        (pd.Index(list("xyz")), [ROW_NAMES], ["x", "y", "z"]),
        (pd.Index([7, 3, 5]), [ROW_NAMES], ["7", "3", "5"]),
        (pd.Index([7, 3, 5], name="number"), ["number"], [7.0, 3.0, 5.0]),
        (pd.CategoricalIndex(list("xyx"), name="kind"), ["kind"], ["x", "y", "x"]),
        (pd.RangeIndex(5, 8, name="number"), ["number"], [5.0, 6.0, 7.0]),
        (pd.RangeIndex(3), [], [1.0, 2.0, 3.0]),
        (pd.MultiIndex.from_product([["x"], [1, 2, 3]]), [ROW_NAMES, f"{ROW_NAMES} 1"], ["x"] * 3),
        (pd.DatetimeIndex(["2026-01-01"] * 3, name="day"), ["day"], ["2026-01-01 00:00:00"] * 3),
    ],
)
def test_an_index_in_parquet_is_the_first_column(index, names, first, tmp_path):
    table = pd.DataFrame({"g": [1.0, 2.0, 3.0], "h": [4.0, 5.0, 6.0]}, index=index)
    table.to_parquet(tmp_path / "a.parquet")
    found = read_table(tmp_path / "a.parquet")
    assert found.columns.tolist() == [*names, "g", "h"]
    assert found[found.columns[0]].tolist() == first
    assert found["h"].tolist() == [4.0, 5.0, 6.0]


def test_numbers(tmp_path):
    for cell in ("1", "-1.5", "+.5", "3.", "1e-5", " 2 ", "inf", "-Infinity"):
        assert is_number(cell) and np.isfinite(float(cell)) == ("nf" not in cell)
    assert not any(map(is_number, ["", "x", "1_000", "1,5", "0x10", "1 2", "--1", "nan", "e5"]))
    # Whole numbers beyond the exact ones of float64 are rounded, as they are in text.
    pd.DataFrame({"a": [2**60 + 1, 3]}).to_parquet(tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet")["a"].tolist() == [float(2**60), 3.0]


@pytest.mark.parametrize("piece", [1, 20, 1000])
def test_rows_in_pieces(piece, tmp_path, monkeypatch):
    """However many rows are put together at a time, with text and gaps among them."""
    monkeypatch.setattr(rows, "_PIECE", piece)
    expected = frame()
    expected.loc[4, "g1"] = np.nan
    expected.to_csv(tmp_path / "a.csv", index=False)
    found = read_table(tmp_path / "a.csv")
    pd.testing.assert_frame_equal(found.reset_index(drop=True), expected, check_dtype=False)
