"""The tabs of the page: values for the templates and data for the figures.

A tab is a function ``(facts) -> Section``; it returns None if there are no results for it. The text is in
``templates/<id>.html``, the figures are in ``assets/``.
"""

from superfactor.report.sections import factors, features, prediction, result, samples, stability
from superfactor.report.sections.fit import choice, convergence
from superfactor.report.sections.reuse import glossary, paper, reproduce
from superfactor.report.sections.steps import blocks, confounders

#: In the order of the tabs.
SECTIONS = (
    result.section,
    prediction.section,
    factors.section,
    blocks,
    confounders,
    samples.section,
    features.section,
    stability.section,
    choice,
    convergence,
    paper,
    reproduce,
    glossary,
)

__all__ = ["SECTIONS"]
