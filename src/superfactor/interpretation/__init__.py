"""Factors by name: what each holds, which features make it up, and whether they would come back.

=================== ===============================================================================
file                idea
=================== ===============================================================================
``view``            ``FactorView``: factors in a fixed rotation, order and sign
``outcome``         which rows of coefficients are shown, and which class is up
``roles``           what each factor is good for, in a word
``tables``          one row per factor, or per extreme feature
``covariates``      one row per covariate beside them: odds ratio or slope, and its interval
``blocks``          what each block of features has of the factors and of the prediction
``confounders``     how much of each factor a batch explains, before and after adjustment
``svd``             the same view of plain SVD, for comparison
``plain``           how near a model is to ridge regression and to principal components
``matching``        which factor of one view is which of another
``held_out``        scores of samples that the model had not seen, and what factors are good for there
``resampling``      refits on parts of the samples, factors matched to the fit
``effects``         how each feature goes with the outcome, and what the model makes of it
``univariate``      tests and effects of one feature at a time
``class_features``  markers of each class
``stable_features`` features that fits to disjoint halves pick again and again
``complementary``   such halves, and how many features both would pick by chance
``refitting``       a whole model fitted again to some of the samples
``rotation``        varimax
``markers``         notes on features a user knows already
``models``          what counts as a fitted model, and the names of its features
``data``            a user's X and y as the estimator inside a model sees them
``progress``        silence, a bar, or a function of the user's; what takes too long unasked
=================== ===============================================================================
"""

from superfactor.interpretation.blocks import block_shares
from superfactor.interpretation.class_features import class_features
from superfactor.interpretation.confounders import confounding
from superfactor.interpretation.covariates import covariate_effects
from superfactor.interpretation.effects import feature_effects
from superfactor.interpretation.held_out import HeldOut, held_out_scores
from superfactor.interpretation.markers import read_markers
from superfactor.interpretation.matching import Matched, matched
from superfactor.interpretation.plain import Nearness, nearness
from superfactor.interpretation.resampling import Stability, stability
from superfactor.interpretation.stable_features import StableFeatures, stable_features
from superfactor.interpretation.svd import unsupervised
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
