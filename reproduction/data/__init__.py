"""Readers of the paper's data sets: microarrays, job postings, handwritten digits."""

from reproduction.data.files import VARIABLE, DataNotFound
from reproduction.data.job_postings import Postings, load_job_postings
from reproduction.data.microarrays import find_microarrays, load_microarray
from reproduction.data.mnist import Images, load_mnist

__all__ = [
    "VARIABLE",
    "DataNotFound",
    "Images",
    "Postings",
    "find_microarrays",
    "load_job_postings",
    "load_microarray",
    "load_mnist",
]
