"""The two models as lifted problems: state them, activate, pull back, un-lift."""

from superfactor.lifting.basis import GrowingBasis, Vectors
from superfactor.lifting.block import Facts, SampleBlock
from superfactor.lifting.design import ArrayDesign, SampledDesign
from superfactor.lifting.factors import Factors
from superfactor.lifting.feature import FeatureProblem
from superfactor.lifting.filter import FilterProblem
from superfactor.lifting.problem import LiftedProblem
from superfactor.lifting.ridge import fit_ridge
from superfactor.lifting.sampled import SampledProblem
from superfactor.lifting.samples import LocalSamples, Samples
from superfactor.lifting.statement import restate, state_problem

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
    "SampledDesign",
    "SampledProblem",
    "Samples",
    "Vectors",
    "fit_ridge",
    "restate",
    "state_problem",
]
