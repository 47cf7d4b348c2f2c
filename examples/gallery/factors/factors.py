"""
Factors side by side
====================

Each panel is a factor. The grey band says how much it speaks for the label, the bars are correlations
of features with it, and circles the weights that its score is computed with. Start here after every fit:
all of the prediction is in factor 1. The grey one is what else varies: it adds nothing beside factor 1.
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
