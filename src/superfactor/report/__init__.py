"""One self-contained HTML page about a fitted classifier.

================ ===============================================================================
file             idea
================ ===============================================================================
``writing``      ``write_report``
``facts``        everything the page tells, computed once
``nameless``     a model without the names of its columns, for speed
``evaluation``   accuracy with its interval, ROC, confusion
``certificate``  the proof of optimality in plain words
``sections/``    one file per tab: numbers, text and tables, and what is drawn there
``page``         sections, payload, style and script in one file
``text``         names, numbers and tables, escaped
``assets/``      the style sheet and the scripts that draw, one file per figure
================ ===============================================================================
"""

from superfactor.report.writing import write_report

__all__ = ["write_report"]
