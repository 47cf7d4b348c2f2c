"""Everything the page tells, computed once.

===================== ==========================================================================
file                  idea
===================== ==========================================================================
``gathering``         ``gather``: from a model and its samples to ``Facts``
``facts``             ``Facts``, and what follows from them: verdict, roles, figures
``search``            ``Searched``: what a fitted search, or a record of one, tells
``samples``           samples with what the model says about them
``effects``           what factors do to the classes, together and each by itself
``feature_results``           what single features are good for: tests, markers, which of them return
``gaps``              what was missing, and how it was filled in
``nameless``          a model without the names of its columns, for speed
===================== ==========================================================================
"""

from superfactor.report.facts.effects import alone, alone_samples, directions
from superfactor.report.facts.facts import Facts
from superfactor.report.facts.gathering import gather
from superfactor.report.facts.samples import SampleResults
from superfactor.report.facts.search import Searched

__all__ = ["Facts", "SampleResults", "Searched", "alone", "alone_samples", "directions", "gather"]
