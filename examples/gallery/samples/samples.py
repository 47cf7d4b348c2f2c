"""
A plot of the samples
=====================

Each point is a sample by two scores from a model fitted without it. Ellipses contain 95 % of a class with
a normal distribution. Use this to see whether classes are separated, and which samples lie in another
class. A plot without ellipses means that the model is not shown to predict.
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
