"""The two models as lifted problems: state them, activate, pull back, un-lift."""

from superfactor.lifting.basis import GrowingBasis, Vectors
from superfactor.lifting.block import SampleBlock
from superfactor.lifting.design import ArrayDesign, SampledDesign
from superfactor.lifting.factors import Factors
from superfactor.lifting.facts import Facts
from superfactor.lifting.feature import FeatureProblem
from superfactor.lifting.filter import FilterProblem
from superfactor.lifting.problem import LiftedProblem
from superfactor.lifting.ridge import fit_ridge
from superfactor.lifting.sampled import SampledProblem
from superfactor.lifting.samples import LocalSamples, Samples
from superfactor.lifting.statement import restate, state_problem
from superfactor.lifting.streamed import SampleTable, state_sampled
from superfactor.lifting.subsample import subsample_share, subsampled

__all__ = [
    "ArrayDesign",
    "Factors",
    "Facts",
    "FeatureProblem",
    "FilterProblem",
    "GrowingBasis",
    "LiftedProblem",
    "LocalSamples",
    "SampleBlock",
    "SampleTable",
    "SampledDesign",
    "SampledProblem",
    "Samples",
    "Vectors",
    "fit_ridge",
    "restate",
    "state_problem",
    "state_sampled",
    "subsample_share",
    "subsampled",
]
