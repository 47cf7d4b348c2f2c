"""Interpretation: what each factor contains, which features go with it, and how stable it is.

=============== ============================================================================
file            idea
=============== ============================================================================
``view``        ``FactorView``: factors in a fixed rotation, order and sign
``roles``       the role of each factor: predictive, not shown or background
``rotation``    varimax
``tables``      one row per factor, or per extreme feature
``covariates``  one row per covariate: odds ratio or slope, and its interval
``blocks``      the share of each block of features in the factors and in the prediction
``confounders`` how much of each factor a batch explains, before and after adjustment
``models``      the estimator inside a fitted model, its feature names, and preprocessed data
``features/``   features and the outcome, markers of classes, stable features
``refits/``     stability over refits, and results on held-out samples
``comparison/`` plain SVD, ridge regression and principal components for comparison
=============== ============================================================================
"""

from superfactor.interpretation.blocks import block_shares
from superfactor.interpretation.comparison.matching import Matched, matched
from superfactor.interpretation.comparison.plain import Nearness, nearness
from superfactor.interpretation.comparison.svd import unsupervised
from superfactor.interpretation.confounders import confounding
from superfactor.interpretation.covariates import covariate_effects
from superfactor.interpretation.features.class_features import class_features
from superfactor.interpretation.features.effects import feature_effects
from superfactor.interpretation.features.markers import read_markers
from superfactor.interpretation.features.stable_features import StableFeatures, stable_features
from superfactor.interpretation.refits.held_out import HeldOut, held_out_scores
from superfactor.interpretation.refits.resampling import Stability, stability
from superfactor.interpretation.tables import supervised_factors, top_features
from superfactor.interpretation.view import FactorView, factor_view

__all__ = [
    "FactorView",
    "HeldOut",
    "Matched",
    "Nearness",
    "Stability",
    "StableFeatures",
    "block_shares",
    "class_features",
    "confounding",
    "covariate_effects",
    "factor_view",
    "feature_effects",
    "held_out_scores",
    "matched",
    "nearness",
    "read_markers",
    "stability",
    "stable_features",
    "supervised_factors",
    "top_features",
    "unsupervised",
]
