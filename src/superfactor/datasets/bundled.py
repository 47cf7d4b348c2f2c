"""Gene expression that comes with the package: prostate tumours, and CD4 and CD8 T cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Microarray", "load_prostate", "load_t_cells"]

# Logarithms of intensities or of ratios stay below; intensities reach hundreds to ten thousands.
_LARGEST_LOGARITHM = 30.0


@dataclass(frozen=True)
class Microarray:
    """Expression of p genes (or probes) in n samples.

    Attributes
    ----------
    name : str
        Such as "Breast_GSE70947".
    X : array of shape (n, p) of float64
        Expression.
    y : array of shape (n,) of str
        The class of each sample.
    features : array of shape (p,) of str
        Where several have one name they are numbered, TP53, TP53.1.
    source : str
        One line saying which file this is.

    Examples
    --------
    >>> from superfactor.datasets import load_prostate
    >>> data = load_prostate()
    >>> data.X.shape, data.y.shape, data.logged
    ((102, 2000), (102,), True)
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.str_]
    features: NDArray[np.str_]
    source: str

    @property
    def logged(self) -> bool:
        """Do the values look like logarithms? No sign decides (background-corrected intensities may be
        negative); the size does, at most 30 throughout."""
        return bool(np.max(np.abs(self.X)) <= _LARGEST_LOGARITHM)

    def log2(self) -> Microarray:
        """The same on the log2 scale: log2(max(x, 1)), as ``superfactor fit --log2`` has it, or
        unchanged where the values are logarithms already."""
        if self.logged:
            return self
        X = np.log2(np.maximum(self.X, 1.0))
        return replace(self, X=X, source=f"{self.source}, as log2(max(x, 1))")


def load_prostate() -> Microarray:
    """Expression of 2,000 probes in 52 prostate tumours and 50 samples of normal prostate.

    Returns
    -------
    data : Microarray
        X (102, 2000), log2 of intensities, those below 1 counted as 1; y "normal" or "tumour".

    Notes
    -----
    Published by Singh et al., Gene expression correlates of clinical prostate cancer behavior, Cancer Cell 1
    (2002) 203–209; Affymetrix HG-U95Av2, 12,600 probes. Values as in the R package datamicroarray, rounded
    to thousandths; its licence (MIT) lies beside the data. The 2,000 probes that vary most are kept: no
    label was looked at. A probe is named by its place among the 12,600, since that package gives no names.

    Examples
    --------
    >>> from superfactor.datasets import load_prostate
    >>> data = load_prostate()
    >>> data.X.shape, str(data.y[0]), str(data.features[0])
    ((102, 2000), 'tumour', 'probe_2')
    """
    table = _arrays("prostate")
    names = np.array([f"probe_{number}" for number in table["probe"]])
    source = "Singh et al. 2002, 2,000 probes that vary most"
    return Microarray("Prostate_Singh", table["X"] / 1000.0, table["y"], names, source)


def load_t_cells() -> Microarray:
    """Expression of 747 genes in 192 single T cells from blood, 95 of them CD4 and 97 CD8.

    Returns
    -------
    data : Microarray
        X (192, 747), log(1 + x) of counts x scaled to 10,000 in every cell; 0 where a gene was not
        seen. y "CD4" or "CD8"; features are gene symbols.

    Notes
    -----
    From the 68,579 blood cells of one donor in Zheng et al., Massively parallel digital transcriptional
    profiling of single cells, Nature Communications 8 (2017) 14049; data by 10x Genomics. Values as in
    ``scanpy.datasets.pbmc68k_reduced().raw``, 700 of the cells and 765 genes that vary much: of these the T
    cells, and the genes that were seen in any of them. No label was looked at to choose genes. scanpy's
    licence (BSD 3-Clause) lies beside the data; ``tools/t_cells_table.py`` makes the file.

    Labels are those of Zheng et al.: the sorted population that a cell's expression is most like. CD4 are
    regulatory, memory and naive T cells, CD8 cytotoxic and naive cytotoxic ones. No one looked for the
    proteins on the cell: to predict a label is to agree with that comparison, from fewer genes.

    Examples
    --------
    >>> from superfactor.datasets import load_t_cells
    >>> data = load_t_cells()
    >>> data.X.shape, str(data.y[0]), "CD8A" in data.features
    ((192, 747), 'CD4', True)
    """
    table = _arrays("t_cells")
    source = "Zheng et al. 2017, T cells of the 700 blood cells of scanpy"
    return Microarray("T_cells_Zheng", table["X"] / 1000.0, table["y"], table["gene"], source)


def _arrays(name: str) -> dict[str, NDArray[Any]]:
    """All arrays of a bundled file; X is in thousandths."""
    data = files("superfactor.datasets").joinpath(f"data/{name}.npz")
    with data.open("rb") as file, np.load(file) as table:
        return dict(table)
