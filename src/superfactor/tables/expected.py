"""Check new files against a fitted model: outcome columns, classes, blocks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from superfactor._words import listed
from superfactor.tables.joining.source import Combined, Sources
from superfactor.tables.notes import Setting, TableError, note, shortened


def with_outcome(
    combined: Combined, where: Path, names: tuple[str, ...], about: Mapping[str, Any]
) -> Combined:
    """Check the outcome columns and drop samples of classes that the fit left out as rare."""
    known_as = tuple(about.get("targets") or [about["target"]])
    for name in names:
        if name not in combined.frame.columns:
            known = about.get("y") or {"target": known_as}
            roles = [role for role, own in known.items() if name == own or (role == "target" and name in own)]
            other = (" with ", Setting(roles[0])) if roles else ()
            line = f"{where}: the column {name!r} with the outcome is missing; add it, or name the one that"
            raise TableError(f"{line} holds it", *other, kind="roles", column=name)
    if len(names) != len(known_as):
        raise TableError(
            f"{where}: the model predicts {listed(known_as)}; {len(known_as)} columns are required, "
            f"got {len(names)}",
            kind="roles",
        )
    few = about.get("rare", [])
    if not few:
        return combined
    keep = ~combined.frame[names[0]].isin(few).to_numpy()
    if keep.all():
        return combined
    line = f"{int((~keep).sum())} samples left out, of classes that the fit left out: {shortened(few)}"
    return combined.rows(keep, note("rare", line))


def check_blocks(source: Sources, combined: Combined, about: Mapping[str, Any]) -> None:
    """Check that each block's file holds features of that block."""
    blocks, features = about.get("blocks") or {}, about["features"].tolist()
    for name, path in source.blocks if blocks else ():
        if path.suffix.lower() == ".h5mu":  # contains several blocks
            continue
        given = Setting("blocks", {name: str(path)})
        if name not in blocks:
            line = f": the model has no block {name!r}; it has {shortened(list(blocks))}"
            raise TableError(given, line, kind="model")
        if combined.features is None:
            there = set(combined.frame.columns)
        else:
            ends = combined.blocks.get(name, (0, 0)) if combined.blocks else (0, None)
            there = set(combined.features[slice(*ends)])
        own = {other: features[slice(*blocks[other])] for other in blocks}
        if not there.intersection(own[name]):
            others = [other for other in blocks if there.intersection(own[other])]
            found = f", but those of {shortened(others)}" if others else ""
            raise TableError(
                given,
                f": none of the columns of the model's block {name!r} is in it{found}; "
                f"{shortened(own[name], 2)} are required",
                kind="model",
            )
