"""Make the table of `superfactor.datasets.load_t_cells` from the blood cells that scanpy ships.

    pip install scanpy
    python tools/t_cells_table.py

Kept are the cells whose label is one of five kinds of T cell, as CD4 or CD8, and the genes that were seen in
any of them: no gene is chosen by the labels. Values are those of ``.raw``, logarithms in thousandths, as the
file has them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scanpy

KINDS = {
    "CD4+/CD25 T Reg": "CD4",
    "CD4+/CD45RO+ Memory": "CD4",
    "CD4+/CD45RA+/CD25- Naive T": "CD4",
    "CD8+ Cytotoxic T": "CD8",
    "CD8+/CD45RA+ Naive Cytotoxic": "CD8",
}
HOME = Path(__file__).parent.parent / "src/superfactor/datasets/data/t_cells.npz"


def main() -> None:
    """Read all cells, keep some, write the package's file."""
    cells = scanpy.datasets.pbmc68k_reduced()
    labels = cells.obs["bulk_labels"].astype(str).map(KINDS)
    kept = labels.notna().to_numpy()
    values = np.round(1000 * cells.raw.X[kept].toarray().astype(float)).astype(np.int16)
    seen = values.any(axis=0)
    genes = np.asarray(cells.raw.var_names, dtype=str)[seen]
    np.savez_compressed(HOME, X=values[:, seen], y=labels[kept].to_numpy().astype(str), gene=genes)


if __name__ == "__main__":
    main()
