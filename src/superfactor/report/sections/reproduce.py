"""The command, the parameters and the versions that lead to the same page."""

from __future__ import annotations

import platform
import sys
from html import escape

import numpy
import scipy
import sklearn

import superfactor
from superfactor.report.facts import Facts
from superfactor.report.section import Section
from superfactor.report.text import details, label, pairs


def section(facts: Facts) -> Section:
    """What is needed to get here again."""
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
    html = (
        _command(facts)
        + "<h3>Versions</h3>"
        + pairs(versions.items())
        + details(
            "All parameters of the model", pairs((k, label(repr(v))) for k, v in parameters.items())
        )
    )
    return Section("reproduce", "Reproduce", "How to get here again", html)


def _command(facts: Facts) -> str:
    """The shell command, or the model as Python code where there was none."""
    if facts.command:
        name, code = "Command", facts.command
    else:
        name, code = "Model in Python", repr(facts.model)
    return (
        f'<h3>{name}</h3><pre tabindex="0" aria-label="{name}"><code id="command">{escape(code)}</code></pre>'
        '<div class="controls tools"><button type="button" id="copy-command">Copy</button>'
        '<span id="copied" class="quiet" role="status"></span></div>'
    )
