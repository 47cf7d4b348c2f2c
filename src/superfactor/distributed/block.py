"""The samples of a partition on its worker: as loaded, and as blocks of a stated problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from superfactor._arrays import Array
from superfactor.estimators import inputs, targets
from superfactor.losses import Loss
from superfactor.options import Options
from superfactor.samples import Block, SampleTable
from superfactor.spectrum import DataMatrix


@dataclass(frozen=True)
class Statement:
    """Properties of all samples that a partition needs to become part of the problem."""

    loss: Loss
    n_outputs: int
    fit_intercept: bool
    classes: Array | None = None  # (κ + 1,) sorted labels; None for real targets
    class_weight: Array | None = None  # (κ + 1,)


class LoadedSamples:
    """Checked samples of positive weight; `first` is the position of the first one among all samples.

    `columns` are the positions of the covariate columns of X, `check` is the function that checks y.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        covariates: Any,
        weight: Any,
        first: int,
        *,
        estimator: str,
        columns: list[int],
        check: Callable[..., targets.CheckedY],
        unlabeled: Any,
    ):
        self._first = first
        X = check_array(X, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32], input_name="X")
        given = check(y, X, estimator, unlabeled)
        extra = inputs.check_covariates(covariates, X, None, "fit")
        X, inside = inputs.split_columns(X, columns)
        regressors = [part for part in (inside, extra) if part is not None]
        beside = [weight, np.concatenate(regressors, axis=1) if regressors else None]
        if weight is not None and not np.all(weight > 0):  # samples of weight zero are left out
            kept = np.flatnonzero(weight)
            X = inputs.take(X, kept, axis=0)
            given = given.among(kept)
            beside = [None if values is None else values[kept] for values in beside]
        self._X, self._given, (self._weight, self._covariates) = X, given, beside

    @property
    def n_labelled(self) -> int:
        """Return the number of samples with a label or target."""
        return len(self._given.labelled)

    @property
    def largest(self) -> Array:
        """Return the largest real target, or that of each of several (κ,); −inf if there is none."""
        return self._given.labelled.max(axis=0, initial=-np.inf)

    def labels(self) -> tuple[Array, Array]:
        """Return the labels (k,) that occur, and the sum of weights of each (k,)."""
        labels, codes = np.unique(self._given.labelled, return_inverse=True)
        return labels, np.bincount(codes, self._given.of_labelled(self._weight))

    def block(self, statement: Statement) -> Block:
        """Return these samples as a block of the stated problem."""
        given, classes, factors = self._given, statement.classes, self._given.loss_factor
        values = given.values
        if classes is not None:
            codes = np.searchsorted(classes, given.labelled)
            values = given.spread(codes, targets.UNLABELLED)
            if statement.class_weight is not None:
                factors = given.spread(statement.class_weight[codes], 0.0)
        elif values.ndim == 1:
            values = values[:, None]
        table = SampleTable(
            targets=values,
            n_outputs=statement.n_outputs,
            covariates=self._covariates,
            fit_intercept=statement.fit_intercept,
            sample_weight=self._weight,
            class_weight=factors,
        )
        X, weight = self._X, self._weight
        known = table.annotations(slice(None), X.data if sp.issparse(X) else X)
        return Block(
            int(X.shape[0]),
            lambda scale: DataMatrix(X, weight, scale=scale or 1.0),
            lambda: known,
            statement.loss,
            start=self._first,
        )


def loaded_samples(loaded: tuple[Any, ...], options: Options, **facts: Any) -> list[LoadedSamples]:
    """Return the samples of a partition in parts that fit into the cache of a core.

    `loaded` has rows of X, y, covariates and weights (or None), and the position of the first row; `facts`
    are the keyword arguments of `LoadedSamples`.
    """
    *arrays, first = loaded
    arrays[0] = sp.csr_array(arrays[0]) if sp.issparse(arrays[0]) else arrays[0]
    n, weight = int(arrays[0].shape[0]), arrays[3]
    count = max(n // options.rows_a_block, 1)
    parts = []
    for a, b in pairwise(n * i // count for i in range(count + 1)):
        size = b - a if weight is None else int(np.count_nonzero(weight[a:b]))
        if size:
            X, y, covariates, weights = (None if x is None else x[a:b] for x in arrays)
            parts.append(LoadedSamples(X, y, covariates, weights, first, **facts))
        first += size
    return parts
