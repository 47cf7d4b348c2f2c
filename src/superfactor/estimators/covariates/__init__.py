"""Covariates: columns that enter a prediction as they are, in X or beside it.

============== ================================================================================
file           idea
============== ================================================================================
``roles``      ``ColumnRoles``: which columns of X are factorized, which are covariates
``encoder``    ``CovariateEncoder``: words as indicators, gaps as medians
``words``      columns of words: levels, the reference, what is not known
``inside``     covariate columns of X: codes in place of words and gaps
``indicators`` ``IndicatorColumns``: the same as a step before a scaler
``naming``     what columns of X and covariates of a fitted model are called
============== ================================================================================
"""

from superfactor.estimators.covariates.encoder import MISSING, CovariateEncoder, as_table, labelled
from superfactor.estimators.covariates.indicators import IndicatorColumns
from superfactor.estimators.covariates.inside import codes_inside, learn_inside
from superfactor.estimators.covariates.roles import ColumnRoles
from superfactor.estimators.covariates.words import EMPTY, FEWEST_GAPS

__all__ = [
    "EMPTY",
    "FEWEST_GAPS",
    "MISSING",
    "ColumnRoles",
    "CovariateEncoder",
    "IndicatorColumns",
    "as_table",
    "codes_inside",
    "labelled",
    "learn_inside",
]
