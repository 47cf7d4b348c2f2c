"""All top features in one table, to search and to take along."""

from __future__ import annotations

from superfactor.interpretation.tables import ENDS, extremes
from superfactor.report.facts import Facts
from superfactor.report.section import Section
from superfactor.report.sections.factors import per_end
from superfactor.report.sections.stability import frequencies
from superfactor.report.text import LONGEST_NOTE, fixed, label, table

_TOOLS = """<div class="controls tools">
<label class="control">Search <input type="search" id="search" autocomplete="off" spellcheck="false"></label>
<button type="button" id="copy-csv">Copy as CSV</button>
<button type="button" id="download-csv">Download CSV</button>
<span id="found" class="quiet" role="status"></span></div>"""


def section(facts: Facts) -> Section:
    """The extreme features of every factor."""
    returned = frequencies(facts)
    head = ["Feature", "Factor", "End", "Rank", "Weight, scaled", "Weight"]
    head += ["Returns"] if returned else []
    head += ["Note"] if facts.markers else []
    kind = "features noted" if facts.markers else "features"
    view, most, rows = facts.view, per_end(facts.rank), []
    for j, scaled in enumerate(view.scaled):
        for end, positions in zip(ENDS, extremes(scaled, most), strict=True):
            for rank, i in enumerate(positions, start=1):
                name = view.features[i]
                row = [label(name), str(j + 1), end, str(rank), fixed(float(scaled[i]))]
                row.append(f"{view.weights[j, i]:.4g}".replace("-", "−"))
                row += [returned.get((j + 1, end, name), "")] if returned else []
                row += (
                    [label(facts.markers[name], LONGEST_NOTE) if name in facts.markers else ""]
                    if facts.markers
                    else []
                )
                rows.append(row)
    html = (
        f"<p>Up to {most} features at each end of each supervised factor. Scaled weights lie "
        "between −1 and 1, the others are in the units of the fit.</p>"
        + _TOOLS
        + table("Top features", head, rows, numbers=range(1, 7 if returned else 6), kind=kind)
    )
    return Section("features", "Features", "The top features of every factor", html)
