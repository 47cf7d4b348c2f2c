"""Several tables in one model: where each factor lies, and where the prediction comes from."""

from __future__ import annotations

from typing import Any

from superfactor.interpretation.blocks import REST
from superfactor.interpretation.roles import BACKGROUND
from superfactor.report.facts import Facts
from superfactor.report.formats import label
from superfactor.report.section import Section
from superfactor.report.sections.samples import factor_names


def section(facts: Facts) -> Section | None:
    """`block_shares` as tables; None where the pipeline has no BlockScaler."""
    table = facts.block_table
    if table is None:
        return None
    together = table[table["factor"] == "all"]
    names = together["block"].tolist()
    told = {
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
    heading = "What each block of features has of the factors"
    return Section("blocks", "Blocks", heading, told)


def _by_factor(facts: Facts, column: str) -> list[tuple[str, list[Any]]]:
    """The name of each factor, and its values in the order of the blocks."""
    single = facts.block_table[facts.block_table["factor"] != "all"]
    rows = [part[column].tolist() for _, part in single.groupby("factor", sort=True)]
    return list(zip(factor_names(facts), rows, strict=True))
