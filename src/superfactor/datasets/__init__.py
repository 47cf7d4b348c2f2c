"""Data to try things on, and tables to read from disk."""

from superfactor.datasets.simulator import Simulation, simulate
from superfactor.datasets.tables import read_table

__all__ = ["Simulation", "read_table", "simulate"]
