"""Sheets of Excel files, with what people put above and beside their tables."""

import datetime
import sys

import numpy as np
import openpyxl
import pandas as pd
import pytest

from superfactor.tables import open_table, read_table


def saved(folder, rows, **sheets):
    book = openpyxl.Workbook()
    book.active.title = "first"
    for name, lines in {"first": rows, **sheets}.items():
        sheet = book["first"] if name == "first" else book.create_sheet(name)
        for line in lines:
            sheet.append(line)
    book.save(folder / "a.xlsx")
    return folder / "a.xlsx"


def test_what_pandas_writes_comes_back(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame((rng.normal(size=(5, 3)) / 3).round(12), columns=list("abc"))
    table.insert(0, "patient", list("vwxyz"))
    table.insert(2, "count", [1, 2, 3, 4, 5])
    table.loc[1, "b"] = np.nan
    table.to_excel(tmp_path / "a.xlsx", index=False)
    found = read_table(tmp_path / "a.xlsx")
    pd.testing.assert_frame_equal(
        found.reset_index(drop=True),
        table.astype({"count": float, "patient": object}),
        check_exact=True,
        check_column_type=False,  # text has a type of its own since pandas 3
    )
    assert found.index.tolist() == [2, 3, 4, 5, 6]
    assert found.index.name == "row"
    table.to_excel(tmp_path / "a.xlsx")
    assert read_table(tmp_path / "a.xlsx").columns[0] == "row name"


def test_cells_of_all_kinds(tmp_path):
    day = datetime.datetime(2026, 3, 1)
    path = saved(
        tmp_path, [["id", "day", "ok", "g", "h"], [7, day, True, 1.5, "NA"], ["08", day, False, 2, "#N/A"]]
    )
    table = read_table(path, text=["id"])
    assert table["id"].tolist() == ["7", "08"]
    assert table["day"].tolist() == ["2026-03-01"] * 2
    assert table["ok"].tolist() == ["True", "False"]
    assert table["g"].tolist() == [1.5, 2.0]
    assert table["h"].isna().all()


def test_sheets(tmp_path):
    path = saved(tmp_path, [["a"], [1]], people=[["b"], ["x"]])
    message = r"^[^\n]*: it has the sheets 'first', 'people'; choose one with sheet$"
    for reader in (open_table, read_table):
        with pytest.raises(ValueError, match=message):
            reader(path)
    assert read_table(path, sheet="first")["a"].tolist() == [1.0]
    table = open_table(path, sheet="people")
    assert table.frame["b"].tolist() == ["x"]
    assert tuple(map(str, table.notes)) == ()
    assert open_table(path, sheet="People").frame["b"].tolist() == ["x"]
    with pytest.raises(ValueError, match="no sheet 'persons'; there are first, people"):
        open_table(path, sheet="persons")
    with pytest.raises(ValueError, match="only Excel files have a sheet"):
        open_table("a.csv", sheet="people")


def test_empty_and_hidden_sheets_are_no_choice(tmp_path):
    path = saved(tmp_path, [], values=[["a"], [1]], codes=[["b"], ["x"]])
    book = openpyxl.load_workbook(path)
    book["codes"].sheet_state = "hidden"
    book.save(path)
    assert open_table(path).frame["a"].tolist() == [1.0]
    assert open_table(path, sheet="codes").frame["b"].tolist() == ["x"]


@pytest.mark.parametrize(
    ("top", "names"),
    [
        ([["Table 1: expression"], ["id", "a", "b"]], ["id", "a", "b"]),
        ([["", "genes", None], ["id", "a", "b"]], ["id", "a", "b"]),
        ([["id", "genes", None], [None, "a", "b"]], ["id", "a", "b"]),
        ([["Title"], [], ["id", "genes", None], [None, "a", "b"]], ["id", "a", "b"]),
        ([[None, "a", "b"]], ["row name", "a", "b"]),
    ],
    ids=["title", "groups", "merged-down", "both", "row-names"],
)
@pytest.mark.parametrize("shift", [0, 2])
def test_headers_of_several_rows(top, names, shift, tmp_path):
    rows = [*top, ["x", 1.5, 2], ["y", 3, 4], ["z", None, 5], [], [None, None]]
    path = saved(tmp_path, [[None] * shift + row for row in rows])
    table = open_table(path)
    assert table.frame.columns.tolist() == names
    assert table.frame[names[0]].tolist() == ["x", "y", "z"]
    np.testing.assert_array_equal(table.frame["a"], [1.5, 3, np.nan])
    assert any("the header has" in str(note) for note in table.notes) == (len(top) > 1)


def test_a_text_table_keeps_its_first_row(tmp_path):
    table = read_table(saved(tmp_path, [["a", "b"], ["x", "y"], ["z", None]]))
    assert table["a"].tolist() == ["x", "z"]


def test_rows_of_words_under_the_header_are_no_header(tmp_path):
    names = [f"{j}_at" for j in range(7)]
    samples = [f"S{j}" for j in range(6)]
    rows = [[None, *samples], ["type", *"ttnntn"], *([name, *range(6)] for name in names)]
    table = open_table(saved(tmp_path, rows)).frame
    assert table.columns.tolist() == ["row name", "type", *names]


def test_a_formula_without_a_value(tmp_path):
    path = saved(tmp_path, [["a", "b"], [1, 2], [3, "=A3+1"]])
    with pytest.raises(ValueError, match="formula in cell B3 has no saved value; open the file in"):
        read_table(path)


def test_a_stray_word_makes_text(tmp_path):
    table = read_table(saved(tmp_path, [["a", "b"], [1, 2], ["n.d.", 3]]))
    assert table["a"].tolist() == ["1", "n.d."]


def test_no_workbook(tmp_path, monkeypatch):
    (tmp_path / "a.xlsx").write_text("a,b")
    with pytest.raises(ValueError, match="not an Excel workbook"):
        read_table(tmp_path / "a.xlsx")
    with pytest.raises(ValueError, match="an empty sheet"):
        read_table(saved(tmp_path, []))
    with pytest.raises(ValueError, match="no samples below the header; one per row"):
        read_table(saved(tmp_path, [["a", "b"]]))
    with pytest.raises(ValueError, match="row 3 has 3 cells, but the header has 2"):
        read_table(saved(tmp_path, [["a", "b"], [1, 2], [3, 4, 5]]))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ValueError, match=r"pip install 'superfactor\[excel\]'"):
        read_table(tmp_path / "a.xlsx")
