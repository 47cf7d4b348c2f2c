"""Products with X, exact compression, leading eigenpairs and rank-r projection."""

from superfactor.spectrum.compression import Compression, compress
from superfactor.spectrum.data import DataMatrix, power_of_two
from superfactor.spectrum.eigen import project_rank, ritz_corrections, top_eigenpairs, truncated_svd
from superfactor.spectrum.rounding import eigen_rounding, product_rounding
from superfactor.spectrum.rows import RowSource, as_rows, row_blocks, rows_per_block, working_memory

__all__ = [
    "Compression",
    "DataMatrix",
    "RowSource",
    "as_rows",
    "compress",
    "eigen_rounding",
    "power_of_two",
    "product_rounding",
    "project_rank",
    "ritz_corrections",
    "row_blocks",
    "rows_per_block",
    "top_eigenpairs",
    "truncated_svd",
    "working_memory",
]
