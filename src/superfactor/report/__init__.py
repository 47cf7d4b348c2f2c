"""Reports: a self-contained HTML page about a fitted model, and a paragraph for a paper.

===================== ==========================================================================
file                  idea
===================== ==========================================================================
``writing``           ``write_report`` and ``methods_paragraph``
``facts/``            all results that the page shows, computed once
``methods``           the paragraph for the methods section of a paper
``certificate``       sentences about the certificate
``formats``           names and numbers as text, one function for each kind
``sections/``         the tabs: values for the templates and data for the figures
``templates/``        the text of the tabs in HTML; all values are escaped
``page``              the HTML file: sections, data, style and scripts
``assets/``           the style sheet, the scripts of the figures, and the glossary
===================== ==========================================================================
"""

from superfactor.report.writing import methods_paragraph, write_report

__all__ = ["methods_paragraph", "write_report"]
