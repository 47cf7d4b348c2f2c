"""Files to samples: tables on disk as people have them, joined, checked, made X, y and what goes with them.

============= ==================================================================================
folder        idea
============= ==================================================================================
``files``     one reader for each format; ``opening`` says which file is for which
``grids``     cells of a table before anybody says whether its rows are samples
``joining``   several files about the same samples become one
``columns``   what columns become: features, labels, covariates, confounders
============= ==================================================================================
"""

from superfactor.tables.files.opening import open_table, read_table
from superfactor.tables.files.table_file import TableFile

__all__ = ["TableFile", "open_table", "read_table"]
