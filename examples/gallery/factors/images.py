"""
Factors of images
=================

A factor has a correlation with each pixel, so it is an image: samples with a high score have more ink
where it is red and less where it is blue. Top: two factors of the fit. Bottom: two axes of a plain SVD,
in which both axes contribute to distinguishing 8 from 3.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from superfactor import SMFClassifier
from superfactor.interpretation import factor_view, unsupervised

X, y = load_digits(return_X_y=True)
X, y = X[np.isin(y, [3, 8])], y[np.isin(y, [3, 8])]
X = X - X.mean(axis=0)
model = SMFClassifier(2).fit(X, y)
views = factor_view(model, positive=8), unsupervised(model, X, y, positive=8)
_, axes = plt.subplots(2, 2, figsize=(4, 4), layout="constrained")
for row, view in zip(axes, views, strict=True):
    for ax, correlations, coef in zip(row, view.correlations, view.coef[0], strict=True):
        ax.imshow(correlations.reshape(8, 8), cmap="RdBu_r", vmin=-1, vmax=1)
        ax.set(title=f"coefficient of “8”: {coef:.1f}", xticks=[], yticks=[])
