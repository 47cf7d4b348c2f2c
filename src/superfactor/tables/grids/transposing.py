"""Tables with features in rows and samples in columns: detected if certain, and transposed."""

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

# Names of annotation columns of probes or genes; in lower case, letters and digits only.
_ANNOTATIONS = frozenset([
    "accession", "assembly", "biotype", "chr", "chrom", "chromosome", "cytoband", "description",
    "end", "ensembl", "ensemblgeneid", "ensemblid", "entrez", "entrezgene", "entrezgeneid",
    "entrezid", "gbacc", "gene", "geneassignment", "geneid", "genelength", "genename",
    "genesymbol", "genetitle", "genetype", "hgncid", "hgncsymbol", "hugosymbol", "id", "idref",
    "length", "probeid", "probesetid", "proteinid", "proteinname", "refseq", "refseqtranscriptid",
    "start", "stop", "strand", "symbol", "targetid", "transcriptid", "transcriptlength",
    "unigene", "uniprot", "width",
])  # fmt: skip


# With fewer numeric columns, these are probably results about features rather than samples.
_FEWEST = 5


def has_features_in_rows(grid: Grid, text: Collection[str]) -> bool:
    """Return whether the rows of this table are certainly features."""
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
        return False  # a text column can hold the labels
    samples = [name for j, name in enumerate(grid.names) if j and j not in aside]
    if len(samples) < _FEWEST or kind_of_names(samples) is not None:
        return False
    return kind == IDENTIFIER or len(names) > len(samples)


def perhaps(grid: Grid) -> tuple[Note, ...]:
    """Return a note on a table that is not transposed although its row names look like features."""
    names = _row_names(grid)
    if names is None or kind_of_names(names) is None:
        return ()
    line = f"row names look like features ({some(names, 2)}), but rows are read as samples; "
    return (note("layout", line, Setting("layout", "features"), " transposes the table"),)


def turned(path: Path, grid: Grid) -> tuple[pd.DataFrame, tuple[Note, ...]]:
    """Return the table with one row per sample, and notes.

    The header, names of samples, becomes the column ``row name``. Rows with text become columns of text.
    Columns with annotations of features are left out.
    """
    if grid.kept is None:
        raise FileError(
            f"{path}: with features in rows, too many of them contain text (such as column "
            f"{grid.names[min(grid.stray)]!r}); check the layout, or leave out what is not a number"
        )
    aside = _annotations(grid) | {j for j in grid.texts if j}
    for j in grid.texts:
        if j:
            _refuse_sample_with_text(path, grid, j)
    samples = [j for j in grid.numeric if j not in aside]
    if not samples:
        raise FileError(f"{path}: with features in rows, samples are columns of numbers, but there are none")
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
    line = f"features in rows: transposed to {len(samples):,} samples with {len(names):,} columns ("
    notes = [note("layout", line, Setting("layout", "samples"), " keeps the table)")]
    if nameless:
        notes.append(note("names", f"features without a name are named by their place: {some(nameless)}"))
    if aside:
        others = [grid.names[j] for j in sorted(aside)]
        notes.append(note("left out", f"annotations of the features are left out: {some(others, 5)}"))
    # The transpose is a view, in the memory layout of pandas.
    return frame(order, block.T, numeric, texts, [j + 1 for j in samples], "column"), tuple(notes)


def _row_names(grid: Grid) -> list[str] | None:
    """Return the first column if it can name features: text with few repeats and few empty cells.

    Several probes of one gene are common, and so are probes without a gene.
    """
    cells = grid.texts.get(0)
    if cells is None or len(grid.names) < 2:
        return None
    names = [cell for cell in cells if cell is not None]
    return names if 2 * len(set(names)) > len(cells) else None


def _annotations(grid: Grid) -> set[int]:
    """Return columns with annotations of features: by name, or text with few repeats."""
    aside = {j for j, name in enumerate(grid.names) if j and _plain(name) in _ANNOTATIONS}
    for j, cells in grid.texts.items():
        given = [cell for cell in cells if cell is not None]
        if j and 2 * len(set(given)) > len(given):
            aside.add(j)
    return aside


def _refuse_sample_with_text(path: Path, grid: Grid, column: int) -> None:
    """Raise an error for a column that begins with text and continues with numbers."""
    cells = grid.texts[column]
    words = [cell for cell in cells if cell is not None and not is_number(cell)]
    if 2 * len(words) < sum(cell is not None for cell in cells):
        first = next((row for row, cell in enumerate(cells) if cell in words), 0)
        raise FileError(
            f"{path}: {cells[first]!r} is not a number, at {grid.unit} {grid.where[first]}, column "
            f"{grid.names[column]!r}; use a number or an empty cell, or leave the column out"
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
    """Return IDENTIFIER if nearly all names have a known form, SYMBOLS for a list of genes, else None."""
    names = names[:: max(1, len(names) // _MOST)]
    if not names:
        return None
    if sum(_IDENTIFIER.fullmatch(name) is not None for name in names) >= 0.8 * len(names):
        return IDENTIFIER
    found = [family[1].upper() for name in names if (family := _FAMILY.fullmatch(name))]
    found += ["ORF" for name in names if _OPEN_FRAME.fullmatch(name)]
    several = len(found) >= max(_MEMBERS, 0.05 * len(names)) and len(set(found)) >= _FAMILIES
    return SYMBOLS if several else None
