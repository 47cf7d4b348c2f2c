"""
Would they come back?
=====================

The model is fitted again to parts of the samples. Bars say how often a top feature is among the top
ones again, titles how alike the factor itself stays. Much returns with shuffled labels too, the hollow
marks: only what a bar has beyond its mark is about the labels.
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
