"""Supervised matrix factorization with interpretable factors and a certificate of global optimality."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from superfactor import saving as saving
    from superfactor.estimators import SMFClassifier, SMFMixed, SMFRegressor, SMFSurvival
    from superfactor.saving import load, save
    from superfactor.selection import SMFClassifierCV, SMFRegressorCV, SMFSurvivalCV
    from superfactor.spectrum.rows import row_blocks

__version__ = "1.1.0"

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

# Imported on first use, so that `import superfactor` does not import scikit-learn.
_MODULES = {
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

# Packages that are imported on first use too, for `superfactor.saving.read` after `import superfactor`.
_PACKAGES = frozenset(
    {
        *("anndata", "constraints", "datasets", "distributed", "interpretation", "losses", "plotting"),
        *("preprocessing", "report", "saving", "selection", "tables", "theory"),
    }
)

if not TYPE_CHECKING:  # type checkers use the imports above and report misspelt names

    def __getattr__(name: str) -> Any:
        if name in _PACKAGES:
            return import_module(f"superfactor.{name}")
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
