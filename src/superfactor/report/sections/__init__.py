"""The tabs of the page: the plain values their templates say, and what is drawn there.

A tab is a function ``(facts) -> Section``, or None where the facts say nothing about it. Words are in
``templates/<id>.html``, figures in ``assets/``.
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
