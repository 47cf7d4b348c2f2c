"""
Samples and features in one picture
===================================

The map of the samples with an arrow for each of the top features, which is its correlations with the
two factors: samples in that direction have more of the feature. Take it for small tables, where a
handful of names says what the axes mean.
"""

from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.plotting import BiplotDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
y = y.map("cultivar {}".format)
model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(X, y)
BiplotDisplay.from_estimator(model, X, y)
