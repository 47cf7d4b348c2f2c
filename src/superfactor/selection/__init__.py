"""How many factors, and with which weights: the scree, and a cross-validated search."""

from superfactor.selection.rank import Scree, elbow, scree
from superfactor.selection.search import SMFClassifierCV

__all__ = ["SMFClassifierCV", "Scree", "elbow", "scree"]
