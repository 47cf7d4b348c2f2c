"""Decimal commas, separators of thousands and encodings, compared with pandas where it reads them."""

import numpy as np
import pandas as pd
import pytest

from superfactor.tables import open_table, read_table


def written(folder, name, text, encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas(separator, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(scale=1e3, size=(6, 4)) ** 3, columns=list("abcd"))
    table.iloc[0] = [1, 2, 3, 4]  # commas show further down only
    table.iloc[3, 2] = np.nan
    table.insert(0, "note", ["1,5", "x", "1.5", "", "3.2.2020", "y"])
    path = tmp_path / "a.txt"
    table.to_csv(path, sep=separator, decimal=",", index=False)
    expected = pd.read_csv(path, sep=separator, decimal=",", float_precision="round_trip")
    found = open_table(path, text=["note"])
    np.testing.assert_array_equal(found.frame[list("abcd")], expected[list("abcd")])
    assert found.frame["note"].tolist() == ["1,5", "x", "1.5", None, "3.2.2020", "y"]
    assert tuple(map(str, found.notes)) == ()


def test_commas_between_cells_are_never_decimal(tmp_path):
    table = read_table(written(tmp_path, "a.csv", 'a,b\n1,2\n"1,5",2\n'))
    assert table["a"].tolist() == ["1", "1,5"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a;b\n1,5;2\n2,5;2.5\n", "line 3, column 'b': '2.5' has a decimal point, but line 2, column 'a'"),
        ("a;b\n1.5;2\n2.5;2,5\n", "line 2, column 'a': '1.5' has a decimal point, but line 3, column 'b'"),
        ("a\tb\n1,5\t2\n2.5\t3\n", "line 3, column 'a': '2.5' has a decimal point"),
    ],
    ids=["point-later", "comma-later", "tabs"],
)  # fmt: skip
def test_both_are_refused_with_both_places(text, place, tmp_path):
    with pytest.raises(ValueError, match="write all numbers in the same way") as caught:
        read_table(written(tmp_path, "a.txt", text))
    assert place in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ['a,b\n1,2\n"1,234.5",2\n', 'a,b\n"1,234,567",2\n', "a;b\n1;2\n1.234,5;2\n", "a\tb\n1'234\t2\n"],
    ids=["english", "millions", "german", "swiss"],
)  # fmt: skip
def test_separators_of_thousands_are_refused(text, tmp_path):
    path = written(tmp_path, "a.txt", text)
    with pytest.raises(ValueError, match=r"line \d, column 'a': .1.*. has a separator of thousands"):
        read_table(path)
    assert read_table(path, text=["a"])["b"].tolist()[-1] == 2


def test_three_digits_after_a_comma_may_be_thousands(tmp_path):
    text = "a\tb\n1,234\t2\n12,345\t3\n"
    with pytest.raises(ValueError, match="a decimal comma or a separator of thousands"):
        read_table(written(tmp_path, "a.tsv", text))
    clear = read_table(written(tmp_path, "b.tsv", text + "0,125\t4\n"))
    assert clear["a"].tolist() == [1.234, 12.345, 0.125]
    # After semicolons a comma is a decimal one, but it is said.
    table = open_table(written(tmp_path, "a.csv", text.replace("\t", ";")))
    assert table.frame["a"].tolist() == [1.234, 12.345]
    assert tuple(map(str, table.notes)) == ("commas are read as decimal commas: line 2, column 'a': '1,234'",)


@pytest.mark.parametrize(
    ("encoding", "word", "note"),
    [("cp1252", "Ödem – groß", "read as Windows-1252"), ("utf-16", "Ödem", ""), ("latin-1", "\x81é", "read")],
    ids=["windows", "utf-16", "latin-1"],
)  # fmt: skip
def test_other_encodings(encoding, word, note, tmp_path):
    filler = "x,1\n" * 5000  # the first odd byte may come late
    path = written(tmp_path, "a.csv", f"finding,b\n{filler}{word},2\n", encoding)
    table = open_table(path)
    assert table.frame["finding"].iloc[-1] == word
    assert table.frame["b"].iloc[-1] == 2
    assert len(table.notes) == (note != "")
    if note:
        assert str(table.notes[0]).startswith(note)
        with pytest.warns(UserWarning, match="not UTF-8"):
            read_table(path)


def test_the_note_shows_a_word_to_check(tmp_path):
    path = written(tmp_path, "a.csv", 'a,b\n"x","Müller, J."\n', "cp1252")
    assert "check 'Müller'" in str(open_table(path).notes[0])
