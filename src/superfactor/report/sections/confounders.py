"""What was removed from the features, and what of it the factors would have held."""

from __future__ import annotations

from superfactor.interpretation.confounders import TOGETHER
from superfactor.report.facts import Facts
from superfactor.report.formats import label
from superfactor.report.section import Section
from superfactor.report.sections.samples import factor_names


def section(facts: Facts) -> Section | None:
    """`confounding` as a table; None where the pipeline has no Adjuster."""
    if facts.confounders is None:
        return None
    found = facts.confounders
    names, columns = factor_names(facts), ["Before", "After", "By chance"]
    tables = [found.train.to_dict("records")]
    if found.test is not None:
        tables.append(found.test.to_dict("records"))
        columns += ["Held-out, before", "Held-out, after", "By chance"]
    rows = []
    for parts in zip(*tables, strict=True):
        own = parts[0]
        together = own["confounder"] == TOGETHER and len(found.names) > 1
        rows.append(
            {
                "factor": names[own["factor"] - 1],
                "confounder": "all together" if together else label(own["confounder"]),
                "parts": [(part["before"], part["after"], part["chance"]) for part in parts],
            }
        )
    told = {
        "names": [label(name) for name in found.names],
        "removed": found.removed,
        "all_of_it": found.all_of_it,
        "held_out": found.test is not None,
        "columns": columns,
        "rows": rows,
    }
    return Section("confounders", "Confounders", "What confounders had of the factors", told)
