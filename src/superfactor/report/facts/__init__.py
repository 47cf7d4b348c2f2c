"""All results that the page shows, computed once.

===================== ==========================================================================
file                  idea
===================== ==========================================================================
``gathering``         ``gather``: from a model and its samples to ``Facts``
``facts``             ``Facts``, with verdict, roles and metrics
``search``            ``Searched``: the results of a search
``samples``           names, outcomes, predictions and scores of samples
``effects``           effects of the factors on the outcome
``feature_results``   results of single features: tests, markers, stable features
``missing``           missing values and their imputation
``unnamed``           a copy of a model without column names, for speed
===================== ==========================================================================
"""

from superfactor.report.facts.effects import alone, alone_samples, directions
from superfactor.report.facts.facts import Facts
from superfactor.report.facts.gathering import gather
from superfactor.report.facts.samples import SampleResults
from superfactor.report.facts.search import Searched

__all__ = ["Facts", "SampleResults", "Searched", "alone", "alone_samples", "directions", "gather"]
