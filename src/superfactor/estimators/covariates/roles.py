"""Which columns a model factorizes, and which enter its prediction as they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from superfactor._arrays import Array, namespace
from superfactor.estimators import inputs
from superfactor.estimators.covariates.encoder import CovariateEncoder, as_table
from superfactor.estimators.covariates.in_x import codes_inside


@dataclass(frozen=True)
class ColumnRoles:
    """The columns of X and of the covariates beside it, as they were at ``fit``."""

    inside: list[int]  # positions of the covariate columns of X; all others are factorized
    n_beside: int = 0  # how many covariates there are beside X
    beside: list[str] | None = None  # their names; None where they have none
    # What words and gaps among them stand for.
    words_inside: CovariateEncoder = field(default_factory=CovariateEncoder)
    words_beside: CovariateEncoder = field(default_factory=CovariateEncoder)
    exposure: int | None = None  # position of the column of X that holds exposures

    @property
    def apart(self) -> list[int]:
        """Positions of the columns of X that are not factorized."""
        return self.inside if self.exposure is None else [*self.inside, self.exposure]

    def split(self, X: Array) -> tuple[Array, Array | None]:
        """The columns of X to factorize, and its covariate columns or None."""
        return inputs.split_apart(X, self.inside, self.exposure)

    def exposures(self, X: Array, counted: Any = None) -> Array | None:
        """The exposures of samples (n, 1), checked where `counted`; None where no column holds any."""
        if self.exposure is None:
            return None
        return inputs.check_exposures(inputs.split_columns(X, [self.exposure])[1], counted)

    def regressors(self, inside: Array | None, beside: Array | None) -> Array | None:
        """The columns of γ: covariate columns of X, then covariates beside it; words as indicators."""
        blocks = self.words_inside.expand(inside), self.words_beside.expand(beside)
        present = [block for block in blocks if block is not None]
        if len(present) < 2:
            return present[0] if present else None
        return namespace(*present).concat(present, axis=1)

    def numbers(self, X: Any, fitted_names: Any) -> Any:
        """X of new samples with codes in place of words and gaps in its covariate columns."""
        names = inputs.column_names(X)
        if not self.inside or not (fitted_names is None or names in (None, list(fitted_names))):
            return X  # other columns than at fit are scikit-learn's to refuse
        return codes_inside(X, self.inside, self.words_inside)

    def check_covariates(self, covariates: Any, X: Array, method: str) -> Array | None:
        """The covariates beside X of new samples, checked; words as positions of their levels."""
        covariates = as_table(covariates)
        inputs.check_same_names(covariates, self.beside)
        codes = self.words_beside.codes(covariates, self.beside)
        return inputs.check_covariates(codes, X, self.n_beside, method)

    def names(self, columns: Any) -> tuple[list[str], list[str]]:
        """Of the covariates in X, given the names of its columns or None, and of those beside it."""
        inside = [f"x{j}" if columns is None else str(columns[j]) for j in self.inside]
        return inside, self.beside or [f"covariate {j}" for j in range(self.n_beside)]
