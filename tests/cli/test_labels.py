"""Labels and levels of covariates come back exactly as they are written."""

import pandas as pd
import pytest
from tests.cli.command import QUICK, cohort, superfactor


def as_text(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.mark.parametrize(
    "classes",
    [("007", "008"), ("9007199254740993", "9007199254740995")],
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


def test_minus_one_among_labels_is_noted(tmp_path):
    data = cohort(classes=("-1", "0", "1")).drop(columns=["sex", "age"])
    data.to_csv(tmp_path / "t.csv", index=False)
    words = ("--target", "status", "--id", "patient", *QUICK, "--out", tmp_path / "m.skops")
    done = superfactor("fit", tmp_path / "t.csv", *words)
    assert done.code == 0, done
    assert done.err.count("note: -1 among the labels is taken as a class") == 1
