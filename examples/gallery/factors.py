"""
Factors side by side
====================

What each factor says about the label, and the features at its two ends.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.plotting import FactorsDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = make_pipeline(StandardScaler(), SMFClassifier(3)).fit(X, y)
FactorsDisplay.from_estimator(model)
