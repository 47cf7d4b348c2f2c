"""One self-contained HTML page about a fitted classifier, and its paragraph for a paper.

===================== ==========================================================================
file                  idea
===================== ==========================================================================
``writing``           ``write_report``
``paragraph``         ``methods_paragraph``: what to write in the paper, as text
``facts/``            everything the page tells, computed once
``words/``            names, numbers, terms and proofs as text
``sections/``         the tabs: plain values, and what is drawn there
``templates/``        one file per tab: what is said, in HTML; everything is escaped
``page``              sections, payload, style and script in one file
``assets/``           the style sheet and the scripts that draw, one file per figure
===================== ==========================================================================
"""

from superfactor.report.paragraph import methods_paragraph
from superfactor.report.writing import write_report

__all__ = ["methods_paragraph", "write_report"]
