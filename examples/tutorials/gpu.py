"""
On a GPU
========

The same estimator fits on a GPU: one argument, or an array that is there already. This recipe shows
both, what comes back, and from which size on it is worth it. :doc:`/scaling` has the costs.
"""

# %%
# Is there one?
# -------------
# You need PyTorch, in the build for your GPU. Without a GPU everything below runs on the CPU, as it
# did when this page was made:

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
print(device)

# %%
# NumPy in, NumPy out
# -------------------
# 1,797 digits of 8 × 8 pixels. ``device=`` is the only change. The table moves there, the fit
# happens there, and the factors come back as NumPy arrays. So the model can be saved, and it
# predicts on a machine that has no GPU.

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from superfactor import SMFClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = SMFClassifier(9, device=device).fit(X_train, y_train)
print(f"{model.score(X_test, y_test):.0%} of the other digits are right")

# %%
# The nine factors, each a picture of its weights:

import matplotlib.pyplot as plt

_, axes = plt.subplots(3, 3, figsize=(4.5, 4.5), layout="constrained")
for ax, factor in zip(axes.flat, model.components_, strict=True):
    ax.imshow(factor.reshape(8, 8), cmap="RdBu_r")
    ax.axis("off")

# %%
# Arrays that are there already
# -----------------------------
# A table that is fitted several times need not travel each time. Give a PyTorch or CuPy array, and
# what is fitted stays beside it. Labels may stay where they are, words too.

X_there = torch.asarray(X_train, device=device)
X_new = torch.asarray(X_test, device=device)
for rank in (3, 6, 9):
    model = SMFClassifier(rank, certify=None).fit(X_there, y_train)
    right = model.score(X_new, y_test)
    print(f"{rank} factors on {model.components_.device}: {right:.0%} are right")

# %%
# Such a model predicts where it was fitted: an array that is elsewhere is refused, not moved.
#
# Is it worth it?
# ---------------
# Measure it, with a table of the size of yours. This draws some, of three classes and five factors,
# and takes the second of two fits, since the first one loads the libraries of the device. The tables
# are float32, which needs half of the memory of float64; sums over samples are float64 all the same.

from time import perf_counter

import pandas as pd

from superfactor.datasets import simulate

sizes = [(1_000, 50), (100, 2_000)]
if device == "cuda":
    sizes += [(10_000, 500), (100_000, 500), (1_000, 50_000), (1_000_000, 1_000)]


def seconds(X, y, **options):
    """How long a whole fit takes, certificate included."""
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
# An NVIDIA H200 beside 16 cores of an Intel Xeon printed this (PyTorch 2.11). ``device=`` copies the
# table first, and the last column has it there already:
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
# - **Small tables stay on the CPU.** A fit asks many short questions, and a GPU takes a while to
#   begin each: 100 samples × 2,000 genes take more than twice as long there.
# - **From some millions of numbers on it pays**, and with a million samples it is 13 times as fast, 43
#   times once the table is there: copying its 4 GB takes longer than the fit.
# - **Searches are many small fits.** Leave ``SMFClassifierCV`` of a microarray on the CPU, and give it
#   cores (``n_jobs=``).
#
# What else to know
# -----------------
# - X and some matrices of as many rows have to fit into the memory of the device
#   (`how large they are <../scaling.html#memory>`__). Larger tables are read in passes on the CPU,
#   or lie on a :doc:`cluster <cluster>`.
# - The device has to know float64, and X has to be dense. Sparse tables stay on the CPU.
# - scikit-learn's own steps of a pipeline take arrays of a device after
#   ``sklearn.set_config(array_api_dispatch=True)``.
