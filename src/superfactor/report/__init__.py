"""One self-contained HTML page about a fitted classifier, and its paragraph for a paper.

===================== ==========================================================================
file                  idea
===================== ==========================================================================
``writing``           ``write_report``
``paragraph``         ``methods_paragraph``: what to write in the paper, as text
``facts``             everything the page tells, computed once
``samples``           samples with what the model says about them
``own``               how each factor goes with the classes by itself
``trusted``           what single features are good for: tests, markers, which of them return
``nameless``          a model without the names of its columns, for speed
``evaluation``        accuracy with its interval, ROC, confusion
``verdict``           what the first box says, and its colour
``certificate``       the proof of optimality in plain words
``ellipses``          where 95 % of a class would lie
``heat_map``          the top features against the samples, both clustered
``study``             what that paragraph has to tell, and how
``sections/``         one file per tab: plain values, and what is drawn there
``templates/``        one file per tab: what is said, in HTML; everything is escaped
``formats``           names and numbers as text, one function for each kind
``glossary``          words that are explained on hover
``page``              sections, payload, style and script in one file
``assets/``           the style sheet and the scripts that draw, one file per figure
===================== ==========================================================================
"""

from superfactor.report.paragraph import methods_paragraph
from superfactor.report.writing import write_report

__all__ = ["methods_paragraph", "write_report"]
