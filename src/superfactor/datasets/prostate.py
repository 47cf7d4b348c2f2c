"""Prostate tumours and normal tissue: a gene-expression table that comes with the package."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from superfactor.datasets.microarrays import Microarray

__all__ = ["load_prostate"]


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
    with (
        files("superfactor.datasets").joinpath("data/prostate.npz").open("rb") as file,
        np.load(file) as table,
    ):
        X, y = table["X"] / 1000.0, table["y"]
        names = np.array([f"probe_{number}" for number in table["probe"]])
    return Microarray("Prostate_Singh", X, y, names, "Singh et al. 2002, 2,000 probes that vary most")
