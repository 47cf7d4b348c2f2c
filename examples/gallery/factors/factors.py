"""
Factors next to each other
==========================

Each panel is a factor. The grey band shows its coefficients, the bars correlations of features with it,
and the circles their weights in its score. Start with this plot after every fit. Here the whole
prediction is in factor 1. The grey factor is background: it adds nothing beyond factor 1.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.plotting import FactorsDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(X, y)
FactorsDisplay.from_estimator(model)
