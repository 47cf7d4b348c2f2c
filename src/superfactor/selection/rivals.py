"""What a model has to be compared with: plain methods, tuned as carefully, on the same samples.

They see the few coordinates that a fold has (`superfactor.selection.coordinates`), and each is tuned by its
likelihood in the same inner folds as the model itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.linear_model import LogisticRegression

from superfactor.selection.measures import SMALLEST
from superfactor.selection.ridge import ridge_probabilities

PCA_LR = "tuned PCA + logistic regression"
RIDGE = "ridge logistic regression"
COVARIATES = "covariates alone"
FREQUENT = "always the most frequent class"
#: Above a column of figures.
SHORT = {PCA_LR: "PCA+LR", RIDGE: "ridge", COVARIATES: "covar.", FREQUENT: "guess"}

# C as in scikit-learn, for data whose first principal component has variance 1.
STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)
FEW_STRENGTHS = (0.1, 1.0, 10.0, 100.0)
RANKS = (2, 3, 5, 10, 20)
# Newton's matrices have this many rows at most; beyond, scikit-learn is asked, setting after setting.
LARGEST_HESSIAN = 300
# A component with this price is not there.
_OFF = 1e12


def rival_probabilities(
    rows: Any,
    n_covariates: int,
    codes: Any,
    train: Any,
    test: Any,
    inner: Any,
    classes: int,
    balanced: bool = False,
    unlabelled: Any = None,
) -> dict[str, Any]:
    """Probabilities (n_test, c) of every rival but the one that always says the same.

    Parameters
    ----------
    rows : (n, m + q), covariates last, preprocessed by the samples at `train`
    codes : class numbers (n,)
    train, test : positions
    inner : list of (fit, score), positions within `train`
    classes : c
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
        """Probabilities of the setting with the highest likelihood in the inner folds."""
        likelihoods = np.zeros(0)
        for seen, others in splits:
            found = method(seen, others)
            each = np.array([log_likelihood(codes[others], P) for P in found])
            likelihoods = each if not likelihoods.size else likelihoods + each
        return method(train, test)[int(likelihoods.argmax())]

    def fitted(A: Any, seen: Any, B: Any, penalties: Any) -> Any:
        known, own = np.unique(codes[seen], return_inverse=True)
        counts = np.bincount(own)
        weight = (len(own) / len(counts) / counts)[own] if balanced else np.ones(len(own))
        found = _path(A, own, B, np.asarray(penalties), weight)
        return [aligned(P, known, classes) for P in found]

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
            A,
            seen,
            B,
            [
                np.where((number >= rank) & (number < most), _OFF, 1 / strength)
                for rank in sorted({min(rank, most) for rank in RANKS})
                for strength in FEW_STRENGTHS
            ],
        )

    def ridge(data: Any, strengths: tuple[float, ...]) -> Any:
        penalties = [np.full(data.shape[1], 1 / strength) for strength in strengths]
        return lambda seen, others: fitted(data[seen], seen, data[others], penalties)

    both = X if not n_covariates else sp.hstack([X, C], "csr") if sp.issparse(X) else np.hstack([X, C])
    methods = {PCA_LR: pca, RIDGE: ridge(both, STRENGTHS)}
    if n_covariates:
        methods[COVARIATES] = ridge(C, FEW_STRENGTHS)
    # The data have been checked.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return {name: tuned(method) for name, method in methods.items()}


def _path(A: Any, codes: Any, B: Any, penalties: Any, weight: Any) -> Any:
    """Probabilities (S, n', c) for `penalties` (S, d), samples weighing `weight` (n,)."""
    n_classes = int(codes.max()) + 1
    outputs = 1 if n_classes == 2 else n_classes
    if not sp.issparse(A) and A.shape[1] * outputs <= LARGEST_HESSIAN:
        return ridge_probabilities(A, codes, B, penalties, weight)
    model = LogisticRegression(max_iter=300, warm_start=True)
    found = []
    for penalty in penalties:
        # Every price is 1/C or that of a component that is not there.
        kept = np.flatnonzero(penalty < _OFF)
        own = model if len(kept) == len(penalty) else LogisticRegression(max_iter=300)
        own.set_params(C=1 / penalty[kept[0]]).fit(A[:, kept], codes, weight)
        found.append(own.predict_proba(B[:, kept]))
    return found


def log_likelihood(codes: Any, probabilities: Any) -> float:
    """Mean logarithm of the probability (n, c) of the true class."""
    true = probabilities[np.arange(len(codes)), codes]
    return float(np.log(np.clip(true, SMALLEST, 1.0)).mean())


def aligned(probabilities: Any, known: Any, classes: int) -> Any:
    """Probabilities (n, len(known)) as those of all classes (n, c), zero for those that are not known."""
    if len(known) == classes:
        return probabilities
    full = np.zeros((len(probabilities), classes))
    full[:, known] = probabilities
    return full


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
