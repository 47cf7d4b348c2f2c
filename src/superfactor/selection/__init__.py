"""How many factors, with which weights, and how well that predicts: scree, search, scores, verdict."""

from superfactor.selection.copies import Copies, find_copies
from superfactor.selection.evaluation.external import ExternalScores, external_scores
from superfactor.selection.evaluation.figures import NestedScores
from superfactor.selection.evaluation.nested import nested_scores
from superfactor.selection.evaluation.verdict import Verdict
from superfactor.selection.rank import Scree, elbow, scree
from superfactor.selection.search.classifier import SMFClassifierCV
from superfactor.selection.search.kinds import search_for
from superfactor.selection.search.regressor import SMFRegressorCV
from superfactor.selection.search.survival import SMFSurvivalCV

__all__ = [
    "Copies",
    "ExternalScores",
    "NestedScores",
    "SMFClassifierCV",
    "SMFRegressorCV",
    "SMFSurvivalCV",
    "Scree",
    "Verdict",
    "elbow",
    "external_scores",
    "find_copies",
    "nested_scores",
    "scree",
    "search_for",
]
