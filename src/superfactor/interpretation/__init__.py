"""Factors by name: what each holds, which features make it up, and whether they would come back.

=============== ============================================================================
file            idea
=============== ============================================================================
``view``        ``FactorView``: factors in a fixed rotation, order and sign
``roles``       what each factor is good for, in a word
``rotation``    varimax
``tables``      one row per factor, or per extreme feature
``covariates``  one row per covariate beside them: odds ratio or slope, and its interval
``blocks``      what each block of features has of the factors and of the prediction
``confounders`` how much of each factor a batch explains, before and after adjustment
``models``      what counts as a fitted model, its features' names, and data as it sees them
``features/``   features and the outcome, markers of classes, features that can be trusted
``refits/``     what returns in refits, and what holds for samples that were not seen
``comparison/`` plain SVD, ridge regression and principal components beside the model
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
