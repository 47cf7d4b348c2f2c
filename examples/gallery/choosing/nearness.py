"""
Between ridge regression and PCA
================================

The weight ξ controls how well the factors describe the features. With a small ξ the prediction is close
to that of ridge regression (cosine 1 means the same direction), and the factors keep most of the variance
that principal components explain. With a large ξ the factors are principal components.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.datasets import load_prostate
from superfactor.interpretation import nearness

data = load_prostate()
X, y = StandardScaler().fit_transform(data.X), data.y
weights = np.logspace(-4, 1, 6)
found = [nearness(SMFClassifier(2, xi=xi).fit(X, y), X, y) for xi in weights]
_, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
ax.semilogx(weights, [near.cosine for near in found], "o-", label="cosine with ridge regression")
ax.semilogx(weights, [near.variance_kept for near in found], "s--", label="variance, relative to PCA")
ax.set(xlabel="ξ, weight of the reconstruction", ylim=(0, 1.05))
ax.legend()
print(found[0].statement)
