"""`superfactor report`: the page again, from the model and its table."""

import re

import pandas as pd
import pytest
from tests.cli.command import ALL, QUICK, SETTING, cohort, refused, roles, superfactor

from superfactor import saving


def content(page):
    """A page without the moment it was written."""
    return re.sub(r"\d+ \w+ \d{4}, \d\d:\d\d UTC", "", page.read_text())


def test_it_is_the_page_of_fit(table, tmp_path):
    out, first, second = tmp_path / "m.skops", tmp_path / "1.html", tmp_path / "2.html"
    words = ("fit", table, *roles(), *QUICK, "--out", out, "--report", first, "--stability", "3")
    assert superfactor(*words).code == 0
    done = superfactor("report", out, table, "--out", second, "--stability", "3")
    assert done.code == 0, done
    assert "30 fitted, 10 held out" in done.out
    assert content(first) == content(second)


def measured(table, folder, *words):
    """A model file and its page, with nested cross-validation."""
    out, page = folder / "m.skops", folder / "1.html"
    words = ("fit", table, *roles(), *SETTING, "--repeats", "1", "--no-stable", *words)
    assert superfactor(*words, "--out", out, "--report", page).code == 0
    return out, page


def test_held_out_samples_are_reported_with_nested_cross_validation(table, tmp_path):
    _, page = measured(table, tmp_path, "--test-size", "0.25")
    text = page.read_text()
    assert re.search(
        r"<p>On 10 held-out samples: accuracy [\d.]+ % \(95 % interval [\d.]+ % to [\d.]+ %\), balanced "
        r"accuracy [\d.]+ %\.</p>",
        text,
    )
    assert "On 10 held-out samples that were not used in the fit: " in text


@pytest.mark.filterwarnings("error")
def test_metrics_of_classes_stay_out_of_fold(table, tmp_path):
    out, first = measured(table, tmp_path)
    second, third, older = (tmp_path / name for name in ("2.html", "3.html", "older.skops"))
    assert superfactor("report", out, table, "--out", second).code == 0
    assert content(first) == content(second)
    assert "predicted by a model fitted without it" in content(second)
    # A file from before predictions were stored.
    loaded = saving.read(out)
    for name in ("predictions", "classes", "counts"):
        del loaded.about["nested"][name]
    saving.save(loaded.model, older, about=loaded.about)
    assert superfactor("report", older, table, "--out", third).code == 0
    assert "40 training samples (optimistic)" in content(third)


def test_order_of_the_samples_does_not_matter(model, table, tmp_path):
    shuffled = tmp_path / "shuffled.csv"
    cohort().sample(frac=1, random_state=0).to_csv(shuffled, index=False)
    for path, name in ((table, "1.html"), (shuffled, "2.html")):
        assert superfactor("report", model, path, "--out", tmp_path / name).code == 0
    pages = [content(tmp_path / name) for name in ("1.html", "2.html")]
    accuracy = [re.search(r"On 10 held-out samples: accuracy [\d.]+ %", page).group() for page in pages]
    assert accuracy[0] == accuracy[1]


def test_further_samples_count_as_held_out(model, tmp_path):
    more = cohort(n=6, seed=9).assign(patient=[f"Q{i}" for i in range(6)])
    pd.concat([cohort(), more]).to_csv(tmp_path / "more.csv", index=False)
    done = superfactor("report", model, tmp_path / "more.csv", "--out", tmp_path / "r.html", "--json")
    assert done.json["samples"] == {"fitted": 30, "held_out": 16}


def test_samples_with_the_same_name_are_distinct(tmp_path):
    path = tmp_path / "t.csv"
    cohort().assign(patient="P").to_csv(path, index=False)
    assert superfactor("fit", path, *roles(), *QUICK, "--out", tmp_path / "m").code == 0
    done = superfactor("report", tmp_path / "m", path, "--out", tmp_path / "r.html", "--json")
    assert done.json["samples"] == {"fitted": 30, "held_out": 10}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: cohort(seed=1), "not the training table of this model (cohort.csv)"),
        (lambda d: d.iloc[:20], "not the training table of this model"),
        (lambda d: d.assign(age=d["age"] + 1), "not the training table of this model"),
        (lambda d: d.drop(columns="status"), "the column 'status' with the outcome is missing"),
        (
            lambda d: d.assign(status="cured"),
            "column 'status' holds 'cured'; the classes of the model are normal, tumoral",
        ),
        (lambda d: d.assign(status=None), "not the training table of this model"),
    ],
    ids=["other-values", "fewer", "changed", "no-labels", "other-labels", "empty-labels"],
)
def test_other_tables_are_refused(change, message, model, tmp_path):
    change(cohort()).to_csv(tmp_path / "t.csv", index=False)
    assert message in refused("report", model, tmp_path / "t.csv", "--out", tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def test_a_table_with_other_labels_is_refused(model, tmp_path):
    changed = cohort()
    changed["status"] = changed["status"].to_numpy()[::-1]
    changed.to_csv(tmp_path / "changed.csv", index=False)
    line = refused("report", model, tmp_path / "changed.csv", "--out", tmp_path / "r.html")
    assert "labels have changed" in line
    assert not (tmp_path / "r.html").exists()


def test_the_model_stores_how_factors_are_shown(table, tmp_path):
    out, first, second, third = (tmp_path / name for name in ("m", "1.html", "2.html", "3.html"))
    shown = ("--rotation", "variance", "--positive", "normal")
    words = ("fit", table, *roles(), *QUICK, "--out", out, "--report", first, *shown)
    assert superfactor(*words).code == 0
    assert superfactor("report", out, table, "--out", second).code == 0
    assert content(first) == content(second)
    other = ("--rotation", "predictive", "--positive", "tumoral")
    assert superfactor("report", out, table, "--out", third, *other).code == 0
    assert content(third) != content(second)
    line = refused("report", out, table, "--out", third, "--positive", "cured")
    assert "--positive cured: one of the labels normal, tumoral is required" in line


def test_groups_stay_together_without_the_column_that_named_them(tmp_path):
    data = cohort().drop(columns=["sex", "age"])
    patient = data.index // 4  # two samples of each class
    data.assign(who=[f"W{i}" for i in patient]).to_csv(tmp_path / "t.csv", index=False)
    out, first, second = tmp_path / "m.skops", tmp_path / "1.html", tmp_path / "2.html"
    words = ("fit", tmp_path / "t.csv", "--target", "status", "--id", "patient", "--group", "who")
    assert superfactor(*words, *ALL, "--out", out, "--report", first).code == 0
    about = saving.read(out).about
    fold = about["out_of_fold"]["fold"]
    assert all(len(set(fold[patient == who])) == 1 for who in set(patient))
    data.to_csv(tmp_path / "t.csv", index=False)
    assert superfactor("report", out, tmp_path / "t.csv", "--out", second).code == 0
    assert content(first) == content(second)
