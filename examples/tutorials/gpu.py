"""
On a GPU
========

Fit on a GPU with one argument, or with an array on the GPU. This recipe shows both, what they return, and
from which size on a GPU is faster. :doc:`/scaling` has the costs.
"""

# %%
# Check the device
# ----------------
# You need PyTorch, in the build for your GPU. Without a GPU everything below runs on the CPU, as for this
# page:

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
print(device)

# %%
# NumPy in, NumPy out
# -------------------
# 1,797 digits of 8 × 8 pixels. ``device=`` is the only change. The table is copied to the GPU, the fit runs
# there, and the factors are returned as NumPy arrays. You can save the model, and predict on a machine
# without a GPU.

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from superfactor import SMFClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = SMFClassifier(9, device=device).fit(X_train, y_train)
print(f"accuracy on held-out digits: {model.score(X_test, y_test):.0%}")

# %%
# The weights of the nine factors as images:

import matplotlib.pyplot as plt

_, axes = plt.subplots(3, 3, figsize=(4.5, 4.5), layout="constrained")
for ax, factor in zip(axes.flat, model.components_, strict=True):
    ax.imshow(factor.reshape(8, 8), cmap="RdBu_r")
    ax.axis("off")

# %%
# Arrays on the GPU
# -----------------
# To fit a table several times without copying it each time, pass a PyTorch or CuPy array. The fitted arrays
# stay on its device. Labels can be in NumPy, also as strings.

X_there = torch.asarray(X_train, device=device)
X_new = torch.asarray(X_test, device=device)
for rank in (3, 6, 9):
    model = SMFClassifier(rank, certify=None).fit(X_there, y_train)
    right = model.score(X_new, y_test)
    print(f"{rank} factors on {model.components_.device}: accuracy {right:.0%}")

# %%
# Such a model predicts on the device of the fit: arrays on another device are an error.
#
# Is a GPU faster?
# ----------------
# Measure it with a table of the size of yours. This code simulates tables with three classes and five
# factors, and times the second of two fits, because the first one loads the libraries of the device. The
# tables are float32, which needs half of the memory of float64; sums over samples are float64.

from time import perf_counter

import pandas as pd

from superfactor.datasets import simulate

sizes = [(1_000, 50), (100, 2_000)]
if device == "cuda":
    sizes += [(10_000, 500), (100_000, 500), (1_000, 50_000), (1_000_000, 1_000)]


def seconds(X, y, **options):
    """Return the seconds of a whole fit with its certificate."""
    for _ in range(2):
        start = perf_counter()
        SMFClassifier(5, **options).fit(X, y)
    return perf_counter() - start


found = []
for n, p in sizes:
    data = simulate("filter", n, p, 5, n_classes=3, noise=1.0, random_state=0)
    X, y = data.X.astype("float32"), data.y
    spent = {
        "NumPy": seconds(X, y),
        "device=": seconds(X, y, device=device),
        "there": seconds(torch.asarray(X, device=device), y),
    }
    found.append({"samples": n, "features": p, **spent})
if device == "cuda":
    table = pd.DataFrame(found)
    print(table.to_string(index=False, float_format="{:.2f} s".format))

# %%
# The output on an NVIDIA H200 with 16 cores of an Intel Xeon (PyTorch 2.11). ``device=`` copies the table
# first; in the last column it is on the GPU already:
#
# .. code-block:: none
#
#     samples  features   NumPy  device=  there
#        1000        50  0.06 s   0.13 s 0.14 s
#         100      2000  0.09 s   0.22 s 0.22 s
#       10000       500  0.20 s   0.16 s 0.15 s
#      100000       500  1.93 s   0.26 s 0.20 s
#        1000     50000  0.63 s   0.20 s 0.21 s
#     1000000      1000 20.66 s   1.59 s 0.48 s
#
# - **Fit small tables on the CPU.** A fit consists of many short operations, and a GPU needs time to start
#   each: 100 samples × 2,000 genes take more than twice as long.
# - **A GPU is faster from some millions of entries on.** With a million samples it is 13 times as fast, and
#   43 times if the table is on the GPU: copying its 4 GB takes longer than the fit.
# - **Searches are many small fits.** Run ``SMFClassifierCV`` of a microarray on the CPU with several cores
#   (``n_jobs=``).
#
# Requirements
# ------------
# - X and some matrices with as many rows must fit into the memory of the device
#   (`sizes <../scaling.html#memory>`__). Read larger tables in passes on the CPU, or use a
#   :doc:`cluster <cluster>`.
# - The device must support float64, and X must be dense. Sparse tables stay on the CPU.
# - Steps of scikit-learn in a pipeline accept arrays on a device after
#   ``sklearn.set_config(array_api_dispatch=True)``.
