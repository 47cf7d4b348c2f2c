"""Supervised matrix factorization: factors to read, predictions to trust."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from superfactor.estimators import SMFClassifier, SMFMixed, SMFRegressor, SMFSurvival
    from superfactor.saving import load, save
    from superfactor.selection import SMFClassifierCV, SMFRegressorCV, SMFSurvivalCV
    from superfactor.spectrum.rows import row_blocks

__version__ = "1.0.0"

__all__ = [
    "SMFClassifier",
    "SMFClassifierCV",
    "SMFMixed",
    "SMFRegressor",
    "SMFRegressorCV",
    "SMFSurvival",
    "SMFSurvivalCV",
    "__version__",
    "load",
    "row_blocks",
    "save",
]

# Loaded on first use: `import superfactor` alone should not pay for scikit-learn.
_HOMES = {
    "SMFClassifier": "superfactor.estimators",
    "SMFClassifierCV": "superfactor.selection",
    "SMFMixed": "superfactor.estimators",
    "SMFRegressor": "superfactor.estimators",
    "SMFRegressorCV": "superfactor.selection",
    "SMFSurvival": "superfactor.estimators",
    "SMFSurvivalCV": "superfactor.selection",
    "load": "superfactor.saving",
    "row_blocks": "superfactor.spectrum.rows",
    "save": "superfactor.saving",
}


if not TYPE_CHECKING:  # a checker knows the names from above, and should find misspelt ones

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
