"""
On a cluster
============

A table larger than the memory of one machine lies on the workers of a Dask cluster, and the same fit
happens there. This recipe runs on two small workers. On a real cluster only the lines that start them
are other ones.
"""

# %%
# The workers
# -----------
# They need what you need: the same versions of Python and superfactor, with its extra ``dask``. These
# two are threads of this process, so that the page runs anywhere as it stands. Without
# ``processes=False`` they are processes of their own, which works in a notebook, and in a script
# under ``if __name__ == "__main__":``.

from distributed import Client, LocalCluster

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
client = Client(cluster)
print(len(client.nthreads()), "workers")

# %%
# The table
# ---------
# It should be where every worker can read it, on a shared file system or in an object store: then
# no row of it passes through your own process. Here are 1,797 digits of 8 × 8 pixels in a folder of
# six Parquet files.

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
# Every worker loads its partitions once and keeps them. Covariates, weights and all other arguments
# are those of ``SMFClassifier``.

from superfactor.distributed import DaskSMFClassifier

model = DaskSMFClassifier(9).fit(X, y)
print(model.certificate_)

# %%
# Predictions are lazy Dask arrays: a partition is predicted where it is read, when somebody asks for
# it or has it written to files.

print(type(model.predict(X)))
print(f"accuracy {model.score(X, y):.3f}")

# %%
# The same as without a cluster
# -----------------------------
# ``to_local`` makes an ``SMFClassifier`` of it, to save, to plot and to take along. It is the model
# that one process finds with the whole table in its memory:

from superfactor import SMFClassifier

y_here = digits.pop("target")
alone = SMFClassifier(9).fit(digits, y_here)
difference = abs(model.objective_ / alone.objective_ - 1)
print(f"objectives differ by {difference:.0e} of themselves")

# %%
# Plots take that model, and as many samples as fit into your memory:

from superfactor.plotting import SamplesDisplay

SamplesDisplay.from_estimator(model.to_local(), digits[:500], y_here[:500])

# %%
# When you are done, give the workers back.

client.close()
cluster.close()
folder.cleanup()

# %%
# On a real cluster
# -----------------
# Everything from "The table" on stays as it is. What starts the workers is one of these.
#
# **SLURM**, with `dask-jobqueue <https://jobqueue.dask.org>`__ (which also knows PBS, SGE and LSF).
# Eight jobs of one worker each; run this on a node that may submit jobs:
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
# **Kubernetes**, with the `operator of Dask <https://kubernetes.dask.org>`__. The image has
# superfactor in it:
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
# **A cluster that runs already**: all you need is the address of its scheduler.
#
# .. code-block:: python
#
#     client = Client("tcp://scheduler:8786")
#
# Wait for the workers before you fit: those that are there when it begins get the samples. Who comes
# later only helps when another is lost.
#
# How large, and in how many parts
# --------------------------------
# All of X has to fit into the memory of all workers together, with room for what the fit keeps
# `beside the samples <../scaling.html#memory>`__. Reckon for the table you have:

samples, features, workers = 10_000_000, 5_000, 8
table_gb = samples * features * 4 / 1e9  # float32
print(f"{table_gb:.0f} GB, {table_gb / workers:.0f} GB for each worker")
print(f"{samples * 0.2 / table_gb:,.0f} rows in a partition of 200 MB")

# %%
# - **Twice its part for each worker.** When one is lost, another takes its part over
#   (`what happens then <../scaling.html#losing-workers>`__), so that 64 GB are right for 25.
# - **Partitions of 100 to 200 MB**, several for each worker: larger ones make unequal shares and
#   need room when they are loaded, much smaller ones keep the scheduler busy.
# - **float32** halves all of it.
# - **Parquet up to some thousand columns, beyond that Zarr** in chunks of whole rows. Then X is a Dask
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
# What travels
# ------------
# X does not. In each step every worker is sent a few small arrays and sends back sums over its
# samples. Their size depends on features, factors and classes, and not on the number of samples
# (`which arrays, and how many bytes <../scaling.html#communication>`__). Each such question takes
# some milliseconds to go and to come back, so that a small table is fitted faster without a cluster.
#
# What to do first
# ----------------
# - **Choose rank and weights on a sample of the samples**, with ``SMFClassifierCV`` on one machine;
#   searches `do not run on a cluster <../scaling.html#what-does-not-scale>`__.
# - **Fit a sample, then one of twice the size.** If neither factors nor accuracy change, you need no
#   cluster.
# - **Name a checkpoint** for a fit of hours, as above. Lost workers are replaced, your own process is
#   not (`long fits <../scaling.html#long-fits>`__).
