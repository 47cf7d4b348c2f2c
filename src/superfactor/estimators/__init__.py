"""The scikit-learn interface: validation, fitting, prediction.

=============== ================================================================================
file            idea
=============== ================================================================================
``classifier``  ``SMFClassifier``: predicts labels
``regressor``   ``SMFRegressor``: predicts real targets, one or several
``survival``    ``SMFSurvival``: predicts times to an event
``mixed``       ``SMFMixed``: predicts outcomes of several kinds at once
``base``        shared steps: user's data to problem, solution to fitted attributes
``parameters``  checks of the constructor arguments
``fitting``     which solver runs, and quantities computed from its solution
``progress``    ``verbose`` and scikit-learn's callbacks
``fitted/``     fitted models: new samples, weights of columns, scores, record
``targets/``    y: labels, numbers, times, and which samples have none
``inputs/``     X and the arrays that accompany its samples
``covariates/`` columns that are not factorized: roles, categories, missing values
=============== ================================================================================
"""

from superfactor.estimators.classifier import SMFClassifier
from superfactor.estimators.mixed import SMFMixed
from superfactor.estimators.regressor import SMFRegressor
from superfactor.estimators.survival import SMFSurvival

__all__ = ["SMFClassifier", "SMFMixed", "SMFRegressor", "SMFSurvival"]
