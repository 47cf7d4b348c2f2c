"""Tables with features in rows and samples in columns: recognised where that is sure, and turned round."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from superfactor.tables.grids.cells import ROW_NAMES, is_number, some, stripped, unique
from superfactor.tables.grids.feature_names import IDENTIFIER, kind_of_names
from superfactor.tables.grids.grid import Grid, frame
from superfactor.tables.notes import FileError, Note, Setting, note

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["has_features_in_rows", "perhaps", "turned"]

# What is told of a probe or gene beside its values; in lower case, letters and digits only.
_ANNOTATIONS = frozenset([
    "accession", "assembly", "biotype", "chr", "chrom", "chromosome", "cytoband", "description",
    "end", "ensembl", "ensemblgeneid", "ensemblid", "entrez", "entrezgene", "entrezgeneid",
    "entrezid", "gbacc", "gene", "geneassignment", "geneid", "genelength", "genename",
    "genesymbol", "genetitle", "genetype", "hgncid", "hgncsymbol", "hugosymbol", "id", "idref",
    "length", "probeid", "probesetid", "proteinid", "proteinname", "refseq", "refseqtranscriptid",
    "start", "stop", "strand", "symbol", "targetid", "transcriptid", "transcriptlength",
    "unigene", "uniprot", "width",
])  # fmt: skip


# Fewer columns of numbers are results about features rather than samples.
_FEWEST = 5


def has_features_in_rows(grid: Grid, text: Collection[str]) -> bool:
    """Is it sure that the rows of this table are features?

    Parameters
    ----------
    text : names that the user has asked for, such as that of the labels
        Where one is a column, columns are no samples; where one is a row, rows are no samples.
    """
    names = _row_names(grid)
    if names is None or (text and not set(text).isdisjoint(grid.names[1:])):
        return False
    if text and not set(text).isdisjoint(names):
        return True
    kind = kind_of_names(names)
    if kind is None:
        return False
    aside = _annotations(grid)
    if any(j and j not in aside for j in grid.texts):
        return False  # it may hold the labels
    samples = [name for j, name in enumerate(grid.names) if j and j not in aside]
    if len(samples) < _FEWEST or kind_of_names(samples) is not None:
        return False
    return kind == IDENTIFIER or len(names) > len(samples)


def perhaps(grid: Grid) -> tuple[Note, ...]:
    """A note on a table that was not turned round although its rows are called like features."""
    names = _row_names(grid)
    if names is None or kind_of_names(names) is None:
        return ()
    said = f"rows are called like features ({some(names, 2)}) but count as samples; "
    return (note("layout", said, Setting("layout", "features"), " turns the table round"),)


def turned(path: Path, grid: Grid) -> tuple[pd.DataFrame, tuple[Note, ...]]:
    """The table with a row for each sample, and notes.

    Names of samples, the header, are in the column ``row name``; rows with text become columns of text;
    columns that tell something of the features are left out.
    """
    if grid.kept is None:
        raise FileError(
            f"{path}: with features in rows there is text in too many of them (column "
            f"{grid.names[min(grid.stray)]!r}, for one); check the layout, or leave out what is no number"
        )
    aside = _annotations(grid) | {j for j in grid.texts if j}
    for j in grid.texts:
        if j:
            _refuse_sample_with_text(path, grid, j)
    samples = [j for j in grid.numeric if j not in aside]
    if not samples:
        raise FileError(f"{path}: with features in rows every sample is a column of numbers; there are none")
    nameless = [f"{grid.unit} {grid.where[row]}" for row, name in enumerate(grid.texts[0]) if name is None]
    called = iter(nameless)
    names = unique(path, [name or next(called) for name in grid.texts[0]], [ROW_NAMES], "rows")
    place = {j: k for k, j in enumerate(grid.numeric)}
    block = grid.block[:, [place[j] for j in samples]] if len(samples) < len(place) else grid.block
    texts: dict[str, Any] = {ROW_NAMES: [grid.names[j] for j in samples]}
    for row, cells in grid.kept.items():
        texts[names[row]] = [stripped(cells[j]) for j in samples]
    numeric = [name for name in names if name not in texts]
    if len(numeric) < len(names):
        block = block[[row not in grid.kept for row in range(len(names))]]
    order = [ROW_NAMES, *names]
    said = f"features in rows: turned round to {len(samples):,} samples with {len(names):,} columns ("
    notes = [note("layout", said, Setting("layout", "samples"), " leaves it as it is)")]
    if nameless:
        notes.append(note("names", f"features without a name are called by their place: {some(nameless)}"))
    if aside:
        others = [grid.names[j] for j in sorted(aside)]
        notes.append(note("left out", f"what the table tells of the features is left out: {some(others, 5)}"))
    # The transpose is a view, and the layout that pandas likes best.
    return frame(order, block.T, numeric, texts, [j + 1 for j in samples], "column"), tuple(notes)


def _row_names(grid: Grid) -> list[str] | None:
    """The first column, if it can name features: text that seldom repeats, hardly an empty cell.

    Several probes of one gene are usual, and so are some of none.
    """
    cells = grid.texts.get(0)
    if cells is None or len(grid.names) < 2:
        return None
    names = [cell for cell in cells if cell is not None]
    return names if 2 * len(set(names)) > len(cells) else None


def _annotations(grid: Grid) -> set[int]:
    """Columns that tell something of features: by name, or text that hardly ever repeats."""
    aside = {j for j, name in enumerate(grid.names) if j and _plain(name) in _ANNOTATIONS}
    for j, cells in grid.texts.items():
        given = [cell for cell in cells if cell is not None]
        if j and 2 * len(set(given)) > len(given):
            aside.add(j)
    return aside


def _refuse_sample_with_text(path: Path, grid: Grid, column: int) -> None:
    """A column that begins with text and goes on with numbers is a sample with a slip in it."""
    cells = grid.texts[column]
    words = [cell for cell in cells if cell is not None and not is_number(cell)]
    if 2 * len(words) < sum(cell is not None for cell in cells):
        first = next((row for row, cell in enumerate(cells) if cell in words), 0)
        raise FileError(
            f"{path}: {cells[first]!r} is not a number, at {grid.unit} {grid.where[first]}, column "
            f"{grid.names[column]!r}; put a number there, nothing if it is not known, or leave the column out"
        )


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
