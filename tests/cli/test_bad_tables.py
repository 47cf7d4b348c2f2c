"""Tables and files that cannot be used: exit code 2 and a line that says why."""

import os

import pytest
from tests.cli.command import QUICK, SETTING, cohort, refused, roles


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda d: d.assign(gene3=["oops", *d["gene3"][1:]]),
            "'oops' is not a number, at sample P000 (line 2), column 'gene3'",
        ),
        (
            lambda d: d.assign(gene3=[*d["gene3"][:-1], "1,5"]),
            "'1,5' is not a number, at sample P039 (line 41), column 'gene3'",
        ),
        (
            lambda d: d.assign(gene3=["?", "?", *d["gene3"][2:]]),
            "'?' is not a number, at sample P000 (line 2), column 'gene3' (and 1 more such cells)",
        ),
        (
            lambda d: d.assign(gene3=["-inf", *d["gene3"][1:]]),
            "a value out of range (-inf) at sample P000 (line 2), column 'gene3'",
        ),
        (
            lambda d: d.assign(centre="Lyon", batch="b"),
            "no numbers in columns 'centre', 'batch'; leave out with --drop, or say what they are with "
            "--id, --covariates or --adjust",
        ),
        (lambda d: d.assign(status="normal"), "column 'status' has one class only, 'normal'"),
        (
            lambda d: d.assign(status=None),
            "column 'status' is empty for all 40 samples; labels of two classes are required",
        ),
        (lambda d: d.assign(status=d["gene0"]), "column 'status' holds numbers such as"),
        (lambda d: d.loc[list(range(40)) * 2].assign(status=range(80)), "has 80 different values"),
        (lambda d: d[d["status"] == "normal"].head(1), "has one class only"),
        (
            lambda d: d.assign(status=["a"] * 38 + ["b"] * 2),
            "class 'b' has 2 sample(s); 3 are required, or 2 with --test-size 0; --drop-rare leaves out "
            "classes with fewer than 3 samples, --min-class N those with fewer than N",
        ),
        (lambda d: d.drop(columns="status"), "--phenotype FILE is for labels in a file of their own"),
        (lambda d: d.rename(columns={"age": "Age"}), "--covariates: there is no column 'age'; did you mean"),
        (lambda d: d.assign(sex="F"), "covariate 'sex' is 'F' for every sample"),
        (lambda d: d.filter(regex="patient|status|sex|age"), "no columns are left to factorize"),
        (lambda d: d.rename(columns={"gene0": "sex=F"}), "a second column 'sex=F'"),
        (lambda d: d.iloc[:0], "no samples below the header"),
        (lambda d: d.assign(**{f"gene{j}": 1.0 for j in range(12)}), "all zero after preprocessing"),
    ],
    ids=[
        "word", "decimal-comma", "words", "infinite", "text-columns",
        "one-class", "no-label", "continuous", "many-classes", "one-sample", "few-samples",
        "no-target", "no-covariate", "constant-covariate", "no-features",
        "name-taken", "no-rows", "constant-features",
    ],
)  # fmt: skip
def test_tables(change, message, tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "m.skops"
    change(cohort()).to_csv(path, index=False)
    line = refused("fit", path, *roles(), *QUICK, "--out", out)
    assert message in line
    assert not out.exists()


def test_many_levels(tmp_path):
    data = cohort(n=120)
    data.assign(sex=data["patient"]).to_csv(tmp_path / "t.csv", index=False)
    line = refused("fit", tmp_path / "t.csv", *roles(), *QUICK, "--out", tmp_path / "m")
    assert "covariate 'sex' has 120 different values; at most 50" in line


def test_target_is_required(table, tmp_path):
    line = refused("fit", table, "--out", tmp_path / "m")
    assert "--target is required, the column with the labels; the columns are 'patient'," in line


def test_one_column_cannot_be_two_things(table, tmp_path):
    words = ("--target", "status", "--drop", "sex", "--covariates", "sex", "--out", tmp_path / "m")
    assert "column 'sex' is given both as --covariates and as --drop" in refused("fit", table, *words)


@pytest.mark.parametrize("rank", ["13", "2,40"])
def test_rank_too_large(rank, table, tmp_path):
    line = refused("fit", table, *roles(), "--rank", rank, "--out", tmp_path / "m")
    largest = rank.split(",")[-1]
    assert f"--rank {largest}: from 1 to 12 is possible here (32 samples" in line


@pytest.mark.parametrize("size", ["1", "-0.1", "2"])
def test_share_held_out(size, table, tmp_path):
    line = refused("fit", table, *roles(), *QUICK, "--test-size", size, "--out", tmp_path / "m")
    assert f"--test-size {size}: from 0" in line


def test_share_too_small_to_hold_one_of_each_class(table, tmp_path):
    line = refused("fit", table, *roles(), *QUICK, "--test-size", "0.01", "--out", tmp_path / "m")
    assert "--test-size 0.01" in line


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", None, "No such file or directory"),
        ("a.csv", "", "empty, or no header"),
        ("a.xlsx", "x", "not an Excel workbook"),
        ("a.csv", "a,b\n1\n", "line 2 has 1 cells"),
        ("a.csv.gz", "a,b\n1,2\n", "not a complete gzip file"),
        ("a.parquet", "a,b\n1,2\n", "not a Parquet file"),
    ],
    ids=["missing", "empty", "excel", "ragged", "gzip", "parquet"],
)
@pytest.mark.parametrize("command", ["fit", "select"])
def test_files(command, name, text, message, tmp_path):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    out = ("--out", tmp_path / "m.skops") if command == "fit" else ()
    line = refused(command, path, "--target", "b", *out)
    assert str(path) in line
    assert message in line


def test_a_folder_is_no_table(tmp_path):
    folder = tmp_path / "x.csv"
    folder.mkdir()
    assert "a folder without matrix.mtx" in refused("fit", folder, "--target", "b", "--out", tmp_path / "m")


def test_a_line_stays_one_line_whatever_columns_are_called(tmp_path):
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
        ("table", "this would overwrite what is read"),
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
    assert line == f"error: --report {report}: this would overwrite --out; two names are required\n"
    assert sorted(os.listdir()) == ["link.x", "t.csv"]


@pytest.mark.parametrize("option", ["--out", "--report"])
def test_markers_are_not_overwritten(option, table, tmp_path):
    markers = tmp_path / "known.csv"
    markers.write_text("gene0,known\n")
    outputs = {"--out": tmp_path / "m.skops", option: markers}
    pairs = [w for pair in outputs.items() for w in pair]
    line = refused("fit", table, *roles(), *QUICK, "--markers", markers, *pairs)
    assert line == f"error: {option} {markers}: this would overwrite what is read; another name is required\n"
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
    assert "this would overwrite what is read" in line
    assert inputs[what].read_bytes() == before


def test_select_does_not_overwrite_the_table(tmp_path):
    path = tmp_path / "t.csv"
    cohort().to_csv(path, index=False)
    line = refused("select", path, *roles(), *SETTING, "--out", path)
    assert "this would overwrite what is read" in line


def test_markers_that_are_no_text(table, tmp_path):
    markers = tmp_path / "known.csv"
    markers.write_bytes(b"gene0,\xff\xfe\x00")
    words = ("--markers", markers, "--out", tmp_path / "m")
    line = refused("fit", table, *roles(), *QUICK, *words)
    assert line == f"error: --markers {markers}: not UTF-8 text (byte 0xff); save it as UTF-8\n"
