"""From the files of a command to one table: read, told what they are, joined where there are several."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from superfactor.tables.errors import TableError
from superfactor.tables.joining.ranges import Ranges
from superfactor.tables.roles import Columns

if TYPE_CHECKING:
    import pandas as pd

LAYOUTS = ("auto", "samples", "features")
# Told what is being read; gives what is called with bytes done and in all, or None.
Told = Callable[[str], AbstractContextManager[Callable[[int, int], None] | None]]
EXCEL, ANNOTATED = frozenset([".xlsx", ".xlsm"]), frozenset([".h5ad", ".h5mu"])


def silent(text: str) -> AbstractContextManager[None]:
    """Nobody watches."""
    return nullcontext()


@dataclass(frozen=True)
class Source:
    """The files of a command.

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

    def like(self, about: dict[str, Any]) -> Source:
        """Laid out as the files of a model with this metadata, unless the command says otherwise."""
        endings = {path.suffix.lower() for path in self.files}
        return replace(
            self,
            layout=self.layout or about.get("layout"),
            sheet=self.sheet or (about.get("sheet") if endings & EXCEL else None),
            layer=self.layer or (about.get("layer") if endings & ANNOTATED else None),
        )

    @property
    def files(self) -> list[Path]:
        """All of them."""
        every = [self.table, *(path for _, path in self.blocks), self.phenotype]
        return [workbook_and_sheet(path)[0] for path in every if path is not None]

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


@dataclass(frozen=True)
class Study:
    """All that the files say, one sample a row.

    Attributes
    ----------
    path : the first file, for messages
    title : names of all files, for people
    frame : DataFrame of n rows: columns that may have a role and, where `matrix` is None, the features
    columns : roles, with the defaults that show only now
    matrix : (n, p) features, dense or CSR, or None
    features : their names, or None
    blocks : name → (first, behind the last) of the features of a block; empty where there are none
    joined : who was lost in a join and why, as `superfactor.tables.joining.joining` counts them
    notes : what the user should know about how the files were read
    """

    path: Path
    title: str
    frame: pd.DataFrame
    columns: Columns
    matrix: Any = None
    features: Sequence[str] | None = None
    blocks: Ranges = field(default_factory=dict)
    joined: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """What messages call it that could be about any of the files."""
        return self.title if self.joined else str(self.path)


def read(
    source: Source,
    columns: Columns,
    told: Told = silent,
    *,
    words: Sequence[str] = (),
    wanted: Collection[str] | None = None,
) -> Study:
    """The samples of all files.

    Parameters
    ----------
    words : columns that are kept as they are written, as labels and names of samples are
    wanted : names of the features, or None for every column without a role
    """
    text = [name for name in (columns.target, columns.id, *words) if name is not None]
    people = None
    if source.phenotype is not None:
        # Its rows are samples whatever the layout of the tables.
        plain = replace(source, layout="samples", layer=None)
        people = _open(plain, source.phenotype, text, told)
    tables = {}
    for name, path in source.tables:
        tables[name] = _open(source, path, text, told)
        if people is not None and _has_samples_in_columns(source, tables[name], people.frame):
            turned = replace(source, layout="features")
            tables[name] = _open(turned, path, text, told)
    if source.phenotype is None and len(tables) == 1:
        ((_, table),) = tables.items()
        return Study(
            source.path,
            source.title,
            table.frame,
            with_defaults(columns, table.frame),
            table.matrix,
            table.features,
            dict(table.blocks),
            notes=tuple(table.notes),
        )
    if people is not None and len(tables) == 1:
        ((_, table),) = tables.items()
        if not len(table.frame.columns):
            return _in_order(source, table, people, columns)
    from superfactor.tables.joining.joining import join

    files = [*tables.values(), *([] if people is None else [people])]
    with naming_sheet(note for table in files for note in table.notes):
        return join(source, tables, people, columns, wanted)


@contextmanager
def naming_sheet(notes: Iterable[str]) -> Iterator[None]:
    """What is wrong with a table may be that another sheet of the workbook was meant."""
    try:
        yield
    except TableError as error:
        read = [note for note in notes if note.startswith("sheet ")]
        if not read:
            raise
        raise TableError(f"{error} ({', '.join(read)}: --sheet names another)") from error


def _in_order(source: Source, table: Any, people: Any, columns: Columns) -> Study:
    """A matrix without names of samples, beside a phenotype file with a row for each."""
    assert source.phenotype is not None
    n, m = len(table.frame), len(people.frame)
    if n != m:
        raise TableError(
            f"{source.path}: {n} rows without names of samples, but {source.phenotype} has {m}; the same "
            "number is required, in the same order"
        )
    note = f"{source.path.name} has no names of samples: they are in the order of {source.phenotype.name}"
    return Study(
        source.path,
        source.title,
        people.frame,
        with_defaults(columns, people.frame),
        table.matrix,
        table.features,
        dict(table.blocks),
        notes=(*table.notes, *people.notes, note),
    )


def _has_samples_in_columns(source: Source, table: Any, people: pd.DataFrame) -> bool:
    """Whether columns of a table are called by names that the phenotype file has for samples."""
    if source.layout not in (None, "auto") or table.matrix is not None:
        return False
    columns = set(table.frame.columns)
    words = [name for name, kind in people.dtypes.items() if kind.kind == "O"]
    return any(2 * len(columns.intersection(people[name])) > len(columns) for name in words)


def with_defaults(columns: Columns, frame: pd.DataFrame) -> Columns:
    """Target and names of samples where the table itself says which they are."""
    from superfactor.tables.grids.cells import CUMIDA, ROW_NAMES

    names = list(frame.columns[:2])
    cumida = tuple(names) == CUMIDA
    target = columns.target or (CUMIDA[1] if cumida else None)
    sample = columns.id or (CUMIDA[0] if cumida else None)
    if sample is None and names[:1] == [ROW_NAMES]:
        sample = ROW_NAMES
    return replace(columns, target=target, id=sample)


def _open(source: Source, path: Path, text: Sequence[str], told: Told) -> Any:
    """The TableFile of one of the files; of what the command says only that which can be said of it."""
    from superfactor.tables.files.opening import open_table

    file, sheet = workbook_and_sheet(path)
    several = len(source.files) > 1
    kind = file.suffix.lower()
    annotated, excel = kind in ANNOTATED, kind in EXCEL
    with told(f"reading {file.name}") as progress:
        return open_table(
            file,
            layout="auto" if several and annotated else source.layout or "auto",
            sheet=sheet or (source.sheet if excel or not several else None),
            layer=source.layer if annotated or not several else None,
            text=text,
            progress=progress,
        )


def workbook_and_sheet(path: Path) -> tuple[Path, str | None]:
    """``book.xlsx:clinical`` is a sheet of a workbook, so that two of them can be joined."""
    name, colon, sheet = path.name.rpartition(":")
    if not colon or not name.lower().endswith((".xlsx", ".xlsm")):
        return path, None
    return path.with_name(name), sheet
