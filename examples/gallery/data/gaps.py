"""
Gaps in the table
=================

A tenth of all values was removed. Each point is one of them: as it was, and as it was read off the
factors of the others. Put the imputer first in a pipeline, so that it learns from training samples
only.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from superfactor.preprocessing import LowRankImputer, describe_gaps

X = StandardScaler().fit_transform(load_breast_cancer().data)
gone = np.random.default_rng(0).random(X.shape) < 0.1
holed = np.where(gone, np.nan, X)
imputer = LowRankImputer().fit(holed)
_, ax = plt.subplots(figsize=(4, 3.5), layout="constrained")
ax.scatter(X[gone], imputer.transform(holed)[gone], s=8, alpha=0.4)
ax.axline((0, 0), slope=1, color="0.5")
ax.set(xlabel="removed value", ylabel="filled in", aspect="equal")
print(*describe_gaps(holed).sentences())
print(f"{imputer.n_components_} factors, error {imputer.rms_error_:.2f} standard deviations")
