"""
Is it only the size?
====================

The predictive factor against the radius of a tumour; red is malignant. Left: the factor is mostly the
size. Right: an Adjuster first removes the radius from all features, and the factor shows what the size
does not explain. Use the same for batches, sites and scanners.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.interpretation import confounding, factor_view
from superfactor.preprocessing import Adjuster

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
radius = X[["mean radius"]]
plain = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(X, y)
adjusted = make_pipeline(Adjuster("mean radius"), StandardScaler(), SMFClassifier(2)).fit(X, y)
_, axes = plt.subplots(1, 2, figsize=(6, 3.2), layout="constrained")
for model, ax in zip((plain, adjusted), axes, strict=True):
    share = confounding(model, X, radius)["after"][0]
    ax.scatter(radius, factor_view(model).scores[:, 0], c=y, s=12, cmap="coolwarm_r")
    ax.set(title=f"the radius explains {share:.0%}", xlabel="radius", ylabel="factor 1")
