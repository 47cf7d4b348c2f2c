"""Files to samples: tables on disk as people have them, joined, checked, made X, y and what goes with them.

============= ==================================================================================
place         idea
============= ==================================================================================
``reading``   ``read_study``: the one way from files to samples, for a fit or like another study
``study``     ``Study``: samples, and the parameters of a search that they ask for
``roles``     which column is what
``notes``     ``Note`` and ``TableError``: what there is to say, as data
``files/``    one reader for each format; ``opening`` says which file is for which
``grids/``    cells of a table before anybody says whether its rows are samples
``joining/``  several files about the same samples become one
``columns/``  what columns become: features, labels, covariates, confounders; what looks suspicious
============= ==================================================================================
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from superfactor.tables.files.opening import open_table, read_table
from superfactor.tables.grids.grid import TableFile
from superfactor.tables.notes import Note, TableError

if TYPE_CHECKING:
    from superfactor.tables.reading import read_study
    from superfactor.tables.study import Study

__all__ = ["Note", "Study", "TableError", "TableFile", "open_table", "read_study", "read_table"]

# Loaded on first use: who reads one file should not pay for scikit-learn.
_HOMES = {"Study": "superfactor.tables.study", "read_study": "superfactor.tables.reading"}


if not TYPE_CHECKING:  # a checker knows the names from above, and should find misspelt ones

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
