"""Make the table of `superfactor.datasets.load_prostate` from the file of all probes.

    python tools/prostate_table.py singh_prostate_102x12600.npz

Intensities become log2(max(x, 1)), in thousandths. Of 12,600 probes the 2,000 whose logarithm varies most
are kept: chosen without the labels.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

PROBES = 2000
HOME = Path(__file__).parent.parent / "src/superfactor/datasets/data/prostate.npz"


def main(source: str) -> None:
    """Read all probes, keep some, write the package's file."""
    with np.load(source, allow_pickle=True) as z:
        X, y = z["X"], z["y"].astype(str)
    logs = np.log2(np.maximum(X, 1.0))
    kept = np.sort(np.argsort(-logs.var(axis=0), kind="stable")[:PROBES])
    values = np.round(1000 * logs[:, kept]).astype(np.int16)
    labels = np.array(["normal", "tumour"])[(y == "Tumor").astype(int)]
    np.savez_compressed(HOME, X=values, y=labels, probe=(kept + 1).astype(np.int16))


if __name__ == "__main__":
    main(sys.argv[1])
