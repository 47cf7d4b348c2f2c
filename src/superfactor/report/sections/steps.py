"""Preprocessing steps: weighted blocks and subtracted confounders."""

from __future__ import annotations

from typing import Any

from superfactor.interpretation.blocks import REST
from superfactor.interpretation.confounders import TOGETHER
from superfactor.interpretation.roles import BACKGROUND
from superfactor.report.facts import Facts
from superfactor.report.formats import label
from superfactor.report.section import Section
from superfactor.report.sections.samples import factor_names


def blocks(facts: Facts) -> Section | None:
    """Return `block_shares` as tables; None without a BlockScaler."""
    table = facts.block_table
    if table is None:
        return None
    together = table[table["factor"] == "all"]
    names = together["block"].tolist()
    content = {
        "count": len([name for name in names if name != REST]),
        "names": [label(name) for name in names],
        "blocks": [row | {"name": label(row["block"])} for row in together.to_dict("records")],
        "lies": _by_factor(facts, "share_of_factor"),
        "explained": _by_factor(facts, "variance_explained"),
        "predicts": [
            row
            for row, role in zip(_by_factor(facts, "share_of_prediction"), facts.roles, strict=True)
            if role != BACKGROUND
        ],
    }
    heading = "Blocks of features in the factors"
    return Section("blocks", "Blocks", heading, content)


def _by_factor(facts: Facts, column: str) -> list[tuple[str, list[Any]]]:
    """Return the name of each factor, and its values in the order of the blocks."""
    single = facts.block_table[facts.block_table["factor"] != "all"]
    rows = [part[column].tolist() for _, part in single.groupby("factor", sort=True)]
    return list(zip(factor_names(facts), rows, strict=True))


def confounders(facts: Facts) -> Section | None:
    """Return `confounding` as a table; None without an Adjuster."""
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
    content = {
        "names": [label(name) for name in found.names],
        "removed": found.removed,
        "all_of_it": found.all_of_it,
        "held_out": found.test is not None,
        "columns": columns,
        "rows": rows,
    }
    return Section("confounders", "Confounders", "Confounders and the factors", content)
