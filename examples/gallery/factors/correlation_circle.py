"""
Features in the plane of two factors
====================================

Each point is a feature; the coordinates are its correlations with factors 1 and 2. The two factors
explain points near the outer circle almost completely, and points near the centre hardly at all. Points
close to each other are similar. In mixOmics the plot is called plotVar.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.plotting import CorrelationCircleDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(X, y)
CorrelationCircleDisplay.from_estimator(model, n=6)
