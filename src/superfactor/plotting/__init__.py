"""Plots as Displays of scikit-learn: create one with ``from_estimator``, change it through its axes.

====================== =========================================================================
file                   idea
====================== =========================================================================
``factors``            coefficients and top features of each factor
``samples``            samples in the space of two factors, coloured by class
``biplot``             the same, with arrows for the top features
``correlation_circle`` features by their correlations with two factors
``heatmap``            the top features in all samples, clustered
``scree``              share of variance of each singular direction of X, with the elbow
``convergence``        the objective against iterations or seconds
``cv_surface``         the cross-validated score over ξ and λ
``stability``          how often top features are found again in subsamples
``stable_features``    shares of half-samples in which features are selected
``drawing/``           shared helpers: figures, names, positions of samples
====================== =========================================================================

Plots require matplotlib: ``pip install "superfactor[plot]"``. The functions do not show or close figures and
do not change settings of matplotlib.
"""

from superfactor.plotting.biplot import BiplotDisplay
from superfactor.plotting.convergence import ConvergenceDisplay
from superfactor.plotting.correlation_circle import CorrelationCircleDisplay
from superfactor.plotting.cv_surface import CVSurfaceDisplay
from superfactor.plotting.factors import FactorsDisplay
from superfactor.plotting.heatmap import HeatmapDisplay
from superfactor.plotting.samples import SamplesDisplay
from superfactor.plotting.scree import ScreeDisplay
from superfactor.plotting.stability import StabilityDisplay
from superfactor.plotting.stable_features import StableFeaturesDisplay

__all__ = [
    "BiplotDisplay",
    "CVSurfaceDisplay",
    "ConvergenceDisplay",
    "CorrelationCircleDisplay",
    "FactorsDisplay",
    "HeatmapDisplay",
    "SamplesDisplay",
    "ScreeDisplay",
    "StabilityDisplay",
    "StableFeaturesDisplay",
]
