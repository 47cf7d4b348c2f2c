"""The two models as lifted problems: state them, activate, pull back, un-lift."""

from superfactor.lifting.factors import Factors
from superfactor.lifting.feature import FeatureProblem
from superfactor.lifting.filter import FilterProblem
from superfactor.lifting.problem import LiftedProblem
from superfactor.lifting.ridge import fit_ridge
from superfactor.lifting.statement import restate, state_problem

__all__ = [
    "Factors",
    "FeatureProblem",
    "FilterProblem",
    "LiftedProblem",
    "fit_ridge",
    "restate",
    "state_problem",
]
