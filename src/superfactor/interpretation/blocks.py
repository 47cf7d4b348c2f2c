"""The share of each block of features in the factors and in the prediction.

X = [X_1 … X_B] is the preprocessed data, after block scaling. T (n, r) are the scores of the factors,
P_b = X_bᵀT/n their patterns in block b, and c_b = X_bV_b the parts of the scores, which add up to T:

share of a factor         ‖P_bj‖²/‖P_j‖²
variance explained        ‖P_bj‖²/‖X_b‖²; for all factors together the same with uncorrelated scores
share of the prediction   cov(c_bjβ_j, Σ Tβ)/var(Σ Tβ), both summed over outputs
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor._extras import needed_for
from superfactor.estimators import inputs
from superfactor.estimators.fitted.scores import whitening
from superfactor.interpretation.models import FittedModel, fitted_model
from superfactor.interpretation.view import FactorView, factor_view
from superfactor.preprocessing import BlockScaler
from superfactor.preprocessing.blocks import block_positions
from superfactor.samples import moments_of

if TYPE_CHECKING:
    from pandas import DataFrame

# The name in the table of the columns that are in no block.
REST = "(no block)"


def block_shares(
    model: Any,
    X: Any,
    blocks: Any = None,
    *,
    sample_weight: Any = None,
    rotation: str | None = None,
    positive: Any = None,
) -> DataFrame:
    """Return one row per block and factor: the block's share of the factor and of the prediction.

    Parameters
    ----------
    model : fitted model
        As for `factor_view`, but no FactorView.
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        Samples in the form ``model.fit`` took, usually those it was fitted to.
    blocks : dict from name to columns, optional
        Names, positions, masks or slices of the columns that the SMF estimator receives. These are the
        columns of X unless a step of the pipeline drops some. By default the blocks of the `BlockScaler` in
        the model's pipeline.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of these samples. A weight of 2 is a sample that appears twice.
    rotation : None, "predictive", "variance" or "varimax", default=None
        As in `factor_view`.
    positive : class label, optional
        As in `factor_view`.

    Returns
    -------
    table : DataFrame
        For each block one row for all factors together (``factor`` is "all"), then one per factor. Columns:

        - ``block``: its name, ``(no block)`` for columns in no block;
        - ``factor``: "all", or 1, …, r;
        - ``features``: the number of columns of the block that are factorized;
        - ``share_of_factor``: of the variance of X that the factor explains (all factors explain), the share
          that lies in the block. Never negative; adds up to 1 over the blocks;
        - ``variance_explained``: the share of the block's own variance that the factor explains, as in
          multi-omics factor analysis;
        - ``share_of_prediction``: the contribution of this block's part of the factor to the variance of the
          prediction, by its covariance with the whole prediction. Adds up to 1 over all blocks and factors;
          negative where the part offsets other parts;
        - ``prediction_alone``: the variance of the prediction from this part alone, divided by that of the
          whole prediction. Never negative; it does not add up to 1, since parts may be correlated.

        The last two columns are NaN if the factors do not predict anything.

    Notes
    -----
    X is preprocessed as in ``fit``. After a `BlockScaler` the shares refer to the scaled blocks;
    ``variance_explained`` does not depend on the scale.

    The prediction is what the factors add to the activations: the log-odds of the positive class, the
    scores of all classes against their mean, or the targets. Covariates and intercept are not included.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import block_shares
    >>> from superfactor.preprocessing import BlockScaler
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((60, 12)), np.arange(60) % 2
    >>> X[:, 9:] += 2 * y[:, None] - 1
    >>> scaler = BlockScaler({"genes": slice(0, 9), "blood": slice(9, 12)})
    >>> model = make_pipeline(scaler, SMFClassifier(1)).fit(X, y)
    >>> table = block_shares(model, X)
    >>> float(table.query("factor == 'all'")["share_of_prediction"].sum().round(9))
    1.0
    >>> bool(table["share_of_prediction"].iloc[2] > 0.8)  # of blood
    True
    """
    fitted = fitted_model(model)
    view = factor_view(model, rotation=rotation, positive=positive)
    return shares_of_blocks(fitted, view, fitted.preprocess(X), blocks, sample_weight)


def shares_of_blocks(
    fitted: FittedModel, view: FactorView, seen: Any, blocks: Any, sample_weight: Any = None
) -> DataFrame:
    """Return the table of `block_shares`; `seen` is X after preprocessing."""
    with needed_for("tables of blocks", "pandas"):
        import pandas as pd

    estimator = fitted.estimator
    positions = _factorized(fitted, blocks)
    X = inputs.as_numpy(estimator.split_columns(seen)[0])
    weight = inputs.check_weights(sample_weight, X)
    if weight is None:
        weight = np.ones(X.shape[0])
    X, weight = inputs.take(X, np.flatnonzero(weight), axis=0), weight[weight > 0]
    rows = []
    for name, part in _Parts(view, X, weight / weight.sum()).of(positions).items():
        numbered = zip(["all", *range(1, len(view.weights) + 1)], part, strict=True)
        rows += [(name, factor, len(positions[name]), *values) for factor, values in numbered]
    columns = ["block", "factor", "features", "share_of_factor", "variance_explained"]
    return pd.DataFrame(rows, columns=[*columns, "share_of_prediction", "prediction_alone"])


def blocks_of(fitted: FittedModel) -> dict[str, list[int]] | None:
    """Return the blocks of the last BlockScaler as positions in the estimator's input; None without one."""
    for k in reversed(range(len(fitted.steps))):
        step = fitted.steps[k]
        if isinstance(step, BlockScaler):
            if step.n_features_in_ != fitted.estimator.n_features_in_:
                raise ValueError(
                    "blocks=None: a step after the BlockScaler changes the columns; blocks of the columns "
                    "that the SMF estimator receives are required"
                )
            return step.blocks_
    return None


class _Given:
    """The columns that an estimator received, by the names of the user's table."""

    def __init__(self, fitted: FittedModel):
        self.n_features_in_ = fitted.estimator.n_features_in_
        if fitted.column_names is not None:
            self.feature_names_in_ = fitted.column_names


def _factorized(fitted: FittedModel, blocks: Any) -> dict[str, Any]:
    """Return the positions of each block among the factorized columns; columns in no block come last."""
    found = blocks_of(fitted) if blocks is None else block_positions(blocks, _Given(fitted))
    if found is None:
        raise ValueError(
            "blocks=None: the model has no BlockScaler; a dict from the name of a block to its "
            "columns is required"
        )
    estimator = fitted.estimator
    p = estimator.n_features_in_
    own = np.delete(np.arange(p), estimator._roles.apart)
    place = np.full(p, -1)
    place[own] = np.arange(len(own))
    inside = {name: place[columns] for name, columns in found.items()}
    inside = {name: columns[columns >= 0] for name, columns in inside.items()}
    left = np.setdiff1d(np.arange(len(own)), np.concatenate(list(inside.values())))
    return inside | ({REST: left} if len(left) else {})


class _Parts:
    """Divides the factors of a view by blocks of X (n, p); weights (n,) add up to 1."""

    def __init__(self, view: FactorView, X: Any, weight: Any):
        self.X, self.weights, self.weight = X, view.weights.T, weight  # (p, r)
        self.coef_gram = view.coef.T @ view.coef  # (r, r)
        self.scores = self._centred(X @ self.weights)
        weighted = weight[:, None] * self.scores
        self.patterns = np.asarray(X.T @ weighted)  # (p, r)
        # Scores of new samples, and of non-negative parts, are correlated.
        C = self.scores.T @ weighted
        self.whitening, self.variance = whitening(C), np.diag(C)

    def of(self, positions: dict[str, Any]) -> dict[str, Any]:
        """Return for each block the rows (1 + r, 4) of the table: all factors together, then each."""
        scores, weight = self.scores, self.weight[:, None]
        variance = moments_of(self.X, self.weights[:, :0], self.weight)[1].feature_scale ** 2
        predicted = float(np.sum((scores.T @ (weight * scores)) * self.coef_gram))
        total = self._squares(slice(None))
        found = {}
        for name, columns in positions.items():
            own = self._centred(self.X[:, columns] @ self.weights[columns])
            explained = self._squares(columns)
            together, alone = (
                (part.T @ (weight * other)) * self.coef_gram for part, other in ((own, scores), (own, own))
            )
            found[name] = np.stack(
                [
                    _ratio(explained, total),
                    _ratio(explained, float(np.sum(variance[columns]))),
                    _ratio(np.array([together.sum(), *together.sum(axis=1)]), predicted),
                    _ratio(np.array([alone.sum(), *np.diag(alone)]), predicted),
                ],
                axis=1,
            )
        return found

    def _centred(self, codes: Any) -> Any:
        codes = np.asarray(codes, dtype=np.float64)
        return codes - self.weight @ codes

    def _squares(self, columns: Any) -> Any:
        """Return the variance of these features that all scores together, and each, explain: (1 + r,)."""
        P = self.patterns[columns]
        each = np.sum(P**2, axis=0) / np.where(self.variance > 0, self.variance, 1.0)
        return np.array([np.sum((P @ self.whitening) ** 2), *each])


def _ratio(part: Any, whole: Any) -> Any:
    """Return part / whole, NaN where the whole is 0."""
    whole = np.broadcast_to(whole, part.shape)
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
