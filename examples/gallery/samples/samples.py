"""
A map of the samples
====================

Each point is a sample, by its two factors, where a model that has not seen it puts it; the ellipses
hold 95 % of a class if it were normal. Take it to see whether classes come apart, and which samples lie
with another class. Without ellipses the model is not shown to predict.
"""

from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.plotting import SamplesDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
y = y.map("cultivar {}".format)
model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(X, y)
SamplesDisplay.from_estimator(model, X, y)
