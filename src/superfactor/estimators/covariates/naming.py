"""Names of the columns of X and of the covariates of a fitted model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from superfactor._arrays import NumpyArray
from superfactor.estimators import inputs
from superfactor.estimators.covariates.roles import ColumnRoles


class NamedColumns:
    """Names of columns, for tables, plots and reports."""

    n_features_in_: int
    _names: dict[str, Any]
    _roles: ColumnRoles

    @property
    def component_names_(self) -> NumpyArray:
        names: NumpyArray | None = self._names["components"]
        if names is None:
            # Created on demand, because x0, x1, … of many columns take as long as a fit.
            names = inputs.names_without(self._roles.apart, self.n_features_in_, None)
        return names

    @component_names_.setter
    def component_names_(self, names: Any) -> None:
        # Not a plain attribute: scikit-learn requires those in the library of X, but names are NumPy arrays.
        self._names = {"components": names}

    @property
    def column_names_(self) -> NumpyArray | None:
        given = self._names.get("columns")
        return getattr(self, "feature_names_in_", None) if given is None else given

    @property
    def covariate_columns_(self) -> list[int]:
        return self._roles.inside

    @property
    def n_covariates_in_(self) -> int:
        return self._roles.n_beside

    @property
    def covariate_names_(self) -> NumpyArray:
        roles = self._roles
        inside, beside = roles.names(self.column_names_)
        names = [*roles.words_inside.column_names(inside), *roles.words_beside.column_names(beside)]
        return np.asarray(names, dtype=object)

    @property
    def covariate_levels_(self) -> dict[str, list[Any]]:
        roles = self._roles
        inside, beside = roles.names(self.column_names_)
        given: dict[str, list[Any]] = self._names.get("levels", {})
        return roles.words_inside.named(inside) | roles.words_beside.named(beside) | given

    def set_feature_names(self, names: Any, levels: Any = None) -> Self:
        """Name the columns of X after a fit to an array: for tables, plots and reports.

        Predictions accept arrays as before, and names are not compared. (scikit-learn checks every name of a
        DataFrame in every call; for tens of thousands of names this takes longer than the prediction.)

        Parameters
        ----------
        names : array-like of str of shape ``(n_features_in_,)``
            Names of all columns, including covariate columns.
        levels : dict from str to list, optional
            If covariate columns are indicators such as ``sex=M``: the levels of each covariate by name, the
            reference first, ``{"sex": ["F", "M"]}``, or the median and "missing",
            ``{"age": [61.0, "missing"]}``. Entries with fewer than two levels are ignored.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        found = list(names)
        if not all(isinstance(name, str) for name in found):
            raise TypeError("names: strings are required, as in [str(name) for name in names]")
        if len(found) != self.n_features_in_:
            raise ValueError(
                f"names: {len(found)} are given, but X had {self.n_features_in_} columns; the numbers "
                "must agree"
            )
        columns = np.asarray(found)
        self.component_names_ = np.delete(columns, self._roles.apart)
        self._names["columns"] = columns
        self._names["levels"] = {
            str(name): list(known) for name, known in (levels or {}).items() if len(known) > 1
        }
        return self

    def set_target_names(self, names: Any) -> Self:
        """Name the columns of y after a fit to an array: for tables, plots and reports.

        Parameters
        ----------
        names : sequence of str
            One name for each target.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._names["targets"] = [str(name) for name in names]
        return self
