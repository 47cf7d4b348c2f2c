"""
Few labels: when most samples have none
=======================================

The arrays are measured, but a pathologist has looked at a dozen of a hundred samples. Do the others
help? They show how genes vary together. This page measures what that is worth, by the number of
labels and beside two methods that everybody has.
"""

# %%
# The samples
# -----------
# 2,000 genes of 102 samples of prostate tissue, which come with superfactor. All labels are known,
# so that they can be hidden and the answers checked.

import numpy as np
from sklearn.preprocessing import StandardScaler

from superfactor.datasets import load_prostate

data = load_prostate()
X, y = StandardScaler().fit_transform(data.X), data.y.astype(object)


def hide(per_class, seed):
    """The labels, all but `per_class` of each class replaced by "not read"."""
    rng = np.random.default_rng(seed)
    seen = np.full(len(y), "not read", dtype=object)
    for kind in sorted(set(y)):
        kept = rng.permutation(np.flatnonzero(y == kind))[:per_class]
        seen[kept] = kind
    return seen


seen = hide(6, seed=0)
print(*seen[:12], sep=", ")

# %%
# How to say it
# -------------
# ``None`` and NaN always mean that there is no label; where your file has a word for it, name it
# with ``unlabeled=``. Nothing else changes: every sample has its part in the factors, and those
# with a label in the classifier.

from superfactor import SMFClassifier

model = SMFClassifier(3, unlabeled="not read").fit(X, seen)
hidden = seen == "not read"
right = np.mean(model.predict(X[hidden]) == y[hidden])
print(f"{model.n_labeled_} labels; of the {hidden.sum()} others {right:.0%} are predicted right")

# %%
# That is one draw of a dozen samples, and another dozen gives another figure. So we shall draw them
# many times.
#
# What to compare
# ---------------
# ξ weighs how well the factors describe *all* samples against how well they predict the *labelled*
# ones. The fewer labels there are, the less the second has to say, and the larger ξ may be. So here
# are the default and a hundred times as much, beside
#
# - logistic regression on the labelled samples, which does not know the others;
# - PCA of all samples, then logistic regression of the labelled ones on as many components.

from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

codes = StandardScaler().fit_transform(PCA(3, random_state=0).fit_transform(X))


def predictions(seen):
    """What each method says of all samples, given the labels in `seen`."""
    known = seen != "not read"
    options = {"unlabeled": "not read", "certify": None, "search": "off"}
    weak = SMFClassifier(3, **options).fit(X, seen)
    strong = SMFClassifier(3, xi=100 * weak.xi_, **options).fit(X, seen)
    alone = LogisticRegression().fit(X[known], list(y[known]))
    on_codes = LogisticRegression().fit(codes[known], list(y[known]))
    return {
        "superfactor": weak.predict(X),
        "superfactor, ξ × 100": strong.predict(X),
        "LR on the labelled": alone.predict(X),
        "PCA of all + LR": on_codes.predict(codes),
    }


# %%
# The curve
# ---------
# Fifteen draws for each number of labels. What is counted are right answers among the samples whose
# labels were hidden, in per cent.

import pandas as pd

rows = []
for per_class in (3, 6, 12, 25):
    for seed in range(15):
        seen = hide(per_class, seed)
        hidden = seen == "not read"
        for method, predicted in predictions(seen).items():
            right = 100 * np.mean(predicted[hidden] == y[hidden])
            rows.append({"labels": 2 * per_class, "method": method, "right": right})

found = pd.DataFrame(rows).groupby(["labels", "method"], sort=False)["right"]
mean, error = found.mean().unstack(), found.sem().unstack()
mean.round(1)

# %%
# The same with standard errors over the draws:

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for method, marker in zip(mean, "osD^", strict=True):
    ax.errorbar(mean.index, mean[method], error[method], marker=marker, capsize=3, label=method)
ax.set(xlabel="number of labels", ylabel="right among the hidden, %", xscale="log")
ax.set_xticks(mean.index, mean.index)
ax.minorticks_off()
_ = ax.legend(frameon=False)

# %%
# What to make of it
# ------------------
# - **Few labels: describe all samples.** With a handful, the methods that describe all samples, PCA
#   and the strong ξ, are ahead of those that listen to the labels alone.
# - **Many labels: listen to them.** With half of the labels known, logistic regression on the
#   labelled samples is as good as anything here, and PCA is behind, since what varies most in these
#   genes is not what tells the classes apart.
# - **superfactor goes from one to the other by ξ**, and gives factors at either end. It follows the
#   better of the two, and is not clearly above it: who wants a prediction and no factors is served
#   by the two simpler methods.
# - **ξ has to be chosen beforehand where labels are few**: twelve labels in four folds cannot
#   choose anything. From some thirty on, ``SMFClassifierCV`` chooses it (folds split the labelled
#   samples; the others are in every training part).
#
# :doc:`/unlabelled` has the same on three larger tables with settings chosen by cross-validation,
# how to go about it with scikit-learn's own tools, and when not to expect anything of samples
# without labels.
