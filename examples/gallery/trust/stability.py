"""
Are the factors stable?
=======================

The model is fitted again to subsamples. Bars show how often a top feature is found again, titles the
similarity of the factor. Hollow marks show the same with shuffled labels: only the part of a bar beyond
its mark is related to the labels.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.interpretation import stability
from superfactor.plotting import StabilityDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(X, y)
StabilityDisplay.from_stability(stability(model, X, y, n_resamples=30))
