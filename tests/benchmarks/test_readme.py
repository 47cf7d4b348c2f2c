import json

import pytest
from benchmarks import readme
from benchmarks.__main__ import BENCHMARKS, RESULTS, keep, main
from benchmarks.readme import BLOCKS, README, renewed
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
    return {
        name: {"machine": MACHINE, "rows": rows}
        for name, rows in (("comparison", comparison), ("growth", growth), ("lpgd", lpgd))
    }


def _between(text, name):
    return text.split(f"<!-- benchmark: {name} -->")[1].split("<!-- end -->")[0]


def test_readme_is_what_the_kept_numbers_make_it():
    assert README.read_text() == renewed(README.read_text(), json.loads(RESULTS.read_text()))


@pytest.mark.parametrize("name", BLOCKS)
def test_readme_has_every_block(name):
    assert README.read_text().count(f"<!-- benchmark: {name} -->") == 1


def test_writing_twice_changes_nothing():
    once = renewed(README.read_text(), _kept())
    assert renewed(once, _kept()) == once


def test_only_blocks_with_numbers_change():
    text = README.read_text()
    new = renewed(text, _kept())
    assert _between(new, "accuracy") == _between(text, "accuracy")
    outside = [part.split("<!-- benchmark")[0] for part in text.split("<!-- end -->")]
    assert outside == [part.split("<!-- benchmark")[0] for part in new.split("<!-- end -->")]


def test_numbers_arrive_in_their_cells():
    new = renewed(README.read_text(), _kept())
    row = "| 9 × 5, rank 2 | filter | 0.5 s | 1 | 0.25 s | (2e-02) | (2e-02) | (2e-02) | (2e-02) |"
    assert row in _between(new, "speed") and "abacus, 2 cores" in _between(new, "speed")
    assert "| 9 × 5, rank 2 | dense | filter | 2 ms | 640 ms | 320 |" in _between(new, "iterations")
    assert "differ by 3e-12" in _between(new, "iterations").replace("\n", " ")
    assert "| LDA | 1.0 | 1.0 |" in _between(new, "growth")
    assert "0.5 s, 12 MB, 87.5 %" in _between(new, "peers")


def test_an_unknown_block_is_named():
    with pytest.raises(ValueError, match="'nothing'; allowed: speed"):
        renewed("<!-- benchmark: nothing --><!-- end -->", {})


def test_the_best_accuracy_is_bold():
    rows = [{"table": "singh, log2", "A+B": 91.04, "C": 90.0}, {"table": "x", "A+B": 1, "C": 1}]
    table = readme._accuracy(rows, MACHINE)
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
