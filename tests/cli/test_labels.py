"""Labels and levels of covariates come back exactly as they are written."""

import numpy as np
import pandas as pd
import pytest
from tests.cli.command import QUICK, cohort, refused, superfactor

from superfactor.tables.columns.labels import labels_among, labels_of


def as_text(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.mark.parametrize(
    "classes",
    [
        ("1_0", "1_1"),
        ("007", "008"),
        ("+1", "-1"),
        ("1e3", "2e3"),
        ("-1", "1"),
        ("9", "10"),
        ("1000001", "20230102"),
        ("9007199254740993", "9007199254740995"),
        ("99999999999999999998", "99999999999999999999"),
        ("True", "False"),
        ("inf", "1"),
        ("1", "1.0"),
    ],
    ids=lambda classes: "-".join(classes),
)
def test_labels_come_back_as_written(classes, tmp_path):
    path, model, out = tmp_path / "t.csv", tmp_path / "m.skops", tmp_path / "p.csv"
    data = cohort(classes=classes).drop(columns=["sex", "age"])
    data.to_csv(path, index=False)
    words = ("--target", "status", "--id", "patient", *QUICK)
    done = superfactor("fit", path, *words, "--out", model, "--json")
    assert done.code == 0, done
    assert done.json["table"]["classes"] == dict.fromkeys(sorted(classes), 20)
    assert superfactor("predict", model, path, "--out", out).code == 0
    found = as_text(out)
    assert {*found.columns[2:-2]} == {f"probability[{name}]" for name in classes}
    assert (found["predicted"] == data["status"]).mean() > 0.8
    assert set(found["predicted"]) == set(classes)
    done = superfactor("report", model, path, "--out", tmp_path / "r.html")
    assert done.code == 0, done


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["2", "10", "2"], [2, 10, 2]),
        (["0.0", "1.0", "1.0"], [0, 1, 1]),
        (["07", "8", "8"], ["07", "8", "8"]),
        (["7.0", "07", "7"], ["7.0", "07", "7"]),
    ],
    ids=["integers", "floats", "leading-zero", "spellings"],
)
def test_what_is_a_number(cells, expected):
    found = labels_of(pd.Series(cells, dtype=object), "t.csv")
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("classes", "cells", "expected"),
    [
        ([1000000, 20230102], ["20230102.0", "1000000"], [20230102, 1000000]),
        (["007", "7"], ["7", "007", "7.0"], ["7", "007", "7"]),
    ],
    ids=["integers", "words"],
)
def test_labels_of_another_table(classes, cells, expected):
    found = labels_among(pd.Series(cells, dtype=object), classes, "t.csv")
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["whole", "with-empty-cells"])
def test_levels_that_all_look_like_numbers(kind, ending, tmp_path):
    path, new, model = tmp_path / "t.csv", tmp_path / f"new.{ending}", tmp_path / "m.skops"
    levels = ["20230101", "20230102", "pilot", ""]
    data = cohort().drop(columns="sex").assign(batch=levels * 10)
    data.to_csv(path, index=False)
    words = ("--target", "status", "--id", "patient", "--covariates", "batch,age", *QUICK)
    assert superfactor("fit", path, *words, "--out", model, "-q").code == 0
    superfactor("predict", model, path, "--out", tmp_path / "all.csv")
    kept = levels[:2] if kind == "whole" else [*levels[:2], ""]
    part = data[data["batch"].isin(kept)]
    # Numbers now; pandas makes them 20230101.0 where others are missing.
    part = part.assign(batch=pd.to_numeric(part["batch"]))
    part.to_csv(new, index=False) if ending == "csv" else part.to_parquet(new)
    done = superfactor("predict", model, new, "--out", tmp_path / "part.csv")
    assert done.code == 0, done
    expected = as_text(tmp_path / "all.csv").loc[part.index].reset_index(drop=True)
    pd.testing.assert_frame_equal(as_text(tmp_path / "part.csv"), expected, check_exact=True)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["Tumor", "tumor", "normal"], "'Tumor' and 'tumor'"),
        (["stage 1", "stage1", "stage 2"], "'stage 1' and 'stage1'"),
        (["TUMOR", "tumor ", "Tumor", "normal"], "'TUMOR', 'Tumor' and 'tumor '"),
    ],
    ids=["case", "blank", "both"],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_two_spellings_of_a_label_are_refused(cells, said, ending, tmp_path):
    path = tmp_path / f"t.{ending}"
    data = cohort().drop(columns=["sex", "age"])
    data["status"] = (cells * 40)[:40]
    data.to_csv(path, index=False) if ending == "csv" else data.to_parquet(path)
    if ending == "csv":  # blanks around the cells of a text file are no part of them
        said = said.replace("'tumor '", "'tumor'")
    words = ("fit", path, "--target", "status", "--id", "patient", *QUICK)
    line = refused(*words, "--out", tmp_path / "m.skops")
    assert f"column 'status': {said} differ only in case or blanks; write them alike" in line


def test_minus_one_among_labels_is_noted(tmp_path):
    data = cohort(classes=("-1", "0", "1")).drop(columns=["sex", "age"])
    data.to_csv(tmp_path / "t.csv", index=False)
    words = ("--target", "status", "--id", "patient", *QUICK, "--out", tmp_path / "m.skops")
    done = superfactor("fit", tmp_path / "t.csv", *words)
    assert done.code == 0, done
    assert done.err.count("note: -1 among the labels is a class of its own here") == 1
