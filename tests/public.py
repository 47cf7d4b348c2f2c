"""What is public: the rooms of the reference and the names they export."""

import importlib
import pkgutil
from types import ModuleType

import superfactor

#: Rooms whose names the reference has; the tests of a room need these libraries.
ROOMS = {
    "superfactor": [],
    "superfactor.saving": ["skops"],
    "superfactor.selection": [],
    "superfactor.interpretation": ["pandas"],
    "superfactor.plotting": ["matplotlib", "pandas"],
    "superfactor.report": ["jinja2", "pandas"],
    "superfactor.preprocessing": ["pandas"],
    "superfactor.tables": ["pandas"],
    "superfactor.datasets": ["pandas"],
    "superfactor.anndata.tl": ["anndata"],
    "superfactor.anndata.pl": ["anndata", "matplotlib"],
    "superfactor.distributed": ["distributed"],
    "superfactor.losses": [],
    "superfactor.constraints": [],
    "superfactor.theory": [],
    "superfactor.problem": [],
    "superfactor.options": [],
    "superfactor.solution": [],
    "superfactor.solvers.newton": [],
    "superfactor.solvers.lpgd": [],
    "superfactor.solvers.bcd": [],
}

#: What stands between the estimators and the solvers, described by the page about the architecture; and the
#: command line, which has a page of its own. `estimators` is exported by `superfactor`.
INSIDE = {"cli", "estimators", "models", "outcomes", "samples", "spectrum", "subspace", "units"}

#: Modules without ``__all__`` that export what they define, but for what only the solvers use.
EXPORTED = {"superfactor.solution": ["Solution"], "superfactor.solvers.bcd": ["solve"]}


def names(room: str) -> list[str]:
    """The public names of a room."""
    module = importlib.import_module(room)
    if room in EXPORTED:
        return EXPORTED[room]
    found = getattr(module, "__all__", None) or _defined_in(module)
    return [name for name in found if not name.startswith("_")]


def rooms_of_the_package() -> set[str]:
    """The top of the tree: its folders and files without an underscore."""
    found = {module.name for module in pkgutil.iter_modules(superfactor.__path__)}
    return {name for name in found if not name.startswith("_")}


def _defined_in(module: ModuleType) -> list[str]:
    return [
        name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__
    ]
