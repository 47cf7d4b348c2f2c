"""
Three rotations of one fit
==========================

Rotated factors predict and reconstruct equally well, so you can choose the view. The default puts the
whole prediction into factor 1. "variance" spreads it over the principal axes of the fit. With "varimax",
each factor goes with few features.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.interpretation import factor_view

X, y = load_breast_cancer(return_X_y=True)
model = SMFClassifier(3).fit(StandardScaler().fit_transform(X), y)
_, axes = plt.subplots(2, 3, figsize=(6, 4), height_ratios=[1, 2], sharey="row", layout="constrained")
for rotation, (top, below) in zip(("predictive", "variance", "varimax"), axes.T, strict=True):
    view = factor_view(model, rotation=rotation)
    top.bar(["1", "2", "3"], view.coef[0])
    top.set_title(rotation)
    below.imshow(view.correlations, aspect="auto", cmap="RdBu_r", vmin=-1, vmax=1)
axes[0, 0].set_ylabel("coefficient")
axes[1, 0].set(ylabel="factor", yticks=range(3), yticklabels=[1, 2, 3], xlabel="correlation of each feature")
