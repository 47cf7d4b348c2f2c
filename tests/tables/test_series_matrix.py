"""Series matrices of GEO, cell by cell as their text says."""

import gzip

import numpy as np
import pytest

from superfactor.tables import open_table, read_table

SERIES = """!Series_title\t"A series"
!Series_sample_id\t"GSM1 GSM2 GSM3 "

!Sample_title\t"one"\t"two"\t"three"
!Sample_geo_accession\t"GSM1"\t"GSM2"\t"GSM3"
!Sample_organism_ch1\t"Homo sapiens"\t"Homo sapiens"\t"Homo sapiens"
!Sample_characteristics_ch1\t"tissue: tumor"\t"tissue: normal"\t"age: 61.5"
!Sample_characteristics_ch1\t"age: 57"\t""\t"tissue: tumor: grade 2"
!Sample_characteristics_ch1\t"smoker"\t"drug: A"\t"drug: A"
!Sample_characteristics_ch1\t""\t"drug: B"\t""
!series_matrix_table_begin
"ID_REF"\t"GSM1"\t"GSM2"\t"GSM3"
"1007_s_at"\t7.5\t8.25\tnull
"117_at"\t6\t\t5.5
!series_matrix_table_end
"""


def series(folder, text=SERIES, name="GSE7_series_matrix.txt"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["GSE7_series_matrix.txt", "GSE7_series_matrix.txt.gz", "a.tsv"])
def test_values_and_samples(name, tmp_path):
    seen = []
    table = open_table(series(tmp_path, name=name), progress=lambda *pair: seen.append(pair))
    np.testing.assert_array_equal(table.matrix, [[7.5, 6], [8.25, np.nan], [np.nan, 5.5]])
    assert table.features == ["1007_s_at", "117_at"]
    columns = table.frame.to_dict("list")
    np.testing.assert_array_equal(columns.pop("age"), [57, np.nan, 61.5])
    assert columns == {
        "row name": ["GSM1", "GSM2", "GSM3"],
        "title": ["one", "two", "three"],
        "tissue": ["tumor", "normal", "tumor: grade 2"],
        "characteristics_ch1": ["smoker", None, None],
        "drug": [None, "A; B", "A"],
    }
    assert tuple(map(str, table.notes)) == ("series matrix of GEO: 3 samples, 2 probes",)
    assert seen


def test_requested_columns_stay_as_written(tmp_path):
    table = open_table(series(tmp_path), text=["age"])
    assert table.frame["age"].tolist() == ["57", None, "61.5"]


def test_samples_in_another_order(tmp_path):
    text = SERIES.replace('"ID_REF"\t"GSM1"\t"GSM2"', '"ID_REF"\t"GSM2"\t"GSM1"')
    table = open_table(series(tmp_path, text))
    assert table.frame["row name"].tolist() == ["GSM2", "GSM1", "GSM3"]
    assert table.frame["title"].tolist() == ["two", "one", "three"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("!series_matrix_table_end\n", "", "it is not complete"),
        (SERIES[SERIES.index("!series_matrix_table_begin") :], "", "without !series_matrix_table_begin"),
        ('"1007_s_at"\t7.5\t8.25\tnull\n"117_at"\t6\t\t5.5\n', "", "supplementary files"),
        ("8.25", "high", "text among the values of sample 'GSM2'"),
        ("\t6\t", "\tlow\t", "text among the values of sample 'GSM1'"),
        ('_accession\t"GSM1"', '_accession\t"GSM9"', "not those of !Sample_geo_accession"),
        ("\t5.5", "", "line 14 has 3 cells, but the header has 4"),
    ],
    ids=["broken-off", "no-table", "empty", "word-first", "word-later", "others", "short"],
)  # fmt: skip
def test_no_series(old, new, message, tmp_path):
    assert old in SERIES
    with pytest.raises(ValueError, match=message):
        open_table(series(tmp_path, SERIES.replace(old, new)))


@pytest.mark.parametrize("layout", ["samples", "features"])
def test_the_format_says_what_rows_are(layout, tmp_path):
    assert open_table(series(tmp_path), layout=layout).matrix.shape == (3, 2)
    with pytest.raises(ValueError, match="open_table reads it"):
        read_table(series(tmp_path))
