"""
Samples and features in one plot
================================

The plot of the samples with an arrow for each top feature: its correlations with the two factors. Samples
in the direction of an arrow have higher values of the feature. Use this for small tables, where few names
explain the axes.
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
