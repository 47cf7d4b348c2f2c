"""The files of a study, how each is opened, and their joined content."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from superfactor.tables.files.opening import ANNOTATED, EXCEL, LAYOUTS, open_table
from superfactor.tables.grids.cells import CUMIDA, ROW_NAMES
from superfactor.tables.grids.grid import TableFile
from superfactor.tables.notes import Note, Setting, TableError
from superfactor.tables.roles import Columns

if TYPE_CHECKING:
    import pandas as pd

# Called with a message; returns a context with None or a callable of (bytes done, total).
Progress = Callable[[str], AbstractContextManager[Callable[[int, int], None] | None]]


def no_progress(text: str) -> AbstractContextManager[None]:
    """Report no progress."""
    return nullcontext()


@dataclass(frozen=True)
class Sources:
    """The files of a study.

    Attributes
    ----------
    table : the table, or None if all features are in blocks
    blocks : further tables of the same samples, by name
    phenotype : a table with labels and other data of the samples, or None
    layout : the rows of tables and blocks, "samples" or "features"; None detects it
    sheet : the sheet of workbooks; None if each has only one
    layer : the layer of AnnData, or None for X
    missing : numbers or words that mean a missing value, in addition to empty cells and NA
    """

    table: Path | None = None
    blocks: tuple[tuple[str, Path], ...] = ()
    phenotype: Path | None = None
    layout: str | None = None
    sheet: str | None = None
    layer: str | None = None
    missing: tuple[str, ...] = ()

    def like(self, about: Mapping[str, Any]) -> Sources:
        """Return these files with layout, sheet, layer and codes of a record where none are given."""
        endings = {path.suffix.lower() for path in self.files}
        return replace(
            self,
            layout=self.layout or about.get("layout"),
            sheet=self.sheet or (about.get("sheet") if endings & {*EXCEL} else None),
            layer=self.layer or (about.get("layer") if endings & {*ANNOTATED} else None),
            missing=self.missing or tuple(about.get("missing", ())),
        )

    @property
    def files(self) -> list[Path]:
        """Paths of all files."""
        every = [self.table, *(path for _, path in self.blocks), self.phenotype]
        return [_workbook_and_sheet(path)[0] for path in every if path is not None]

    @property
    def path(self) -> Path:
        """The first file, named in messages."""
        return self.files[0]

    @property
    def title(self) -> str:
        """Names of all files, for display."""
        return " + ".join(str(path) for path in self.files)

    @property
    def tables(self) -> list[tuple[str, Path]]:
        """Block names and paths of the files with features."""
        first = [] if self.table is None else [(self.table.name.split(".")[0], self.table)]
        return [*first, *self.blocks]

    def open(self, path: Path, text: Sequence[str], progress: Progress) -> TableFile:
        """Open one of the files; options that do not apply to its format are ignored."""
        file, sheet = _workbook_and_sheet(path)
        several = len(self.files) > 1
        kind = file.suffix.lower()
        with progress(f"reading {file.name}") as report:
            return open_table(
                file,
                layout="auto" if several and kind in ANNOTATED else self.layout or "auto",
                sheet=sheet or (self.sheet if kind in EXCEL or not several else None),
                layer=self.layer if kind in ANNOTATED or not several else None,
                text=text,
                progress=report,
            )


def _workbook_and_sheet(path: Path) -> tuple[Path, str | None]:
    """Split ``book.xlsx:clinical`` into the workbook and its sheet."""
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
    missing: Any = (),
) -> Sources:
    """Check that all files are distinct; `files` is a path, blocks by name, or a Sources."""
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
    single = isinstance(missing, str) or not hasattr(missing, "__iter__")
    codes = tuple(str(code) for code in ([missing] if single else missing))
    found = Sources(None if files is None else Path(files), named, people, layout, sheet, layer, codes)
    names = [name for name, _ in found.tables]
    if len(set(names)) < len(names):
        line = (": ", Setting("files"), " already is a block of that name; rename one")
        raise TableError(Setting("blocks", {names[0]: "…"}), *line, kind="file")
    seen: set[Path] = set()
    for path in [*(path for _, path in found.tables), *([] if people is None else [people])]:
        if path.resolve() in seen:
            each = (Setting("files"), ", ", Setting("blocks"), " and ", Setting("phenotype"))
            raise TableError(f"{path}: the same file twice; ", *each, " must be different files", kind="file")
        seen.add(path.resolve())
    return found


# name of a block → (start, stop) of its features
Ranges = dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Combined:
    """The joined content of the files.

    Attributes
    ----------
    path : the first file, for messages
    title : names of all files, for display
    frame : DataFrame of n rows: columns that may have a role and, if `matrix` is None, the features
    roles : the roles, with defaults that depend on the table
    matrix : (n, p) features, dense or CSR, or None
    features : their names, or None
    blocks : (start, stop) of each block; empty without blocks
    joined : samples lost in a join and why, from `superfactor.tables.joining.joining`
    notes : messages about how the files were read
    dropped : features that a join has already left out
    """

    path: Path
    title: str
    frame: pd.DataFrame
    roles: Columns
    matrix: Any = None
    features: Sequence[str] | None = None
    blocks: Ranges = field(default_factory=dict)
    joined: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    dropped: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        """The file or files, for messages that may concern any of them."""
        return self.title if self.joined else str(self.path)

    def rows(self, keep: Any, *notes: Note) -> Combined:
        """Keep only the samples `keep` (n,), and add notes."""
        matrix = None if self.matrix is None else self.matrix[keep]
        return replace(self, frame=self.frame[keep], matrix=matrix, notes=(*self.notes, *notes))


def with_defaults(roles: Columns, frame: pd.DataFrame) -> Columns:
    """Fill in the target and the sample names of tables in a known form."""
    names = list(frame.columns[:2])
    cumida = tuple(names) == CUMIDA
    target = roles.target if roles.outcome or not cumida else (CUMIDA[1],)
    sample = roles.id or (CUMIDA[0] if cumida else None)
    if sample is None and names[:1] == [ROW_NAMES]:
        sample = ROW_NAMES
    return replace(roles, target=target, id=sample)


def ranges_of_kept(blocks: Mapping[str, tuple[int, int]], positions: Sequence[int]) -> Ranges:
    """Return the ranges of blocks after only the features at `positions` are kept."""
    ranges = {
        name: (bisect_left(positions, start), bisect_left(positions, stop))
        for name, (start, stop) in blocks.items()
    }
    return {name: (start, stop) for name, (start, stop) in ranges.items() if stop > start}
