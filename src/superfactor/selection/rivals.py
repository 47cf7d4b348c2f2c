"""What a model has to be compared with: plain methods, tuned as carefully, on the same samples.

They see the few coordinates that a fold has (`superfactor.selection.coordinates`), in which scikit-learn's
fits take a millisecond or two. Each is tuned by its likelihood in the same inner folds as the model itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.linear_model import LogisticRegression

from superfactor.selection.measures import SMALLEST

PCA_LR = "tuned PCA + logistic regression"
RIDGE = "ridge logistic regression"
COVARIATES = "covariates alone"
FREQUENT = "always the most frequent class"

# Of data whose first principal component has variance 1.
RIDGE_C = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)
PCA_C = (0.1, 1.0, 10.0, 100.0)
PCA_RANKS = (2, 3, 5, 10, 20)
COVARIATES_C = (0.01, 0.1, 1.0, 10.0)
# Newton's matrix has this many rows at most; beyond, only gradients are used.
_LARGEST_HESSIAN = 400

#: From training rows, their class numbers and other rows to settings and their probabilities there, (n', c).
Path = Callable[[Any, Any, Any], Iterable[tuple[Any, Any]]]


def rival_probabilities(
    rows: Any, n_covariates: int, codes: Any, train: Any, test: Any, inner: Any, classes: int
) -> dict[str, Any]:
    """Probabilities (n_test, c) of every rival but the one that always says the same.

    Parameters
    ----------
    rows : (n, m + q), covariates last, preprocessed by the samples at `train`
    codes : class numbers (n,)
    train, test : positions
    inner : list of (fit, score), positions within `train`
    classes : c
    """
    width = int(rows.shape[1]) - n_covariates
    X, C = rows[:, :width], rows[:, width:] if n_covariates else None
    if C is not None:
        C = np.asarray(C.todense() if sp.issparse(C) else C)
        spread = C[train].std(axis=0)
        C = (C - C[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    X = X / _scale(X[train])
    paths: dict[str, tuple[Any, Path]] = {
        PCA_LR: (_beside(X, C), _pca_path(width)),
        RIDGE: (_beside(X, C), _ridge_path(RIDGE_C)),
    }
    if C is not None:
        paths[COVARIATES] = (C, _ridge_path(COVARIATES_C))
    # The data have been checked.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return {
            name: _tuned(path, data, codes, train, test, inner, classes)
            for name, (data, path) in paths.items()
        }


def log_likelihood(codes: Any, probabilities: Any) -> float:
    """Mean logarithm of the probability (n, c) of the true class."""
    true = probabilities[np.arange(len(codes)), codes]
    return float(np.log(np.clip(true, SMALLEST, 1.0)).mean())


def _tuned(
    path: Path, data: Any, codes: Any, train: Any, test: Any, inner: Any, classes: int
) -> Any:
    """The probabilities (n_test, c) of the setting with the highest likelihood in the inner folds."""
    heard: dict[Any, list[float]] = {}
    for fit, score in inner:
        seen, others = train[fit], train[score]
        known = np.unique(codes[seen])
        for setting, found in path(data[seen], codes[seen], data[others]):
            likelihood = log_likelihood(codes[others], aligned(found, known, classes))
            heard.setdefault(setting, []).append(likelihood)
    # The largest ranks may be possible in some of the folds only.
    mean = {setting: sum(found) for setting, found in heard.items() if len(found) == len(inner)}
    best = max(mean, key=lambda setting: mean[setting])
    known = np.unique(codes[train])
    for setting, found in path(data[train], codes[train], data[test]):
        if setting == best:
            return aligned(found, known, classes)
    raise AssertionError("a larger training part allows every setting of a smaller one")


def _ridge_path(strengths: tuple[float, ...]) -> Path:
    def path(A: Any, y: Any, B: Any) -> Iterable[tuple[Any, Any]]:
        parameters = int(A.shape[1]) * max(len(np.unique(y)), 2) // 2
        small = not sp.issparse(A) and parameters <= _LARGEST_HESSIAN
        solver = "newton-cholesky" if small else "lbfgs"
        model = LogisticRegression(solver=solver, warm_start=True, max_iter=300)
        for C in strengths:
            yield C, model.set_params(C=C).fit(A, y).predict_proba(B)

    return path


def _pca_path(width: int) -> Path:
    """Principal components of the first `width` columns; the others, covariates, stay beside them."""
    ridge = _ridge_path(PCA_C)

    def path(A: Any, y: Any, B: Any) -> Iterable[tuple[Any, Any]]:
        X, Z = A[:, :width], B[:, :width]
        most = min(PCA_RANKS[-1], int(X.shape[0]) - 1, width)
        kind = TruncatedSVD if sp.issparse(X) else PCA
        model = kind(n_components=max(most, 1), random_state=0).fit(X)
        scores, others = model.transform(X), model.transform(Z)
        ranks = [rank for rank in PCA_RANKS if rank <= most] or [most]
        for rank in ranks:
            seen = _beside(scores[:, :rank], _dense(A[:, width:]))
            new = _beside(others[:, :rank], _dense(B[:, width:]))
            for C, found in ridge(seen, y, new):
                yield (rank, C), found

    return path


def _scale(X: Any) -> float:
    """The standard deviation along the first principal component (nearly), by a few power iterations."""
    v = np.asarray(X[0].todense()).ravel() if sp.issparse(X) else np.array(X[0], dtype=float)
    v = v + 1e-3 * np.abs(v).max() * np.random.default_rng(0).standard_normal(len(v))
    size = 0.0
    for _ in range(20):
        norm = np.linalg.norm(v)
        if norm == 0:
            return 1.0
        v = X.T @ (X @ (v / norm))
        size = float(np.linalg.norm(v))
    return float(np.sqrt(size / X.shape[0])) or 1.0


def _beside(X: Any, C: Any) -> Any:
    if C is None or C.shape[1] == 0:
        return X
    return sp.hstack([X, C], format="csr") if sp.issparse(X) else np.hstack([X, C])


def _dense(X: Any) -> Any:
    return np.asarray(X.todense()) if sp.issparse(X) else X


def aligned(probabilities: Any, known: Any, classes: int) -> Any:
    """Probabilities (n, len(known)) as those of all classes (n, c), zero for those that are not known."""
    if len(known) == classes:
        return probabilities
    full = np.zeros((len(probabilities), classes))
    full[:, known] = probabilities
    return full
