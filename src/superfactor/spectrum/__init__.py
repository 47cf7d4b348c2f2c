"""X through its singular values: products, exact compression, top eigenpairs, rank-r projection."""

from superfactor.spectrum.basis import GrowingBasis
from superfactor.spectrum.compression import Compression, compress
from superfactor.spectrum.data import DataMatrix
from superfactor.spectrum.eigen import top_eigenpairs
from superfactor.spectrum.krylov import fill_leading
from superfactor.spectrum.projection import project_rank, truncated_svd

__all__ = [
    "Compression",
    "DataMatrix",
    "GrowingBasis",
    "compress",
    "fill_leading",
    "project_rank",
    "top_eigenpairs",
    "truncated_svd",
]
