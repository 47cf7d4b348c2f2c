"""Tables and files that cannot be used: exit code 2 and a line that says why."""

import os

import pytest
from tests.cli.command import QUICK, SETTING, cohort, refused, roles, superfactor


@pytest.mark.parametrize(
    ("change", "more", "message"),
    [
        (
            lambda d: d.assign(centre="Lyon", batch="b"),
            (),
            "no numbers in columns 'centre', 'batch'; leave out with --drop, or give their role with --id, "
            "--covariates or --adjust; numeric columns without a role are features",
        ),
        (
            lambda d: d.assign(status=["a"] * 38 + ["b"] * 2),
            (),
            "class 'b' has too few samples, 2; 3 are required of each class, 2 with --test-size 0; "
            "--drop-rare drops classes with fewer than 3 samples, --min-class N those with fewer than N",
        ),
        (
            lambda d: d,
            ("--min-class", "21"),
            "two are required: leave out --min-class or use a smaller number",
        ),
        (lambda d: d.drop(columns="status"), (), "--phenotype FILE reads labels from a separate file"),
        (lambda d: d.rename(columns={"age": "Age"}), (), "--covariates: there is no column 'age'; did you"),
        (lambda d: d, ("--drop", "sex"), "column 'sex' is given both as --covariates and as --drop"),
        (lambda d: d.assign(batch="a b"), ("--adjust", "batch"), "--adjust batch: 'a b' for every sample"),
        (
            lambda d: d.assign(gene3=d["gene3"].where(d.index > 0)),
            ("--impute", "none"),
            "numbers are required everywhere: --impute lowrank fills it in, or leave out the sample",
        ),
        (lambda d: d.assign(**{f"gene{j}": 1.0 for j in range(12)}), (), "all zero after preprocessing"),
    ],
)
def test_tables(change, more, message, tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "m.skops"
    change(cohort()).to_csv(path, index=False)
    line = refused("fit", path, *roles(), *QUICK, *more, "--out", out)
    assert message in line
    assert not out.exists()


def test_notes_name_options(tmp_path):
    data = cohort().drop(columns="patient").assign(**{"chip no": range(40)})
    data.to_csv(tmp_path / "t.csv", index=False)
    words = ("--target", "status", "--drop", "sex", *QUICK, "--out", tmp_path / "m.skops")
    assert superfactor("fit", tmp_path / "t.csv", *words).err == (
        "note: column 'chip no' looks like an identifier and is used as a feature: --drop 'chip no' leaves "
        "it out, --id 'chip no' uses it as sample names\n"
    )


@pytest.mark.parametrize("rank", ["13", "2,40"])
def test_rank_too_large(rank, table, tmp_path):
    line = refused("fit", table, *roles(), "--rank", rank, "--out", tmp_path / "m")
    largest = rank.split(",")[-1]
    assert f"--rank {largest}: from 1 to 12 is possible here (32 samples" in line


@pytest.mark.parametrize("size", ["1", "-0.1", "2"])
def test_share_held_out(size, table, tmp_path):
    line = refused("fit", table, *roles(), *QUICK, "--test-size", size, "--out", tmp_path / "m")
    assert f"--test-size {size}: at least 0 and below 1" in line


def test_share_too_small_to_hold_one_of_each_class(table, tmp_path):
    line = refused("fit", table, *roles(), *QUICK, "--test-size", "0.01", "--out", tmp_path / "m")
    assert "--test-size 0.01" in line


@pytest.mark.parametrize("command", ["fit", "select"])
def test_files(command, tmp_path):
    out = ("--out", tmp_path / "m.skops") if command == "fit" else ()
    words = (command, tmp_path / "a.csv", "--target", "b", *out)
    assert f"{tmp_path / 'a.csv'}: No such file or directory" in refused(*words)
    (tmp_path / "a.csv").write_text("a,b\n1\n")
    assert f"{tmp_path / 'a.csv'}: line 2 has 1 cells" in refused(*words)


def test_errors_are_one_line_for_any_column_names(tmp_path):
    data = cohort().rename(columns={"gene3": "a\nb"}).assign(**{"a\nb": "word"})
    data.to_csv(tmp_path / "t.csv", index=False)
    line = refused("fit", tmp_path / "t.csv", *roles(), *QUICK, "--out", tmp_path / "m")
    assert line.count("\n") == 1
    assert "no numbers in column" in line


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("nowhere/m.skops", "there is no folder"),
        (".", "a folder; the name of a file is required"),
        ("table", "this is an input file"),
    ],
    ids=["no-folder", "folder", "input"],
)
@pytest.mark.parametrize("option", ["--out", "--report"])
def test_outputs_are_checked_before_the_work(option, out, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cohort().to_csv("t.csv", index=False)
    out = "t.csv" if out == "table" else out
    outputs = {"--out": "m.skops", option: out}
    line = refused("fit", "t.csv", *roles(), *QUICK, *[w for pair in outputs.items() for w in pair])
    assert message in line
    assert line.startswith(f"error: {option} ")
    assert os.listdir() == ["t.csv"]


def test_markers_that_are_missing(table, tmp_path):
    words = ("--markers", tmp_path / "none.csv", "--out", tmp_path / "m")
    assert "none.csv: No such file" in refused("fit", table, *roles(), *QUICK, *words)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("report", ["same.x", "../here/same.x", "link.x"])
def test_two_outputs_need_two_names(report, tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    cohort().to_csv("t.csv", index=False)
    os.symlink("same.x", "link.x")
    words = ("fit", "t.csv", *roles(), *QUICK, "--out", "same.x", "--report", report)
    line = refused(*words)
    assert line == f"error: --report {report}: this is also the file of --out; two names are required\n"
    assert sorted(os.listdir()) == ["link.x", "t.csv"]


@pytest.mark.parametrize("option", ["--out", "--report"])
def test_markers_are_not_overwritten(option, table, tmp_path):
    markers = tmp_path / "known.csv"
    markers.write_text("gene0,known\n")
    outputs = {"--out": tmp_path / "m.skops", option: markers}
    pairs = [w for pair in outputs.items() for w in pair]
    line = refused("fit", table, *roles(), *QUICK, "--markers", markers, *pairs)
    assert line == f"error: {option} {markers}: this is an input file; another name is required\n"
    assert markers.read_text() == "gene0,known\n"


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("predict", "model"),
        ("predict", "table"),
        ("report", "model"),
        ("report", "table"),
        ("report", "markers"),
    ],
)
def test_inputs_of_a_model_are_not_overwritten(command, what, model, table, tmp_path):
    markers = tmp_path / "known.csv"
    markers.write_text("gene0,known\n")
    inputs = {"model": model, "table": table, "markers": markers}
    more = ("--markers", markers) if command == "report" else ()
    before = inputs[what].read_bytes()
    line = refused(command, model, table, *more, "--out", inputs[what])
    assert "this is an input file" in line
    assert inputs[what].read_bytes() == before


def test_select_does_not_overwrite_the_table(tmp_path):
    path = tmp_path / "t.csv"
    cohort().to_csv(path, index=False)
    line = refused("select", path, *roles(), *SETTING, "--out", path)
    assert "this is an input file" in line


def test_markers_that_are_no_text(table, tmp_path):
    markers = tmp_path / "known.csv"
    markers.write_bytes(b"gene0,\xff\xfe\x00")
    words = ("--markers", markers, "--out", tmp_path / "m")
    line = refused("fit", table, *roles(), *QUICK, *words)
    assert line == f"error: --markers {markers}: not UTF-8 text (byte 0xff); save it as UTF-8\n"
