"""The scikit-learn side of the package: validation, fitting, prediction.

=============== ================================================================================
file            idea
=============== ================================================================================
``classifier``  ``SMFClassifier``: labels in, probabilities out
``regressor``   ``SMFRegressor``: real targets, one or several
``survival``    ``SMFSurvival``: times to an event
``base``        what all share: one fit, one transform
``parameters``  constructor arguments, checked with messages that say what is allowed
``inputs``      X, covariates, weights and targets as the user brings them
``fitting``     which solver runs, and what an estimator tells of its answer
``blockwise``   what is computed sample by sample, where X is not in memory
``progress``    ``verbose`` and scikit-learn's callbacks
=============== ================================================================================
"""

from superfactor.estimators.classifier import SMFClassifier
from superfactor.estimators.regressor import SMFRegressor
from superfactor.estimators.survival import SMFSurvival

__all__ = ["SMFClassifier", "SMFRegressor", "SMFSurvival"]
