"""Example data and simulated data with a known truth."""

from typing import TYPE_CHECKING, Any

from superfactor.datasets.bundled import Microarray, load_prostate, load_t_cells
from superfactor.datasets.simulator import Simulation, simulate

if TYPE_CHECKING:
    from superfactor.tables import TableFile, open_table, read_table

__all__ = [
    "Microarray",
    "Simulation",
    "TableFile",
    "load_prostate",
    "load_t_cells",
    "open_table",
    "read_table",
    "simulate",
]


def __getattr__(name: str) -> Any:
    """Return names of version 1.0 that now live in `superfactor.tables`, which is slower to import."""
    if name not in ("TableFile", "open_table", "read_table"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from superfactor import tables

    return getattr(tables, name)
