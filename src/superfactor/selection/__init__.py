"""How many factors, with which weights, and how well that predicts: scree, search, scores, verdict."""

from superfactor.selection.classifier import SMFClassifierCV
from superfactor.selection.figures import NestedScores
from superfactor.selection.nested import nested_scores
from superfactor.selection.rank import Scree, elbow, scree
from superfactor.selection.regressor import SMFRegressorCV
from superfactor.selection.verdict import Verdict

__all__ = [
    "NestedScores",
    "SMFClassifierCV",
    "SMFRegressorCV",
    "Scree",
    "Verdict",
    "elbow",
    "nested_scores",
    "scree",
]
