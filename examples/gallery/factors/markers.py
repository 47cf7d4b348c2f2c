"""
Features that are known already
===============================

Notes on features, from a table or a CSV file, are shown where these features come up. Here they are
the three measurements of the classifier that the authors of the data published. Take it to see at a
glance what is new.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.interpretation import read_markers
from superfactor.plotting import FactorsDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
model = make_pipeline(StandardScaler(), SMFClassifier(1)).fit(X, y)
known = read_markers(dict.fromkeys(["worst area", "worst smoothness", "mean texture"], "published"))
FactorsDisplay.from_estimator(model, n=15, markers=known)
