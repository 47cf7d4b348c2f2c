"""
In scikit-learn's pipelines
===========================

A factorization is an estimator like any other: a step of a pipeline, to be searched and cross-validated.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = make_pipeline(StandardScaler(), SMFClassifier(3))
cross_val_score(model, X, y)
