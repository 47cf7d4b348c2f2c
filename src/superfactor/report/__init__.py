"""One self-contained HTML page about a fitted model, and its paragraph for a paper.

===================== ==========================================================================
file                  idea
===================== ==========================================================================
``writing``           ``write_report`` and ``methods_paragraph``
``facts/``            everything the page tells, computed once
``methods``           the paragraph for the methods section of a paper
``certificate``       the proof of optimality in plain words
``formats``           names and numbers as text, one function for each kind
``sections/``         the tabs: plain values, and what is drawn there
``templates/``        one file per tab: what is said, in HTML; everything is escaped
``page``              sections, payload, style and script in one file
``assets/``           the style sheet, the scripts that draw, one file per figure, and the glossary
===================== ==========================================================================
"""

from superfactor.report.writing import methods_paragraph, write_report

__all__ = ["methods_paragraph", "write_report"]
