"""Tables with features in rows and samples in columns: recognised where that is sure, and turned round."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from superfactor.tables.grids.cells import ROW_NAMES, is_number, some, stripped, unique
from superfactor.tables.grids.grid import Grid, frame
from superfactor.tables.notes import FileError, Note, Setting, note

if TYPE_CHECKING:
    import pandas as pd

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
    """Is it sure that the rows of this table are features?"""
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


IDENTIFIER, SYMBOLS = "identifier", "symbols"

_IDENTIFIER = re.compile(
    r"(AFFX-)?[\w/.-]+_at"  # Affymetrix: 1007_s_at
    r"|ENS[A-Z]{0,4}[EGTP]\d{9,}(\.\d+)?([_|].*)?"  # Ensembl
    r"|ILMN_\d+|A_\d+_P\d{4,}|TC\d{8,}\.hg\.\d"  # Illumina, Agilent, Clariom
    r"|cg\d{8}(_\w+)?|rs\d{5,}"  # CpG and SNP
    r"|[NX][MRP]_\d{5,}(\.\d+)?"  # RefSeq
    r"|(hsa|mmu|rno)-(mir|miR|let)-\S+"  # micro-RNA
    r"|chr(\d{1,2}|[XYM])[:_-]\d{3,}\S*|(\d{1,2}|[XYM]):\d{4,}\S*"  # places in a genome
    r"|(gene|probe|probeset|feature|transcript|protein|peptide|metabolite|otu|asv|cpg|snp|peak)[ _.-]?\d+",
    re.I,
)
_FAMILY = re.compile(
    r"(ZNF|ZFP|TMEM|CCDC|ANKRD|KRT|CXCL|CCL|COL|SLC|ABC|CYP|RPL|RPS|RPLP|HOX|TRIM|USP|RAB|WNT|FGF|MMP|ADAM"
    r"|KIF|PSM|NDUF|EIF|UBE2|MAP3K|MAPK|CDK|CDC|SERPIN|TUB|ITG|PCDH|CDH|LINC|LOC|KIAA|MIR|SNOR|FAM|FBX|GPR"
    r"|IGF|TNF|CD|HLA-|MT-|KCN|PPP|STAT|SMAD|SOX|GATA|BCL|CASP|ATP|DNAJ|HSP|MUC|CLDN|CEACAM|S100|WDR|ZBTB"
    r"|LRRC|TTC|DDX|POLR|ARHG|PLEK|MRP|COX|NUP|RNF|IL|OR|FOX|TAS2R|TBC1D|CLEC|PIK3|ALDH|AKR|GST|UGT|SULT)"
    r"(\d+[A-Z]{0,3}\d*[A-Z]?\d*|[A-Z]{1,2}\d+[A-Z]?\d*|[A-Z]{1,3})(-?AS\d)?(\.\d+)?",
    re.I,
)
_OPEN_FRAME = re.compile(r"C\d+orf\d+", re.I)
_MOST = 5000
_MEMBERS, _FAMILIES = 8, 5


def kind_of_names(names: Sequence[str]) -> str | None:
    """IDENTIFIER where nearly all are of a known form, SYMBOLS for a list of genes, else None."""
    names = names[:: max(1, len(names) // _MOST)]
    if not names:
        return None
    if sum(_IDENTIFIER.fullmatch(name) is not None for name in names) >= 0.8 * len(names):
        return IDENTIFIER
    found = [family[1].upper() for name in names if (family := _FAMILY.fullmatch(name))]
    found += ["ORF" for name in names if _OPEN_FRAME.fullmatch(name)]
    several = len(found) >= max(_MEMBERS, 0.05 * len(names)) and len(set(found)) >= _FAMILIES
    return SYMBOLS if several else None
