"""The same fit on a Dask cluster.

============== =================================================================================
file           idea
============== =================================================================================
``estimators`` ``DaskSMFClassifier``, ``DaskSMFRegressor``
``base``       what both share: Dask collections in, lazy predictions out
``partitions`` a user's Dask collections as partitions of samples
``placement``  which worker holds which partitions
``samples``    questions to all workers, and what happens when one is lost
``shard``      the actor that answers on a worker
``block``      the samples of one partition there
``lazy``       methods of a fitted estimator on Dask collections
============== =================================================================================
"""

from superfactor.distributed.estimators import DaskSMFClassifier, DaskSMFRegressor

__all__ = ["DaskSMFClassifier", "DaskSMFRegressor"]
