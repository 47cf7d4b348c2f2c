"""The command line as a function, and small tables for it."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from tests.tables.cohort import cohort

from superfactor.cli import main

__all__ = ["ALL", "QUICK", "SETTING", "Done", "cohort", "refused", "roles", "superfactor"]

# The same in every test: two factors, one setting.
SETTING = ("--rank", "2", "--xi", "0.1", "--lam", "1")
# Quick: no cross-validation around the fit, and no halves; and a hold-out.
ALL = (*SETTING, "--repeats", "0", "--no-stable")
QUICK = (*ALL, "--test-size", "0.25")


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def superfactor(*words):
    """Run ``superfactor words…`` in this process."""
    out, err = io.StringIO(), io.StringIO()
    code = None
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main([str(word) for word in words])
        except SystemExit as done:
            code = done.code
    return Done(code, out.getvalue(), err.getvalue())


def refused(*words):
    """Run a command that must fail as bad input: code 2, one line, nothing else. Returns the line."""
    done = superfactor(*words)
    assert done.code == 2, done
    assert done.out == ""
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    return done.err


def roles(*more):
    """The options that say which column of `cohort` is what."""
    return ("--target", "status", "--id", "patient", "--covariates", "sex,age", *more)
