"""
On a cluster
============

Fit a table that is larger than the memory of one machine on the workers of a Dask cluster. This recipe runs
on two small workers. On a real cluster only the lines that start the workers differ.
"""

# %%
# The workers
# -----------
# Workers need the same versions of Python and superfactor as you, with the extra ``dask``. These two
# are threads of this process, so that the page runs anywhere. Without ``processes=False`` they are
# separate processes, which works in a notebook, and in a script under ``if __name__ == "__main__":``.

from distributed import Client, LocalCluster

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
client = Client(cluster)
print(len(client.nthreads()), "workers")

# %%
# The table
# ---------
# Put the table where every worker can read it, on a shared file system or in an object store. Then no
# row passes through your own process. Here are 1,797 digits of 8 × 8 pixels in a folder of six Parquet
# files.

import tempfile

import dask.dataframe as dd
from sklearn.datasets import load_digits

folder = tempfile.TemporaryDirectory()
digits = load_digits(as_frame=True).frame
dd.from_pandas(digits, npartitions=6).to_parquet(folder.name)

table = dd.read_parquet(folder.name)
X, y = table.drop(columns="target"), table["target"]
print(f"{X.npartitions} partitions; columns {', '.join(X.columns[:3])}, …")

# %%
# The fit
# -------
# Every worker loads its partitions once and keeps them. All arguments are those of ``SMFClassifier``.

from superfactor.distributed import DaskSMFClassifier

model = DaskSMFClassifier(9).fit(X, y)
print(model.certificate_)

# %%
# Predictions are lazy Dask arrays: a partition is predicted on its worker when it is computed or
# written to a file.

print(type(model.predict(X)))
print(f"accuracy {model.score(X, y):.3f}")

# %%
# The same as without a cluster
# -----------------------------
# ``to_local`` returns an ``SMFClassifier``, which you can save and plot. It is the same model that one
# process finds with the whole table in memory:

from superfactor import SMFClassifier

y_here = digits.pop("target")
alone = SMFClassifier(9).fit(digits, y_here)
difference = abs(model.objective_ / alone.objective_ - 1)
print(f"objectives differ by {difference:.0e} of themselves")

# %%
# Plot this model with as many samples as fit into your memory:

from superfactor.plotting import SamplesDisplay

SamplesDisplay.from_estimator(model.to_local(), digits[:500], y_here[:500])

# %%
# When you are done, release the workers.

client.close()
cluster.close()
folder.cleanup()

# %%
# On a real cluster
# -----------------
# Everything from "The table" on stays the same. Start the workers in one of these ways.
#
# **SLURM**, with `dask-jobqueue <https://jobqueue.dask.org>`__ (which also supports PBS, SGE and LSF).
# Eight jobs of one worker each; run this on a node that can submit jobs:
#
# .. code-block:: python
#
#     from dask_jobqueue import SLURMCluster
#
#     cluster = SLURMCluster(cores=8, processes=1, memory="64GB", walltime="02:00:00")
#     cluster.scale(jobs=8)
#     client = Client(cluster)
#     client.wait_for_workers(8)
#
# **Kubernetes**, with the `operator of Dask <https://kubernetes.dask.org>`__ and an image that contains
# superfactor:
#
# .. code-block:: python
#
#     from dask_kubernetes.operator import KubeCluster
#
#     each = {"cpu": "8", "memory": "64Gi"}
#     resources = {"requests": each, "limits": each}
#     cluster = KubeCluster(
#         name="factors", image="YOUR-IMAGE", n_workers=8, resources=resources
#     )
#     client = Client(cluster)
#     client.wait_for_workers(8)
#
# **A running cluster**: use the address of its scheduler.
#
# .. code-block:: python
#
#     client = Client("tcp://scheduler:8786")
#
# Wait for the workers before the fit: the workers present at its start get the samples. Later workers
# are only used to replace lost ones.
#
# How large, and in how many parts
# --------------------------------
# X must fit into the memory of all workers together, with space for the `other arrays of the fit
# <../scaling.html#memory>`__. Compute the size of your table:

samples, features, workers = 10_000_000, 5_000, 8
table_gb = samples * features * 4 / 1e9  # float32
print(f"{table_gb:.0f} GB, {table_gb / workers:.0f} GB for each worker")
print(f"{samples * 0.2 / table_gb:,.0f} rows in a partition of 200 MB")

# %%
# - **Twice its part for each worker.** If a worker is lost, another one takes over its part
#   (`lost workers <../scaling.html#losing-workers>`__), so use 64 GB for 25 GB of data.
# - **Partitions of 100 to 200 MB**, several for each worker. Larger ones give unequal shares and need
#   memory when they are loaded; much smaller ones load the scheduler.
# - **float32** halves the memory.
# - **Parquet up to some thousand columns, Zarr for more**, in chunks of whole rows. Then X is a Dask
#   array:
#
# .. code-block:: python
#
#     import dask.array as da
#     import numpy as np
#
#     X = da.from_zarr("table.zarr")  # chunks (10_000, 5_000)
#     y = np.load("labels.npy")
#     model = DaskSMFClassifier(9, checkpoint="fit.npz").fit(X, y)
#
# Communication
# -------------
# X stays on the workers. In each step every worker receives a few small arrays and returns sums over
# its samples. Their size depends on features, factors and classes, not on the number of samples
# (`arrays and bytes <../scaling.html#communication>`__). Each exchange takes some milliseconds, so a
# small table is fitted faster without a cluster.
#
# What to do first
# ----------------
# - **Choose rank, ξ and λ on a subset of the samples**, with ``SMFClassifierCV`` on one machine;
#   searches `do not run on a cluster <../scaling.html#what-does-not-scale>`__.
# - **Fit a subset, then one of twice the size.** If neither factors nor accuracy change, you do not
#   need a cluster.
# - **Set a checkpoint** for a fit of hours, as above. Lost workers are replaced, your own process is
#   not (`long fits <../scaling.html#long-fits>`__).
