"""Tables on disk, as people have them, read into samples in rows.

`opening.py` says which file is for which format, `turning.py` which way round a table is.
"""

from superfactor.datasets.tables.cells import CUMIDA, MISSING, ROW_NAMES, is_number
from superfactor.datasets.tables.opening import open_table, read_table
from superfactor.datasets.tables.table_file import TableFile

__all__ = ["CUMIDA", "MISSING", "ROW_NAMES", "TableFile", "is_number", "open_table", "read_table"]
