"""Gene expression data included in the package: prostate tumours, and CD4 and CD8 T cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Microarray", "load_prostate", "load_t_cells"]

# Logarithms of intensities or of ratios stay below this; raw intensities reach hundreds to ten thousands.
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
        Repeated names are numbered: TP53, TP53.1.
    source : str
        The source of the data, in one line.

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
        """Whether the values look like logarithms: none exceeds 30 in size. Signs are not used, since
        background-corrected intensities may be negative."""
        return bool(np.max(np.abs(self.X)) <= _LARGEST_LOGARITHM)

    def log2(self) -> Microarray:
        """Return the data on the log2 scale, log2(max(x, 1)), as ``superfactor fit --log2`` does; unchanged
        if the values are logarithms already."""
        if self.logged:
            return self
        X = np.log2(np.maximum(self.X, 1.0))
        return replace(self, X=X, source=f"{self.source}, as log2(max(x, 1))")


def load_prostate() -> Microarray:
    """Load the expression of 2,000 probes in 52 prostate tumours and 50 samples of normal prostate.

    Returns
    -------
    data : Microarray
        X (102, 2000), log2 of intensities, with intensities below 1 set to 1; y "normal" or "tumour".

    Notes
    -----
    Published by Singh et al., Gene expression correlates of clinical prostate cancer behavior, Cancer Cell 1
    (2002) 203–209; Affymetrix HG-U95Av2, 12,600 probes. Values are those of the R package datamicroarray,
    rounded to thousandths; its licence (MIT) is stored with the data. The 2,000 probes of largest variance
    are kept, chosen without the labels. The R package gives no probe names, so a probe is named by its
    position among the 12,600.

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
    """Load the expression of 747 genes in 192 single T cells from blood, 95 of them CD4 and 97 CD8.

    Returns
    -------
    data : Microarray
        X (192, 747), log(1 + x) of counts x scaled to 10,000 per cell; 0 where a gene was not detected.
        y "CD4" or "CD8"; features are gene symbols.

    Notes
    -----
    From the 68,579 blood cells of one donor in Zheng et al., Massively parallel digital transcriptional
    profiling of single cells, Nature Communications 8 (2017) 14049; data by 10x Genomics. Values are those of
    ``scanpy.datasets.pbmc68k_reduced().raw``: 700 of the cells and 765 highly variable genes. The T cells of
    these are kept, with the genes detected in any of them. Genes were chosen without the labels. scanpy's
    licence (BSD 3-Clause) is stored with the data; ``tools/t_cells_table.py`` makes the file.

    Labels are those of Zheng et al.: the sorted population whose expression a cell resembles most. CD4 cells
    are regulatory, memory and naive T cells; CD8 cells are cytotoxic and naive cytotoxic ones. The labels do
    not come from proteins on the cell, so a prediction only agrees with that comparison, from fewer genes.

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
    """Return all arrays of a bundled file; X is in thousandths."""
    data = files("superfactor.datasets").joinpath(f"data/{name}.npz")
    with data.open("rb") as file, np.load(file) as table:
        return dict(table)
