"""What mypy tells a user of the package."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import superfactor

pytest.importorskip("mypy")

SCRIPT = """
import numpy as np
from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor, SMFRegressorCV

class Mine(SMFClassifier):
    pass

X, y = np.eye(4), np.array([0, 1, 0, 1])
reveal_type(SMFClassifier().fit(X, y))
reveal_type(SMFRegressor(1).fit(X, y, sample_weight=y))
reveal_type(SMFClassifierCV().on_progress(None).fit(X, y))
reveal_type(SMFRegressorCV().on_progress(None).fit(X, y))
reveal_type(Mine().fit(X, y))
reveal_type(SMFClassifier().fit(X, y).set_feature_names(["a"]).n_covariates_in_)
reveal_type(SMFClassifier().fit(X, y).score(X, y))
reveal_type(SMFClassifier().fit(X, y).predict(X))
SMFClassifier().fit(X)
"""
TYPES = [
    *("superfactor.estimators.classifier.SMFClassifier", "superfactor.estimators.regressor.SMFRegressor"),
    *("superfactor.selection.classifier.SMFClassifierCV", "superfactor.selection.regressor.SMFRegressorCV"),
    *("script.Mine", "int", "float"),
    "Any",  # an array of the library of X, whichever that is
]  # fmt: skip


@pytest.fixture
def checked_before(request, tmp_path):
    """What mypy knows of other people's packages: kept from run to run, where pytest keeps anything."""
    cache = getattr(request.config, "cache", None)
    return tmp_path / "cache" if cache is None else cache.mkdir("mypy")


@pytest.mark.slow
def test_a_script_under_strict_mypy(tmp_path, checked_before):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    words = ["--strict", "--no-error-summary", "--cache-dir", checked_before, script]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        # The package under test, found as an installed one is.
        env=os.environ | {"PYTHONPATH": str(Path(superfactor.__file__).resolve().parents[1])},
    )
    lines = done.stdout.splitlines()
    revealed = [line.split('"')[1] for line in lines if "Revealed type" in line]
    assert [kind.removeprefix("builtins.") for kind in revealed] == TYPES, done.stdout
    (mistake,) = (line for line in lines if "error:" in line)
    assert "argument" in mistake and '"y"' in mistake
