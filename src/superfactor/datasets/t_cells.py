"""CD4 and CD8 T cells: single cells with gene symbols that come with the package."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from superfactor.datasets.microarrays import Microarray

__all__ = ["load_t_cells"]


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
    with (
        files("superfactor.datasets").joinpath("data/t_cells.npz").open("rb") as file,
        np.load(file) as table,
    ):
        X, y, genes = table["X"] / 1000.0, table["y"], table["gene"]
    return Microarray(
        "T_cells_Zheng", X, y, genes, "Zheng et al. 2017, T cells of the 700 blood cells of scanpy"
    )
