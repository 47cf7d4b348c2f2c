"""Rows of X read in blocks, never whole: data larger than memory.

============= ====================================================================
file          content
============= ====================================================================
``source``    ``RowSource``: the interface of a storage, and the size of blocks
``mapped``    ``MemmapRows``: NumPy arrays on disk, whose pages are released after use
``chunked``   ``ZarrRows``, ``HDF5Rows``, ``SparseRows``: chunks, dense or sparse
``arrow``     ``ArrowRows``: tables, Parquet files, datasets of many files
``pieces``    units of Arrow data: row groups, record batches, files
``columns``   columns by name, position or mask
``opening``   opens the source of an object or a path
============= ====================================================================
"""

from superfactor.spectrum.rows.arrow import ArrowRows
from superfactor.spectrum.rows.chunked import HDF5Rows, SparseRows, ZarrRows
from superfactor.spectrum.rows.columns import column_positions
from superfactor.spectrum.rows.mapped import MemmapRows
from superfactor.spectrum.rows.opening import as_rows, row_blocks
from superfactor.spectrum.rows.source import RowSource, rows_per_block, scaled_columns, shared, working_memory

__all__ = [
    "ArrowRows",
    "HDF5Rows",
    "MemmapRows",
    "RowSource",
    "SparseRows",
    "ZarrRows",
    "as_rows",
    "column_positions",
    "row_blocks",
    "rows_per_block",
    "scaled_columns",
    "shared",
    "working_memory",
]
