"""Data to try things on."""

from superfactor.datasets.simulator import Simulation, simulate

__all__ = ["Simulation", "simulate"]
