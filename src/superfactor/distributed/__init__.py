"""Estimators whose samples are distributed over a Dask cluster.

============== =================================================================================
file           idea
============== =================================================================================
``estimators`` ``DaskSMFClassifier``, ``DaskSMFRegressor``
``base``       shared code of both: fits, and lazy predictions for Dask collections
``partitions`` partitions of samples from a user's Dask collections
``placement``  which worker holds which partitions
``samples``    ``RemoteSamples``: queries to all samples, and recovery of lost workers
``workers``    available workers, and messages to them
``shard``      the actor that computes the queries on a worker
``block``      the samples of one partition on a worker
``lazy``       methods of a fitted estimator for Dask collections
============== =================================================================================
"""

try:
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        "superfactor.distributed: Dask is required (pip install 'superfactor[dask]')"
    ) from error

from superfactor.distributed.estimators import DaskSMFClassifier, DaskSMFRegressor

__all__ = ["DaskSMFClassifier", "DaskSMFRegressor"]
