"""Which files a study is made of, and how each of them is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from superfactor.tables.files.opening import ANNOTATED, EXCEL, LAYOUTS, open_table
from superfactor.tables.files.table_file import TableFile
from superfactor.tables.notes import Setting, TableError

__all__ = ["Progress", "Sources", "silent", "sources_of"]

# Told what is being read; gives what is called with bytes done and in all, or None.
Progress = Callable[[str], AbstractContextManager[Callable[[int, int], None] | None]]


def silent(text: str) -> AbstractContextManager[None]:
    """Nobody watches."""
    return nullcontext()


@dataclass(frozen=True)
class Sources:
    """The files of a study.

    Attributes
    ----------
    table : the table, or None where all features are in blocks
    blocks : further tables of the same samples, by name
    phenotype : a table with labels and whatever else is known of the samples, or None
    layout : whether "samples" or "features" are the rows of tables and blocks; None finds out
    sheet : of workbooks, or None for the first
    layer : of AnnData, or None for X
    """

    table: Path | None = None
    blocks: tuple[tuple[str, Path], ...] = ()
    phenotype: Path | None = None
    layout: str | None = None
    sheet: str | None = None
    layer: str | None = None

    def like(self, about: Mapping[str, Any]) -> Sources:
        """Laid out as the files of a study with this record, unless something else was said."""
        endings = {path.suffix.lower() for path in self.files}
        return replace(
            self,
            layout=self.layout or about.get("layout"),
            sheet=self.sheet or (about.get("sheet") if endings & {*EXCEL} else None),
            layer=self.layer or (about.get("layer") if endings & {*ANNOTATED} else None),
        )

    @property
    def files(self) -> list[Path]:
        """All of them."""
        every = [self.table, *(path for _, path in self.blocks), self.phenotype]
        return [_workbook_and_sheet(path)[0] for path in every if path is not None]

    @property
    def path(self) -> Path:
        """The first one, by which messages call the whole."""
        return self.files[0]

    @property
    def title(self) -> str:
        """What people see."""
        return " + ".join(str(path) for path in self.files)

    @property
    def tables(self) -> list[tuple[str, Path]]:
        """Those with features, by the names of the blocks they are."""
        first = [] if self.table is None else [(self.table.name.split(".")[0], self.table)]
        return [*first, *self.blocks]

    def open(self, path: Path, text: Sequence[str], progress: Progress) -> TableFile:
        """One of the files; of what is said of all, only that which can be said of it."""
        file, sheet = _workbook_and_sheet(path)
        several = len(self.files) > 1
        kind = file.suffix.lower()
        with progress(f"reading {file.name}") as told:
            return open_table(
                file,
                layout="auto" if several and kind in ANNOTATED else self.layout or "auto",
                sheet=sheet or (self.sheet if kind in EXCEL or not several else None),
                layer=self.layer if kind in ANNOTATED or not several else None,
                text=text,
                progress=told,
            )


def _workbook_and_sheet(path: Path) -> tuple[Path, str | None]:
    """``book.xlsx:clinical`` is a sheet of a workbook, so that two of them can be joined."""
    name, colon, sheet = path.name.rpartition(":")
    if not colon or not name.lower().endswith(EXCEL):
        return path, None
    return path.with_name(name), sheet


def sources_of(
    files: Any = None,
    blocks: Mapping[str, Any] | None = None,
    phenotype: Any = None,
    layout: str | None = None,
    sheet: str | None = None,
    layer: str | None = None,
) -> Sources:
    """The files, each of them once; `files` is a path, blocks by name, or a Sources."""
    if isinstance(files, Sources):
        return files
    if isinstance(files, Mapping):
        files, blocks = None, {**files, **(blocks or {})}
    if layout is not None and layout not in LAYOUTS:
        raise TableError(Setting("layout", layout), ": auto, samples or features is required", kind="layout")
    if files is None and not blocks:
        raise TableError(Setting("files"), " or ", Setting("blocks"), ": a table is required", kind="file")
    named = tuple((str(name), Path(file)) for name, file in (blocks or {}).items())
    people = None if phenotype is None else Path(phenotype)
    found = Sources(None if files is None else Path(files), named, people, layout, sheet, layer)
    names = [name for name, _ in found.tables]
    if len(set(names)) < len(names):
        said = (": ", Setting("files"), " is a block of that name already; rename one")
        raise TableError(Setting("blocks", {names[0]: "…"}), *said, kind="file")
    seen: set[Path] = set()
    for path in [*(path for _, path in found.tables), *([] if people is None else [people])]:
        if path.resolve() in seen:
            each = (Setting("files"), ", every ", Setting("blocks"), " and ", Setting("phenotype"))
            raise TableError(f"{path}: the same file twice; ", *each, " are files of their own", kind="file")
        seen.add(path.resolve())
    return found
