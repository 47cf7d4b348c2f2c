"""The samples of one partition on its worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_array

from superfactor._arrays import Array
from superfactor.estimators import inputs
from superfactor.lifting import Facts, SampleBlock, state_problem
from superfactor.losses import Loss
from superfactor.spectrum import DataMatrix


@dataclass(frozen=True)
class Statement:
    """What a partition must know of all samples to become a block of their problem.

    Attributes
    ----------
    loss : ℓ
    scale : s of X̃ = diag(√w)X/s
    fit_intercept : whether the covariates end in a column of ones
    classes : (κ + 1,) sorted labels, or None where y are the targets
    targets, factors : of a sample of each class, (κ + 1, κ) and (κ + 1,); factors None is all ones
    """

    loss: Loss
    scale: float
    fit_intercept: bool
    classes: Array | None = None
    targets: Array | None = None
    factors: Array | None = None


@dataclass(frozen=True)
class Survey:
    """What all samples must know of a partition.

    Attributes
    ----------
    squared_norm, scale : ‖diag(√w)X‖² = squared_norm·scale²
    labels : (k,) those that occur, sorted; empty where y are targets
    weights : (k,) the sum of the samples' weights, by label
    """

    squared_norm: float
    scale: float
    labels: Array
    weights: Array


class PartitionBlock(SampleBlock):
    """The samples of one partition: first as they were loaded, then as a block of the stated problem.

    Parameters
    ----------
    loaded : rows of X, y, covariates and weights (None where none are given), and the position of the first
    estimator : the name that messages give
    columns : positions of the columns of X that are covariates
    labels : whether y are labels; targets otherwise
    """

    CHANGES: ClassVar[frozenset[str]] = SampleBlock.CHANGES | {"state"}

    def __init__(self, loaded: tuple[Any, ...], estimator: str, columns: list[int], labels: bool):
        X, y, covariates, weight, self._first = loaded
        X = check_array(
            X, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32], input_name="X"
        )
        check = inputs.check_labels if labels else inputs.check_real_targets
        y = check(y, X, estimator)
        extra = inputs.check_covariates(covariates, X, None, "fit")
        X, inside = inputs.split_columns(X, columns)
        present = [part for part in (inside, extra) if part is not None]
        regressors = np.concatenate(present, axis=1) if present else None
        if weight is not None and not np.all(weight > 0):
            kept = np.flatnonzero(weight)
            X, y, weight = inputs.take(X, kept, axis=0), y[kept], weight[kept]
            regressors = None if regressors is None else regressors[kept]
        self.n_samples = int(X.shape[0])
        self._X, self._y, self._regressors, self._weight = X, y, regressors, weight
        self._labels = labels

    def survey(self) -> Survey:
        """What all samples must know of these."""
        data = DataMatrix(self._X, self._weight)
        labels, codes = np.zeros(0), np.zeros(0, dtype=int)
        if self._labels:
            labels, codes = np.unique(self._y, return_inverse=True)
        weights = np.bincount(codes, self._weight) if len(codes) else np.zeros(0)
        return Survey(data.squared_norm, data.scale, labels, weights)

    def state(self, statement: Statement) -> tuple[()]:
        """Become a block of the stated problem."""
        targets = self._y if self._y.ndim == 2 else self._y[:, None]
        factor = None
        if statement.classes is not None:
            codes = np.searchsorted(statement.classes, self._y)
            targets = statement.targets[codes]  # type: ignore[index]
            factor = None if statement.factors is None else statement.factors[codes]
        # The model, ξ and λ are those of all samples; what is said of each does not depend on them.
        problem = state_problem(
            "filter",
            self._X,
            targets,
            statement.loss,
            xi=1.0,
            lam=1.0,
            covariates=self._regressors,
            fit_intercept=statement.fit_intercept,
            sample_weight=self._weight,
            class_weight=factor,
        )
        facts = Facts(problem.targets, problem.covariates, problem.loss_weight, problem.root_weight)
        data = DataMatrix(self._X, self._weight, scale=statement.scale)
        super().__init__(
            self.n_samples, lambda: data, lambda: facts, statement.loss, start=self._first
        )
        return ()
