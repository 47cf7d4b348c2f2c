"""Read tables from files, join and check them, and return X, y and the other data of a study.

============= ==================================================================================
place         content
============= ==================================================================================
``reading``   ``read_study``: read files for a fit, or in the columns of another study
``study``     ``Study``: the samples, and the search parameters that fit them
``roles``     the role of each column
``notes``     ``Note`` and ``TableError``: messages as data
``files/``    one reader per format; ``opening`` chooses the reader
``grids/``    the cells of a table before its layout is known
``joining/``  join several files about the same samples
``columns/``  features, labels, covariates and confounders from columns; data checks
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

# Loaded on first use, so that reading one file does not import scikit-learn.
_HOMES = {"Study": "superfactor.tables.study", "read_study": "superfactor.tables.reading"}


if not TYPE_CHECKING:  # type checkers use the imports above, so that they find misspelt names

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
