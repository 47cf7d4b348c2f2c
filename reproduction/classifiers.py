"""The methods of the table of accuracies, each a scikit-learn classifier that tunes itself."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from reproduction.networks import Network, has_torch
from superfactor import SMFClassifier, SMFClassifierCV

__all__ = ["PLSDA", "Method", "methods"]

# The paper's.
XI = LAM = [0.1, 1.0, 10.0]
ITERATIONS = 1000
# "Until convergence": relative to what supervision can change.
TOLERANCE = 1e-4
# Times the elbow of the scree. That is where factors stop gaining for X; the labels gain from many more.
FACTORS = 8
# For samples of about unit length, from a classifier that says nothing to one that errs nowhere.
C = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
# Of the largest variance: what naive Bayes adds to all, since some genes hardly vary in a few samples.
SMOOTHING = [1e-9, 1e-6, 1e-3, 1e-2, 1e-1]
SHRINKAGE = [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]


@dataclass(frozen=True)
class Method:
    """A row of the table.

    Attributes
    ----------
    estimator : unfitted; chooses its own parameters in ``fit``
    needs_genes : whether it looks at single genes, and not only at inner products of samples
    """

    name: str
    estimator: Any
    needs_genes: bool = False

    def chosen(self) -> str:
        """The parameters a fitted estimator has chosen, in words."""
        found = getattr(self.estimator, "best_params_", {})
        values = (f"{v:.3g}" if isinstance(v, float) else str(v) for v in found.values())
        return ", ".join(f"{k.split('__')[-1]}={v}" for k, v in zip(found, values, strict=True))


def methods(
    rank: int, largest: int, n_classes: int, folds: Any, seed: int, quick: bool = False
) -> list[Method]:
    """All methods, the paper's first. Those that take class weights or priors treat all classes alike.

    Parameters
    ----------
    rank : number of factors by the scree
    largest : most factors that every fold allows
    folds : splitter of the cross-validation that all share
    quick : networks, forests and Algorithm 1 stop early
    """
    iterations = 10 if quick else ITERATIONS
    trees, epochs = (20, 2) if quick else (500, 15)
    equal = np.full(n_classes, 1.0 / n_classes)
    weighted: dict[str, Any] = {"class_weight": "balanced"}

    def tuned(estimator: Any, grid: Any) -> GridSearchCV:
        return GridSearchCV(estimator, grid, cv=folds)

    def factorization(model: str, solver: str) -> GridSearchCV:
        # "fast": the paper's feature model also codes a new sample without its label.
        smf = SMFClassifier(rank, model=model, solver=solver, prediction="fast", certify=None)
        smf.set_params(max_iter=iterations, tol=TOLERANCE, **weighted)
        return tuned(smf, {"xi": XI, "lam": LAM})

    rows = [
        Method("SMF-W", factorization("filter", "lpgd")),
        Method("SMF-H", factorization("feature", "lpgd")),
        Method("SMF-W (BCD)", factorization("filter", "bcd")),
        Method("SMF-H (BCD)", factorization("feature", "bcd")),
    ]
    if has_torch():
        for name, layers in (("CNN", "convolutional"), ("FFNN", "feed-forward")):
            network = Network(layers, epochs=epochs, seed=seed, **weighted)
            rows.append(Method(name, network, needs_genes=True))
    regression = LogisticRegression(solver="newton-cholesky", **weighted)
    factors = Pipeline([("svd", TruncatedSVD(rank)), ("lr", regression)])
    forest = RandomForestClassifier(trees, random_state=seed, **weighted)
    lda = LinearDiscriminantAnalysis("lsqr", priors=equal)
    return [
        *rows,
        Method("MF-LR", tuned(factors, {"lr__C": C})),
        Method("NB", tuned(GaussianNB(priors=equal), {"var_smoothing": SMOOTHING}), needs_genes=True),
        # At the smallest C a support vector machine of samples this long says one class of all.
        Method("SVM", tuned(SVC(**weighted), {"kernel": ["linear", "rbf"], "C": C[1:]})),
        Method("RF", forest, needs_genes=True),
        Method("LDA", tuned(lda, {"shrinkage": SHRINKAGE})),
        Method("PLS-DA", tuned(PLSDA(), {"n_components": [1, 2, 3, 4, 6, 8]})),
        Method("ridge", tuned(regression, {"C": C})),
        Method("SMF", _ours(min(FACTORS * rank, largest), folds)),
    ]


def _ours(rank: int, folds: Any) -> SMFClassifierCV:
    """Filter or feature model, ξ and λ by the folds; of equals the strongest ridge, which comes first."""
    return SMFClassifierCV(
        rank,
        model=["feature", "filter"],
        xi=XI,
        lam=LAM[::-1],
        preprocess="center",
        class_weight="balanced",
        scoring="accuracy",
        prediction="fast",
        cv=folds,
        certify=None,
    )


class PLSDA(ClassifierMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Partial least squares on indicator columns; the largest fitted indicator is the class."""

    def __init__(self, n_components: int = 2):
        self.n_components = n_components

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to X (n, p) and labels (n,)."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        indicators = np.eye(len(self.classes_))[codes]
        # Genes are standardised before; rows in other coordinates must not be.
        regression = PLSRegression(min(self.n_components, *np.shape(X)), scale=False)
        with warnings.catch_warnings():
            # Fewer components may do for a perfect fit.
            warnings.filterwarnings("ignore", "y residual is constant", UserWarning)
            self.regression_ = regression.fit(X, indicators)
        return self

    def predict(self, X: Any) -> Any:
        """The class (n,) of each row of X (n, p)."""
        return self.classes_[self.regression_.predict(X).argmax(axis=1)]
