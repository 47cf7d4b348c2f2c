"""Before any work: help, versions, what is imported, what is missing."""

import subprocess
import sys
from dataclasses import fields
from importlib.metadata import entry_points

import pytest
from tests.cli.command import refused, superfactor

import superfactor as package
from superfactor.cli import main
from superfactor.cli.options import Analysis, Files, TableReading

COMMANDS = ("demo", "fit", "predict", "select", "report")


def test_the_script_is_main():
    (script,) = entry_points(group="console_scripts", name="superfactor")
    assert script.load() is main


def test_version():
    done = superfactor("--version")
    assert (done.code, done.out) == (0, f"superfactor {package.__version__}\n")


@pytest.mark.parametrize("words", [["--help"], ["-h"], []], ids=["long", "short", "nothing"])
def test_help_lists_the_commands(words):
    done = superfactor(*words)
    assert done.code == 0
    assert done.err == ""
    for name in COMMANDS:
        assert f"\n  {name} " in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_fits_eighty_columns(command):
    done = superfactor(command, "--help")
    assert done.code == 0
    assert "--quiet" in done.out
    assert "--json" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_help_imports_nothing_heavy():
    code = (
        "import sys, superfactor.cli.app as app\n"
        "try: app.run(['fit', '--help'])\n"
        "finally: print(*{'numpy', 'pandas', 'sklearn', 'scipy'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "--target" in done.stdout
    assert done.stderr.strip() == ""


@pytest.mark.parametrize("missing", ["typer", "rich", "pandas", "skops"])
def test_missing_packages_are_named_at_once(missing, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    line = refused("fit", "no-such-table.csv", "--out", tmp_path / "m.skops")
    assert line == f'error: {missing} missing; pip install "superfactor[cli]" installs all\n'


def test_option_values_are_those_of_the_library():
    from superfactor.interpretation.view import BY, ROTATIONS
    from superfactor.tables.columns.missing import IMPUTE
    from superfactor.tables.files.opening import LAYOUTS

    given = {
        each.name: each.metadata["option"].metavar
        for each in (*fields(Analysis), *fields(Files), *fields(TableReading))
    }
    known = {"by": BY, "rotation": ROTATIONS, "impute": IMPUTE, "layout": LAYOUTS}
    assert {name: tuple(given[name].split("|")) for name in known} == known


@pytest.mark.parametrize("module", ["superfactor", "superfactor.cli"])
def test_modules_that_run(module):
    done = subprocess.run(
        [sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"superfactor {package.__version__}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fits"], "No such command 'fits'"),
        (["fit"], "Missing option '--out'"),
        (["fit", "--out", "m"], "Missing argument 'TABLE', or --block name=FILE"),
        (["fit", "a.csv", "--out", "m", "--block", "b.csv"], "--block b.csv: name=FILE is required"),
        (["fit", "a.csv", "--out", "m", "--block", "a=b.csv"], "TABLE already is a block of that name"),
        (["fit", "a.csv", "--out", "m", "--layout", "x"], "--layout x: auto, samples or features"),
        (["fit", "a.csv", "--out", "m", "--impute", "x"], "--impute x: lowrank, mean or none"),
        (["fit", "a.csv"], "Missing option '--out'"),
        (["fit", "a.csv", "--out", "m", "--ranks", "2"], "No such option"),
        (["fit", "a.csv", "--out", "m", "--seed", "x"], "--seed"),
        (["fit", "a.csv", "--out", "m", "--seed", str(2**32)], "4294967295"),
        (["fit", "a.csv", "--out", "m", "--cv", "1"], "--cv"),
        (["fit", "a.csv", "--out", "m", "--rank", "two"], "--rank two: auto or an integer of at least 1"),
        (["fit", "a.csv", "--out", "m", "--rank", "0"], "--rank 0: auto or an integer of at least 1"),
        (["fit", "a.csv", "--out", "m", "--rank", "2,x"], "--rank 2,x:"),
        (["fit", "a.csv", "--out", "m", "--xi", "0"], "--xi 0: auto or a number above 0"),
        (["fit", "a.csv", "--out", "m", "--xi", "nan"], "--xi nan:"),
        (["fit", "a.csv", "--out", "m", "--lam", "-1"], "--lam -1: auto or a number of at least 0"),
        (["fit", "a.csv", "--out", "m", "--lam", "inf"], "--lam inf:"),
        (["fit", "a.csv", "--out", "m", "--model", "pca"], "--model pca: filter or feature"),
        (["fit", "a.csv", "--out", "m", "--certify", "x"], "--certify x: residual or ascent"),
        (["predict", "m.skops", "--out", "p"], "Missing argument 'TABLE'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_invalid_command_lines(words, message):
    assert message in refused(*words)
