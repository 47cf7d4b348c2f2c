"""The scikit-learn side of the package: validation, fitting, prediction.

=============== ================================================================================
file            idea
=============== ================================================================================
``classifier``  ``SMFClassifier``: labels in, probabilities out
``regressor``   ``SMFRegressor``: real targets, one or several
``survival``    ``SMFSurvival``: times to an event
``base``        what all share: from the user's data to a problem, from its solution to attributes
``new_samples`` codes and activations of new samples
``linear``      predictions as weights of the columns of X
``scores``      the factors of a fit by their scores
``parameters``  constructor arguments, checked with messages that say what is allowed
``fitting``     which solver runs, and what an estimator tells of its answer
``progress``    ``verbose`` and scikit-learn's callbacks
``targets/``    y: labels, numbers, times, and who has none
``inputs/``     X and what accompanies its samples
``covariates/`` columns that are not factorized: their roles, words and gaps
=============== ================================================================================
"""

from superfactor.estimators.classifier import SMFClassifier
from superfactor.estimators.mixed import SMFMixed
from superfactor.estimators.regressor import SMFRegressor
from superfactor.estimators.survival import SMFSurvival

__all__ = ["SMFClassifier", "SMFMixed", "SMFRegressor", "SMFSurvival"]
