import json

import pytest
from benchmarks import pages
from benchmarks.__main__ import BENCHMARKS, RESULTS, keep, main
from benchmarks.pages import BLOCKS, PAGE, renewed
from benchmarks.rivals import RIVALS
from benchmarks.tables import markdown, show

MACHINE = {"processor": "abacus", "cores": 2}
FITS = [("superfactor " + s, m) for s in ("auto", "lpgd", "bcd") for m in ("filter", "feature")]
FITS += [("SupervisedMF " + s, m) for s in ("LPGD", "BCD") for m in ("filter", "feature")]
FITS += [(name, None) for name in ("TruncatedSVD + LR", "PLS-DA", "LDA", "NMF + LR")]


def _kept():
    comparison = [
        {
            "case": "9 × 5, rank 2",
            "method": method,
            "model": model,
            "fit s": None if "MF LPGD" in method else 0.5,
            "to 1e-6 of F": 0.1,
            "to 1e-6 s": 0.25 if "auto" in method else None,
            "excess": 0.02 if model else None,
            "peak MB": 12.0,
            "accuracy": 0.875,
            "balanced": 0.8,
            "proven": None,
            "note": None,
        }
        for method, model in FITS
    ]
    growth = [
        {
            "axis": axis,
            "method": "LDA",
            "model": None,
            "sizes": [1, 2, 4, 8],
            "seconds": [1.0, 2.0, 4.0, 8.0],
            "exponent": 1.0,
        }
        for axis in ("n", "p")
    ]
    lpgd = [
        {
            "case": "9 × 5, rank 2",
            "X": "dense",
            "model": "filter",
            "ours ms": 2.0,
            "release ms": 640.0,
            "times": 320.0,
            "objectives differ by": 3e-12,
        }
    ]
    classes = [
        {"classes": 9, "n": 1234, "model": "filter", "proven": False} | {"fit s": 24.6, "pipeline s": 0.02}
    ]
    search = [
        {"pipeline fits": 9.4, "pipeline fits, 2 jobs": 6.2},
        {"pipeline fits": 12.1, "pipeline fits, 2 jobs": 7.7},
    ]
    rivals = [
        {"case": case, "κ": 9, "method": name, "fit s": seconds, "pipelines": seconds / 0.5}
        | {"peak MB": 12.0, "accuracy": 0.875, "proven": None, "note": None}
        | {"objective": None, "excess": 3e-8 if name == "filter" else None}
        for case, seconds in (("digits, rank 5", 4.0), ("digits, rank 10", 6.0), ("9 × 5", 9.0))
        for name in RIVALS
    ]
    searches = [
        {"table": "9 × 5", "model": "filter", "candidates": 8, "seconds": 3.0, "PCA + LR s": 0.5}
        | {"searches": 6.0, "score": 0.9, "PCA + LR score": 0.8}
    ]
    hard = [
        {"case": "hard", "of": "κ = 5", "problems": 500, "proven": 350, "unproven": 150}
        | {"beaten": 23, "by 1 % of supervised": 11, "certificates violated": 0}
    ]
    figures = {"comparison": comparison, "growth": growth, "lpgd": lpgd}
    figures |= {"classes": classes, "search": search}
    figures |= {"rivals": rivals, "searches": searches, "hard": hard}
    return {name: {"machine": MACHINE, "rows": rows} for name, rows in figures.items()}


def _between(text, name):
    return text.split(f"<!-- benchmark: {name} -->")[1].split("<!-- end -->")[0]


def test_the_page_is_what_the_kept_numbers_make_it():
    assert PAGE.read_text() == renewed(PAGE.read_text(), json.loads(RESULTS.read_text()))


@pytest.mark.parametrize("name", BLOCKS)
def test_the_page_has_every_block(name):
    assert PAGE.read_text().count(f"<!-- benchmark: {name} -->") == 1


def test_writing_twice_changes_nothing():
    once = renewed(PAGE.read_text(), _kept())
    assert renewed(once, _kept()) == once


def test_only_blocks_with_numbers_change():
    text = PAGE.read_text()
    new = renewed(text, _kept())
    assert _between(new, "accuracy") == _between(text, "accuracy")
    outside = [part.split("<!-- benchmark")[0] for part in text.split("<!-- end -->")]
    assert outside == [part.split("<!-- benchmark")[0] for part in new.split("<!-- end -->")]


def test_numbers_arrive_in_their_cells():
    new = renewed(PAGE.read_text(), _kept())
    row = "| 9 × 5, rank 2 | filter | 0.5 s | 1 | 0.25 s | (2e-02) | (2e-02) | (2e-02) | (2e-02) |"
    assert row in _between(new, "speed") and "abacus, 2 cores" in _between(new, "speed")
    assert "| 9 × 5, rank 2 | dense | filter | 2 ms | 640 ms | 320 |" in _between(new, "iterations")
    assert "differ by 3e-12" in _between(new, "iterations").replace("\n", " ")
    assert "| LDA | 1.0 | 1.0 |" in _between(new, "growth")
    assert "0.5 s, 12 MB, 87.5 %" in _between(new, "peers")
    row = "| 9 digits, 64 × 1,234 | filter | 24.6 s | 1,230 | no |"
    assert row in _between(new, "classes")
    said = " ".join(_between(new, "search").split())
    assert "as long as 9 to 12 fits of the pipeline, with `n_jobs=2` 6 to 8 (" in said
    row = "| 9 × 5 |" + len(RIVALS) * " 9 s, 12 MB, 87.5 % |"
    assert row in _between(new, "rivals")
    said = " ".join(_between(new, "rivals").split())
    assert "filter 10 pipelines in the median and 12 at most" in said and "3e-08 above" in said
    row = "| 9 × 5 | filter | 8 | 3 s | 0.5 s | 6 | 90.0 % | 80.0 % |"
    assert row in _between(new, "searches")
    assert "| hard, κ = 5 | 500 | 350 | 150 | 23 | 11 | 0 |" in _between(new, "hard")


def _pipelines(part):
    """What fits took of the pipeline's time, in cases with this in their names."""
    rows = json.loads(RESULTS.read_text())["rivals"]["rows"]
    return [
        row["pipelines"] for row in rows if part in row["case"] and row["method"] in ("filter", "feature")
    ]


def test_what_the_readme_says_was_measured():
    """The only figures it has: a new measurement that says otherwise has to be told there."""
    text = " ".join((PAGE.parents[1] / "README.md").read_text().split())
    kept = json.loads(RESULTS.read_text())
    assert "a third of the time of PCA + logistic regression" in text
    wide = _pipelines("54,676") + _pipelines("35,982")
    assert 0.28 < sum(wide) / len(wide) < 0.38 and max(wide) < 0.4
    assert "three to four times as long" in text
    assert all(2.5 < times < 4.5 for times in _pipelines("2,480"))
    assert "many classes three to seventy times" in text
    assert 2.5 < min(_pipelines("digits")) < max(_pipelines("digits")) < 70
    assert max(_pipelines("classes")) < 50
    assert "up to thirty times" in text
    assert 20 < max(_pipelines("784")) < 30
    assert "4 points more accurate than PCA + logistic regression" in text
    assert "level with LDA and a linear SVM" in text
    (mean,) = (row for row in kept["accuracy"]["rows"] if row["table"] == "mean")
    assert round(mean["superfactor"] - mean["PCA+LR"]) == 4
    assert all(abs(mean["superfactor"] - mean[who]) < 0.5 for who in ("LDA", "linear SVM"))


def test_an_unknown_block_is_named():
    with pytest.raises(ValueError, match="'nothing'; allowed: speed"):
        renewed("<!-- benchmark: nothing --><!-- end -->", {})


def test_the_best_accuracy_is_bold():
    rows = [{"table": "singh, log2", "A+B": 91.04, "C": 90.0}, {"table": "x", "A+B": 1, "C": 1}]
    table = pages.accuracy(rows, MACHINE)
    assert "| | A + B | C |" in table
    assert "| the same, log2 | **91.0** | 90.0 |" in table
    assert "| x | **1.0** | **1.0** |" in table


def test_rows_are_kept_beside_others(tmp_path):
    out = tmp_path / "results.json"
    keep(out, "one", [{"a": 1}])
    keep(out, "two", [{"b": 2.5}])
    kept = json.loads(out.read_text())
    assert [kept[name]["rows"] for name in ("one", "two")] == [[{"a": 1}], [{"b": 2.5}]]
    assert {"processor", "cores", "numpy", "scikit-learn"} <= set(kept["two"]["machine"])


def test_names_are_checked(capsys):
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "unknown benchmark ['nothing']; allowed: comparison" in capsys.readouterr().err


def test_quick_numbers_are_kept_only_when_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(BENCHMARKS, "lpgd", lambda quick: [{"case": "c", "quick": quick}])
    before = RESULTS.read_text()
    main(["lpgd", "--quick"])
    assert RESULTS.read_text() == before
    main(["lpgd", "--quick", "--out", str(tmp_path / "q.json")])
    assert json.loads((tmp_path / "q.json").read_text())["lpgd"]["rows"][0]["quick"] is True


def test_the_terminal_shows_cases_as_headings(capsys):
    show("title", [{"case": "a", "who": "x", "s": 0.12345}, {"case": "b", "who": "yy", "s": None}])
    assert capsys.readouterr().out.splitlines() == [
        "",
        "title",
        "  who      s",
        "",
        "  a",
        "  x    0.123",
        "",
        "  b",
        "  yy",
    ]


def test_markdown_has_a_head_and_a_rule():
    assert markdown(["", "b"], [[1.0, None]]) == "| | b |\n|---|---|\n| 1 | |"
