"""Covariates: columns that enter a prediction directly and are not factorized.

They are columns of X or a table of their own, the argument ``covariates``.

============== ================================================================================
file           idea
============== ================================================================================
``roles``      ``ColumnRoles``: which columns of X are factorized, which are covariates
``encoder``    ``CovariateEncoder``: categories as indicators, missing values as medians
``categories`` categorical columns: levels, the reference level, missing values
``in_x``       covariate columns of X: codes in place of categories and missing values
``indicators`` ``IndicatorColumns``: the same as a transformer, to place before a scaler
``naming``     names of the columns of X and of the covariates of a fitted model
============== ================================================================================
"""

from superfactor.estimators.covariates.categories import EMPTY, FEWEST_MISSING
from superfactor.estimators.covariates.encoder import MISSING, CovariateEncoder, as_table, labelled
from superfactor.estimators.covariates.in_x import codes_inside, learn_inside
from superfactor.estimators.covariates.indicators import IndicatorColumns
from superfactor.estimators.covariates.roles import ColumnRoles

__all__ = [
    "EMPTY",
    "FEWEST_MISSING",
    "MISSING",
    "ColumnRoles",
    "CovariateEncoder",
    "IndicatorColumns",
    "as_table",
    "codes_inside",
    "labelled",
    "learn_inside",
]
