"""
Features in the plane of two factors
====================================

Each point is a measurement: its correlation with factor 1 across, with factor 2 upwards. Points near
the outer circle are told almost completely by the two factors, points that lie together go together,
and those near the centre go with neither. mixOmics users know it as plotVar.
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
