"""
Missing values
==============

A tenth of all values was removed. Each point compares a removed value with its imputation from a low-rank
model of the other values. Put the imputer first in a pipeline, so that it learns from training samples
only.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from superfactor.preprocessing import LowRankImputer, describe_missing

X = StandardScaler().fit_transform(load_breast_cancer().data)
missing = np.random.default_rng(0).random(X.shape) < 0.1
incomplete = np.where(missing, np.nan, X)
imputer = LowRankImputer().fit(incomplete)
_, ax = plt.subplots(figsize=(4, 3.5), layout="constrained")
ax.scatter(X[missing], imputer.transform(incomplete)[missing], s=8, alpha=0.4)
ax.axline((0, 0), slope=1, color="0.5")
ax.set(xlabel="removed value", ylabel="imputed value", aspect="equal")
print(*describe_missing(incomplete).sentences())
print(f"{imputer.n_components_} factors, error {imputer.rms_error_:.2f} standard deviations")
