"""What `import superfactor` costs."""

from __future__ import annotations

from typing import Any

from benchmarks import measure


def imports(quick: bool = False) -> list[dict[str, Any]]:
    """What it adds to scikit-learn's linear models, which are never far from it."""
    base = "import sklearn.linear_model"
    return [
        {
            "sklearn.linear_model": measure.import_seconds(base),
            "adds": measure.import_seconds("import superfactor", base),
            "adds, with SMFClassifier": measure.import_seconds("from superfactor import SMFClassifier", base),
            "asked at most": 0.2,
        }
    ]
