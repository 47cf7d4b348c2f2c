"""
Between ridge regression and PCA
================================

The weight ξ says how much factors are to describe the features. With little of it the prediction is
nearly that of ridge regression (cosine 1 is the same direction), and the factors keep most of the
variance that principal components explain. With much of it they are principal components.
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
ax.semilogx(weights, [near.variance_kept for near in found], "s--", label="variance kept, of PCA's")
ax.set(xlabel="ξ, weight of describing the features", ylim=(0, 1.05))
ax.legend()
print(found[0].statement)
