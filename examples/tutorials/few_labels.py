"""
Few labels: when most samples have none
=======================================

A hundred samples are measured, but only a dozen have a label. Do the other samples help? They show how
genes vary together. This page measures the gain for several numbers of labels, and compares it with two
standard methods.
"""

# %%
# The samples
# -----------
# 2,000 genes of 102 samples of prostate tissue, which come with superfactor. All labels are known, so
# you can hide some of them and check the predictions.

import numpy as np
from sklearn.preprocessing import StandardScaler

from superfactor.datasets import load_prostate

data = load_prostate()
X, y = StandardScaler().fit_transform(data.X), data.y.astype(object)


def hide(per_class, seed):
    """Return the labels; all but `per_class` of each class are replaced by "not read"."""
    rng = np.random.default_rng(seed)
    seen = np.full(len(y), "not read", dtype=object)
    for kind in sorted(set(y)):
        kept = rng.permutation(np.flatnonzero(y == kind))[:per_class]
        seen[kept] = kind
    return seen


seen = hide(6, seed=0)
print(*seen[:12], sep=", ")

# %%
# Marking unlabelled samples
# --------------------------
# ``None`` and NaN always mean that there is no label. If your file uses a word for it, pass it as
# ``unlabeled=``. Nothing else changes: all samples contribute to the factors, and the labelled ones to
# the classifier.

from superfactor import SMFClassifier

model = SMFClassifier(3, unlabeled="not read").fit(X, seen)
hidden = seen == "not read"
right = np.mean(model.predict(X[hidden]) == y[hidden])
print(f"{model.n_labeled_} labels; of the {hidden.sum()} others {right:.0%} are predicted right")

# %%
# This is one random choice of a dozen samples, and another choice gives another accuracy. The next
# section repeats it many times.
#
# Methods
# -------
# ξ weighs how well the factors describe *all* samples against how well they predict the *labelled*
# ones. With fewer labels, a larger ξ can be better. Compare the default and a hundred times this value
# with
#
# - logistic regression on the labelled samples only;
# - PCA of all samples, followed by logistic regression of the labelled ones on as many components.

from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

codes = StandardScaler().fit_transform(PCA(3, random_state=0).fit_transform(X))


def predictions(seen):
    """Return the predictions of each method for all samples, given the labels in `seen`."""
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
# Fifteen random choices for each number of labels. The table shows the accuracy on the samples with
# hidden labels, in per cent.

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
# The same with standard errors:

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for method, marker in zip(mean, "osD^", strict=True):
    ax.errorbar(mean.index, mean[method], error[method], marker=marker, capsize=3, label=method)
ax.set(xlabel="number of labels", ylabel="right among the hidden, %", xscale="log")
ax.set_xticks(mean.index, mean.index)
ax.minorticks_off()
_ = ax.legend(frameon=False)

# %%
# Conclusions
# -----------
# - **Few labels: describe all samples.** With few labels, PCA and the large ξ, which describe all
#   samples, are better than methods that use the labelled samples only.
# - **Many labels: use them.** With half of the labels known, logistic regression on the labelled
#   samples is as good as the other methods here, and PCA is worse, because the largest variation of
#   these genes is not the difference between the classes.
# - **ξ moves superfactor from one to the other**, with factors at both ends. Its accuracy is close to
#   the better of the two, and not clearly above it. For a prediction without factors, the two simpler
#   methods are sufficient.
# - **With few labels, choose ξ beforehand**: twelve labels in four folds are not enough for
#   cross-validation. From about thirty labels on, use ``SMFClassifierCV`` (folds split the labelled
#   samples; the others are in every training part).
#
# :doc:`/unlabelled` shows the same on three larger tables with settings chosen by cross-validation, how
# to use scikit-learn's own tools, and when unlabelled samples do not help.
