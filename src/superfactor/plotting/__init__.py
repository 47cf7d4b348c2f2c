"""Plots as scikit-learn Displays: make one with ``from_estimator``, change it through its axes.

====================== =========================================================================
file                   idea
====================== =========================================================================
``factors``            the features that go with each factor, under its coefficients
``samples``            samples in the space of two factors, coloured by class
``biplot``             the same, with arrows for the top features
``correlation_circle`` features by their correlations with two factors
``heatmap``            the top features in all samples, clustered
``scree``              how much each direction of X holds, with the elbow
``convergence``        the objective against iterations or seconds
``cv_surface``         the cross-validated score over ξ and λ
``stability``          how often top features return under resampling
``stable_features``    which features can be trusted
``drawing/``           what they share: figures, names, positions of samples
====================== =========================================================================

matplotlib is needed once something is drawn: ``pip install "superfactor[plot]"``. Nothing here
shows a figure, closes one or changes matplotlib's settings.
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
