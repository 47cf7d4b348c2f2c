"""Data to try things on, and made-up data with a known truth."""

from superfactor.datasets.bundled import Microarray, load_prostate, load_t_cells
from superfactor.datasets.simulator import Simulation, simulate
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
