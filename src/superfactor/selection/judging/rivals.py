"""What a model has to be compared with: plain methods, tuned as carefully, on the same samples.

They see the few coordinates that a fold has (`superfactor.selection.rows.coordinates`), and each is tuned by
its likelihood in the same inner folds as the model itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.decomposition import PCA, TruncatedSVD

from superfactor.outcomes import COVARIATES, Outcome
from superfactor.outcomes.ridge import OFF

RANKS = (2, 3, 5, 10, 20)


def rival_rows(
    outcome: Outcome,
    rows: Any,
    n_covariates: int,
    truth: Any,
    train: Any,
    test: Any,
    inner: Any,
    columns: int,
    balanced: bool = False,
    unlabelled: Any = None,
) -> dict[str, Any]:
    """What every rival but the one that always says the same predicts: (n_test, k).

    Parameters
    ----------
    rows : (n, m + q), covariates last, preprocessed by the samples at `train`
    truth : (n, …)
    train, test : positions
    inner : list of (fit, score), positions within `train`
    columns : k
    balanced : every class weighs the same, however many samples it has
    unlabelled : (u, m + q) of samples without a label, which principal components may see, or None
    """
    width = int(rows.shape[1]) - n_covariates
    X, C = rows[:, :width], dense(rows[:, width:])
    spread = C[train].std(axis=0)
    C = (C - C[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    size = first_deviation(X[train])
    X = X / size
    strangers = X[:0] if unlabelled is None else unlabelled[:, :width] / size
    splits = [(train[fit], train[score]) for fit, score in inner]

    def tuned(method: Any) -> Any:
        """Rows of the setting with the highest likelihood in the inner folds."""
        likelihoods = np.zeros(0)
        for seen, others in splits:
            each = np.array([outcome.likelihood(truth[others], P) for P in method(seen, others)])
            likelihoods = each if not likelihoods.size else likelihoods + each
        return method(train, test)[int(likelihoods.argmax())]

    def fitted(A: Any, seen: Any, B: Any, others: Any, penalties: Any) -> Any:
        weight = outcome.rival_weights(truth[seen], balanced)
        found = outcome.ridge_rows(A, truth[seen], B, np.asarray(penalties), weight, columns)
        exposures = outcome.exposures(truth[others])
        return found if exposures is None else [exposures * rows for rows in found]

    def pca(seen: Any, others: Any) -> Any:
        # As many as every fold allows; where fewer, the last ranks are the same.
        most = max(1, min(RANKS[-1], *(len(s) - 1 for s, _ in splits), width))
        kind = TruncatedSVD if sp.issparse(X) else PCA
        everyone = X[seen]
        if strangers.shape[0]:
            everyone = (sp.vstack if sp.issparse(X) else np.vstack)([everyone, strangers])
        model = kind(n_components=most, random_state=0).fit(everyone)
        A, B = (np.hstack([model.transform(X[at]), C[at]]) for at in (seen, others))
        number = np.arange(A.shape[1])
        return fitted(
            *(A, seen, B, others),
            [
                np.where((number >= rank) & (number < most), OFF, 1 / strength)
                for rank in sorted({min(rank, most) for rank in RANKS})
                for strength in outcome.few_strengths
            ],
        )

    def ridge(data: Any, strengths: tuple[float, ...]) -> Any:
        penalties = [np.full(data.shape[1], 1 / strength) for strength in strengths]
        return lambda seen, others: fitted(data[seen], seen, data[others], others, penalties)

    both = X if not n_covariates else sp.hstack([X, C], "csr") if sp.issparse(X) else np.hstack([X, C])
    methods = {outcome.pca_name: pca, outcome.ridge_name: ridge(both, outcome.strengths)}
    if n_covariates:
        methods[COVARIATES] = ridge(C, outcome.few_strengths)
    # The data have been checked.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return {name: tuned(method) for name, method in methods.items()}


def first_deviation(X: Any) -> float:
    """The standard deviation of X (n, m) along its first principal component, nearly."""
    v = np.random.default_rng(0).standard_normal(X.shape[1])
    size = 0.0
    for _ in range(20):  # of the power method
        v = X.T @ (X @ (v / np.linalg.norm(v)))
        size = float(np.linalg.norm(v))
        if size == 0.0:
            return 1.0
    return float(np.sqrt(size / X.shape[0]))


def dense(X: Any) -> Any:
    """X as a NumPy array."""
    return np.asarray(X.todense()) if sp.issparse(X) else np.asarray(X)
