"""How many factors, with which weights, and how well that predicts: scree, search, scores, verdict."""

from superfactor.selection.nested import NestedScores, nested_scores
from superfactor.selection.rank import Scree, elbow, scree
from superfactor.selection.search import SMFClassifierCV
from superfactor.selection.verdict import Verdict

__all__ = [
    "NestedScores",
    "SMFClassifierCV",
    "Scree",
    "Verdict",
    "elbow",
    "nested_scores",
    "scree",
]
