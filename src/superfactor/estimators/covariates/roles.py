"""`ColumnRoles`: which columns a model factorizes, and which are covariates or exposures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from superfactor._arrays import Array, namespace
from superfactor.estimators import inputs
from superfactor.estimators.covariates.encoder import CovariateEncoder, as_table
from superfactor.estimators.covariates.in_x import codes_inside


@dataclass(frozen=True)
class ColumnRoles:
    """Roles of the columns of X and of the argument `covariates` at ``fit``."""

    inside: list[int]  # positions of the covariate columns of X; all others are factorized
    n_beside: int = 0  # number of columns of the argument `covariates`
    beside: list[str] | None = None  # their names; None if they have none
    # Encoders of categories and missing values in both.
    words_inside: CovariateEncoder = field(default_factory=CovariateEncoder)
    words_beside: CovariateEncoder = field(default_factory=CovariateEncoder)
    exposure: int | None = None  # position of the column of X with exposures

    @property
    def apart(self) -> list[int]:
        """Return positions of the columns of X that are not factorized."""
        return self.inside if self.exposure is None else [*self.inside, self.exposure]

    def split(self, X: Array) -> tuple[Array, Array | None]:
        """Return the columns of X to factorize, and its covariate columns or None."""
        return inputs.split_apart(X, self.inside, self.exposure)

    def exposures(self, X: Array, counted: Any = None) -> Array | None:
        """Return the exposures of samples (n, 1), checked at positions `counted`; None if there are none."""
        if self.exposure is None:
            return None
        return inputs.check_exposures(inputs.split_columns(X, [self.exposure])[1], counted)

    def regressors(self, inside: Array | None, beside: Array | None) -> Array | None:
        """Return the columns of γ: covariate columns of X, then `covariates`; categories as indicators."""
        blocks = self.words_inside.expand(inside), self.words_beside.expand(beside)
        present = [block for block in blocks if block is not None]
        if len(present) < 2:
            return present[0] if present else None
        return namespace(*present).concat(present, axis=1)

    def numbers(self, X: Any, fitted_names: Any) -> Any:
        """Return X of new samples with codes for categories and missing values in its covariate columns."""
        names = inputs.column_names(X)
        if not self.inside or not (fitted_names is None or names in (None, list(fitted_names))):
            return X  # scikit-learn refuses columns other than at fit
        return codes_inside(X, self.inside, self.words_inside)

    def check_covariates(self, covariates: Any, X: Array, method: str) -> Array | None:
        """Check the argument `covariates` of new samples; categories become positions of levels."""
        covariates = as_table(covariates)
        inputs.check_same_names(covariates, self.beside)
        codes = self.words_beside.codes(covariates, self.beside)
        return inputs.check_covariates(codes, X, self.n_beside, method)

    def names(self, columns: Any) -> tuple[list[str], list[str]]:
        """Return names of the covariates in X, given its column names or None, and of `covariates`."""
        inside = [f"x{j}" if columns is None else str(columns[j]) for j in self.inside]
        return inside, self.beside or [f"covariate {j}" for j in range(self.n_beside)]
