"""The same fit on a Dask cluster.

============== =================================================================================
file           idea
============== =================================================================================
``estimators`` ``DaskSMFClassifier``, ``DaskSMFRegressor``
``base``       what both share: Dask collections in, lazy predictions out
``partitions`` a user's Dask collections as partitions of samples
``placement``  which worker holds which partitions
``samples``    questions to all samples, and what happens when a worker is lost
``workers``    which workers are there, and messages to them
``shard``      the actor that answers on a worker
``block``      the samples of one partition there
``lazy``       methods of a fitted estimator on Dask collections
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
