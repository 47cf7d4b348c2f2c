"""Rows of X read in blocks, never whole: data larger than memory.

============= ====================================================================
file          idea
============= ====================================================================
``source``    ``RowSource``: what every storage offers, and how tall a block is
``mapped``    ``MemmapRows``: NumPy arrays on disk, pages given back after use
``chunked``   ``ZarrRows``, ``HDF5Rows``, ``SparseRows``: chunks, dense or sparse
``arrow``     ``ArrowRows``: tables, Parquet files, datasets of many files
``pieces``    what Arrow data is stored in: row groups, record batches, files
``columns``   columns by name, position or mask
``opening``   which source an object or a path is
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
