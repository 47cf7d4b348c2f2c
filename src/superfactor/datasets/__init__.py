"""Data to try things on, the data sets of the paper, and tables to read from disk."""

from superfactor.datasets.files import DataNotFound
from superfactor.datasets.job_postings import Postings, load_job_postings
from superfactor.datasets.microarrays import Microarray, find_microarrays, load_microarray
from superfactor.datasets.mnist import Images, load_mnist
from superfactor.datasets.prostate import load_prostate
from superfactor.datasets.simulator import Simulation, simulate
from superfactor.datasets.t_cells import load_t_cells
from superfactor.tables import TableFile, open_table, read_table

__all__ = [
    "DataNotFound",
    "Images",
    "Microarray",
    "Postings",
    "Simulation",
    "TableFile",
    "find_microarrays",
    "load_job_postings",
    "load_microarray",
    "load_mnist",
    "load_prostate",
    "load_t_cells",
    "open_table",
    "read_table",
    "simulate",
]
