"""Example data and simulated data with a known truth."""

from typing import TYPE_CHECKING, Any

from superfactor._deprecated import warn_deprecated
from superfactor.datasets.bundled import Microarray, load_prostate, load_t_cells
from superfactor.datasets.simulator import Simulation, simulate

__all__ = ["Microarray", "Simulation", "load_prostate", "load_t_cells", "simulate"]

# Names of superfactor 1.0 that are elsewhere now.
_TABLES = {"TableFile", "open_table", "read_table"}
_REPRODUCTION = {
    "DataNotFound",
    "Images",
    "Postings",
    "find_microarrays",
    "load_job_postings",
    "load_microarray",
    "load_mnist",
}


if not TYPE_CHECKING:  # type checkers report the old names

    def __getattr__(name: str) -> Any:
        """Return names of `superfactor.tables`; raise an ImportError for names that were removed."""
        if name in _TABLES:
            from superfactor import tables  # slower to import

            warn_deprecated(f"superfactor.datasets.{name}", f"superfactor.tables.{name}")
            return getattr(tables, name)
        if name in _REPRODUCTION:
            raise ImportError(
                f"superfactor.datasets.{name}: it is reproduction.data.{name} since superfactor 1.1, in a "
                "clone of the repository"
            )
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
