"""The example that `make demo` runs."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "breast_cancer.py"


def test_breast_cancer_example():
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=True, timeout=120
    )
    assert "coefficient" in done.stdout
    assert "PCA + logistic regression" in done.stdout
    assert "global optimum" in done.stdout
