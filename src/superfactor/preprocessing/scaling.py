"""`ColumnScaler`: standardise all columns except some."""

from __future__ import annotations

from typing import Any, Self

from sklearn.preprocessing import StandardScaler

from superfactor.preprocessing.columns import positions_of


class ColumnScaler(StandardScaler):
    """scikit-learn's ``StandardScaler`` with columns that stay unchanged, such as exposures.

    Parameters
    ----------
    passthrough_columns : column name(s), index(es) or boolean mask, optional
        Columns that are neither centred nor scaled.
    copy, with_mean, with_std
        As for ``StandardScaler``.

    Examples
    --------
    >>> from superfactor.preprocessing.scaling import ColumnScaler
    >>> ColumnScaler([1]).fit_transform([[1.0, 5.0], [3.0, 7.0]]).tolist()
    [[-1.0, 5.0], [1.0, 7.0]]
    """

    def __init__(
        self,
        passthrough_columns: Any = None,
        *,
        copy: bool = True,
        with_mean: bool = True,
        with_std: bool = True,
    ):
        super().__init__(copy=copy, with_mean=with_mean, with_std=with_std)
        self.passthrough_columns = passthrough_columns

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn means and deviations of the columns of X (n, p); 0 and 1 for the unchanged ones."""
        super().fit(X, y, sample_weight)
        passed = positions_of(self.passthrough_columns, self, "passthrough_columns")
        if self.mean_ is not None:
            self.mean_[passed] = 0.0
        if self.scale_ is not None:
            self.scale_[passed] = 1.0
        return self
