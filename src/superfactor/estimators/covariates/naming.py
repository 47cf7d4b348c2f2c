"""What the columns of X and the covariates of a fitted model are called."""

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
            # Made when somebody asks: x0, x1, … of many columns take as long as a fit.
            names = inputs.names_without(self._roles.apart, self.n_features_in_, None)
        return names

    @component_names_.setter
    def component_names_(self, names: Any) -> None:
        # Not an attribute of its own: scikit-learn wants those in the library of X, names are NumPy's.
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

        Predictions take arrays as before, and nobody compares names: scikit-learn looks at every
        name of a DataFrame in every call, which for tens of thousands takes longer than the rest.

        Parameters
        ----------
        names : array-like of str of shape ``(n_features_in_,)``
            Of all columns, covariate columns included.
        levels : dict from str to list, optional
            Where covariate columns are indicators, ``sex=M`` and so on: the levels of each covariate by its
            name, ``{"sex": ["F", "M"]}``, the reference first, or ``{"age": [61.0, "missing"]}``, the median
            and the gaps. Fewer than two levels are no indicators.

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
            As many as there are targets.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._names["targets"] = [str(name) for name in names]
        return self
