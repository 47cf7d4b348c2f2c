"""What a file of samples holds, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from superfactor.tables.notes import Note

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TableFile"]


@dataclass(frozen=True)
class TableFile:
    """The samples of one file.

    Attributes
    ----------
    frame : DataFrame (n, columns), one sample a row
        As `read_table` gives it: float64 with NaN, or text with None. Names of samples that have no
        column of their own are in ``row name``. The index says where a sample stands in the file.
    matrix : None, or (n, p) float64, an array or CSR
        The features of a file that keeps them apart from what else is known of the samples. None for
        a table, whose features are columns of `frame`.
    features : list of str, optional
        None, or a list of p different names, those of the columns of `matrix`.
    blocks : dict from the name of a modality to the (start, stop) of its columns in `matrix`
        Empty where there are none.
    notes : tuple of Note
        How the file was read; each is a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.tables import open_table
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two.npz")
    >>> np.savez(path, X=[[1, 2, 3], [4, 5, 6]], y=["a", "b"], feature_names=["f", "g", "h"])
    >>> table = open_table(path)
    >>> table.frame["y"].tolist(), table.matrix.shape, table.features
    (['a', 'b'], (2, 3), ['f', 'g', 'h'])
    """

    frame: pd.DataFrame
    matrix: Any = None
    features: list[str] | None = None
    blocks: dict[str, tuple[int, int]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
