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

from superfactor.estimators import SMFClassifier
from superfactor.experiments.networks import Network, has_torch
from superfactor.selection import SMFClassifierCV

__all__ = ["PLSDA", "Method", "methods"]

# The paper's.
XI = LAM = [0.1, 1.0, 10.0]
ITERATIONS = 1000
# "Until convergence": relative to what supervision can change. Beyond it accuracies stay as they are.
TOLERANCE = 1e-4
# For samples of about unit length, from a classifier that says nothing to one that errs nowhere.
C = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
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


def methods(rank: int, folds: Any, seed: int, quick: bool = False) -> list[Method]:
    """All methods, the paper's first.

    Parameters
    ----------
    rank : number of factors where the scree says it
    folds : splitter of the cross-validation that all share
    quick : networks, forests and Algorithm 1 stop early
    """
    paper = {"xi": XI, "lam": LAM}
    iterations = 10 if quick else ITERATIONS
    trees, epochs = (20, 2) if quick else (500, 30)

    def tuned(estimator: Any, grid: Any) -> GridSearchCV:
        return GridSearchCV(estimator, grid, cv=folds)

    def factorization(model: str, solver: str) -> GridSearchCV:
        return tuned(
            # "fast": the paper's feature model also codes a new sample without its label.
            SMFClassifier(
                rank,
                model=model,
                solver=solver,
                max_iter=iterations,
                tol=TOLERANCE,
                prediction="fast",
                certify=None,
            ),
            paper,
        )

    rows = [
        Method("SMF-W", factorization("filter", "lpgd")),
        Method("SMF-H", factorization("feature", "lpgd")),
        Method("SMF-W (BCD)", factorization("filter", "bcd")),
        Method("SMF-H (BCD)", factorization("feature", "bcd")),
    ]
    if has_torch():
        for name, layers in (("CNN", "convolutional"), ("FFNN", "feed-forward")):
            rows.append(Method(name, Network(layers, epochs=epochs, seed=seed), needs_genes=True))
    factors = Pipeline(
        [("svd", TruncatedSVD(rank)), ("lr", LogisticRegression(solver="newton-cholesky"))]
    )
    forest = RandomForestClassifier(trees, random_state=seed)
    svm = [{"kernel": ["linear"], "C": C}, {"kernel": ["rbf"], "C": C}]
    rows += [
        Method("MF-LR", tuned(factors, {"lr__C": C})),
        Method("NB", GaussianNB(), needs_genes=True),
        Method("SVM", tuned(SVC(), svm)),
        Method("RF", forest, needs_genes=True),
        Method("LDA", tuned(LinearDiscriminantAnalysis("lsqr"), {"shrinkage": SHRINKAGE})),
        Method("PLS-DA", tuned(PLSDA(), {"n_components": [1, 2, 3, 4, 6, 8]})),
        Method("ridge", tuned(LogisticRegression(solver="newton-cholesky"), {"C": C})),
        Method(
            "SMF",
            SMFClassifierCV(
                model=["filter", "feature"],
                preprocess="center",
                cv=folds,
                prediction="fast",
                certify=None,
            ),
        ),
    ]
    return rows


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
