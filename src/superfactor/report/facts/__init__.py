"""Everything the page tells, computed once.

===================== ==========================================================================
file                  idea
===================== ==========================================================================
``gathering``         ``gather``: from a model and its samples to ``Facts``
``samples``           samples with what the model says about them
``evaluation``        accuracy with its interval, ROC, confusion
``own``               how each factor goes with the classes by itself
``trusted``           what single features are good for: tests, markers, which of them return
``gaps``              what was missing, and how it was filled in
``nameless``          a model without the names of its columns, for speed
``verdict``           what the first box says, and its colour
===================== ==========================================================================
"""

from superfactor.report.facts.gathering import Facts, class_effects, directions, gather

__all__ = ["Facts", "class_effects", "directions", "gather"]
