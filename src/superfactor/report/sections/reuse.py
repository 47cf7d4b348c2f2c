"""A paragraph for a paper, how to reproduce the page, and the glossary."""

from __future__ import annotations

import platform
import sys

import numpy
import scipy
import sklearn

import superfactor
from superfactor.report.facts import Facts
from superfactor.report.formats import label
from superfactor.report.methods import in_words
from superfactor.report.section import Section


def paper(facts: Facts) -> Section:
    """Return the paragraph for the methods section of a paper."""
    return Section("paper", "Paper", "Text for the paper", {"paragraph": in_words(facts)})


def reproduce(facts: Facts) -> Section:
    """Return the command, the parameters and the versions that reproduce the page."""
    versions = {
        "superfactor": superfactor.__version__,
        "Python": platform.python_version(),
        "NumPy": numpy.__version__,
        "SciPy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
    if "pandas" in sys.modules:
        versions["pandas"] = sys.modules["pandas"].__version__
    versions["System"] = f"{platform.system()} {platform.machine()}"
    parameters = facts.estimator.get_params(deep=False)
    content = {
        # The model as Python code if there was no command.
        "command": facts.command,
        "code": facts.command or repr(facts.model),
        "versions": list(versions.items()),
        "parameters": [(name, label(repr(value))) for name, value in parameters.items()],
    }
    return Section("reproduce", "Reproduce", "How to reproduce this page", content)


def glossary(facts: Facts) -> Section:
    """Return the glossary; the template has the terms."""
    return Section("glossary", "Glossary", "Terms on this page")
