"""
Which weights?
==============

The cross-validated score for each ξ (weight of describing the features) and λ (ridge), with the
chosen one ringed. Look whether the ring lies in a broad plateau, then the choice matters little, or
at an edge of the grid: then give a larger one.
"""

from sklearn.datasets import load_breast_cancer

from superfactor import SMFClassifierCV
from superfactor.plotting import CVSurfaceDisplay

X, y = load_breast_cancer(return_X_y=True)
search = SMFClassifierCV([1, 2], preprocess="standardize", scoring="neg_log_loss").fit(X, y)
CVSurfaceDisplay.from_estimator(search)
