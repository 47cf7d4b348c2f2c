"""
Which weights?
==============

The cross-validated score for each ξ (weight of the reconstruction) and λ (ridge). A ring marks the chosen
point. If it lies on a broad plateau, the choice matters little. If it lies at an edge of the grid, use a
larger grid.
"""

from sklearn.datasets import load_breast_cancer

from superfactor import SMFClassifierCV
from superfactor.plotting import CVSurfaceDisplay

X, y = load_breast_cancer(return_X_y=True)
search = SMFClassifierCV([1, 2], preprocess="standardize", scoring="neg_log_loss").fit(X, y)
CVSurfaceDisplay.from_estimator(search)
