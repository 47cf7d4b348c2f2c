"""The forms in which a list of known features may come."""

import numpy as np
import pandas as pd
import pytest

from superfactor.interpretation import read_markers

NOTES = {"BRCA1": "oncogene", "TP53": "tumour suppressor"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("feature,note\nBRCA1,oncogene\nTP53,tumour suppressor\n", id="header"),
        pytest.param("BRCA1,oncogene\nTP53,tumour suppressor", id="no-header"),
        pytest.param("\ufeffFeature , Note\n BRCA1, oncogene\n\n,\nTP53 ,tumour suppressor\n", id="untidy"),
        pytest.param("id,note,feature\n1,oncogene,BRCA1\n2,tumour suppressor,TP53\n", id="among-others"),
    ],
)  # fmt: skip
def test_csv(tmp_path, text):
    path = tmp_path / "markers.csv"
    path.write_text(text, encoding="utf-8")
    assert read_markers(path) == NOTES
    assert read_markers(str(path)) == NOTES


def test_tsv_and_quotes(tmp_path):
    (tmp_path / "m.tsv").write_text("feature\tnote\nBRCA1\tgood, bad\n")
    assert read_markers(tmp_path / "m.tsv") == {"BRCA1": "good, bad"}
    (tmp_path / "m.csv").write_text('feature,note\nBRCA1,"good, bad"\n')
    assert read_markers(tmp_path / "m.csv") == {"BRCA1": "good, bad"}


@pytest.mark.parametrize(
    "markers",
    [
        pytest.param(NOTES, id="dict"),
        pytest.param(pd.DataFrame({"feature": NOTES.keys(), "note": NOTES.values()}), id="named"),
        pytest.param(pd.DataFrame({"gene": NOTES.keys(), "why": NOTES.values()}), id="by-position"),
    ],
)
def test_tables_and_dicts(markers):
    assert read_markers(markers) == NOTES


@pytest.mark.parametrize(
    "missing", [None, np.nan, pd.NA, "", " "], ids=["none", "nan", "na", "empty", "blank"]
)
def test_a_missing_note_says_marker(missing):
    frame = pd.DataFrame({"feature": ["a", "b"], "note": [missing, "x"]}, dtype=object)
    assert read_markers(frame) == {"a": "marker", "b": "x"}
    assert read_markers({1: missing, "b": 2.5}) == {"1": "marker", "b": "2.5"}


def test_features_alone_and_twice(tmp_path):
    (tmp_path / "m.csv").write_text("feature\na\nb\n")
    assert read_markers(tmp_path / "m.csv") == {"a": "marker", "b": "marker"}
    (tmp_path / "m.csv").write_text("a,x\na,y\n")
    assert read_markers(tmp_path / "m.csv") == {"a": "x; y"}
    (tmp_path / "m.csv").write_text("")
    assert read_markers(tmp_path / "m.csv") == {}


def test_errors_name_what_is_not_a_list_of_markers(tmp_path):
    with pytest.raises(TypeError, match="markers=list: the path of a CSV file"):
        read_markers(["a", "b"])
    with pytest.raises(FileNotFoundError):
        read_markers(tmp_path / "missing.csv")
