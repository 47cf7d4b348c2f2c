"""The nearest relatives as scikit-learn classifiers, each with eight candidates and a number of factors.

Every one has ``fit`` and ``predict``, and all but ridge regression codes of samples, which is what people
read. Classes weigh the same wherever a method has weights for them or priors: everywhere but in PLS-DA, where
nothing but the number of components is left to tune either. Discriminants are as many as classes less one,
whatever number is asked for.

AugmentedPCA inverts a matrix of features × features. Of tables that are wider than long it gets coordinates
with the same inner products instead. It and skmatter are in the environment of ``make bench``. MOFA-FLEX
(``pip install mofaflex``) is not: it needs PyTorch, of which the default build brings gigabytes.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import warnings
from collections.abc import Callable
from contextlib import chdir, redirect_stderr
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from reproduction.classifiers import PLSDA
from superfactor import SMFClassifierCV

OURS = "superfactor"
SCORING = "balanced_accuracy"
# What a strength of supervision is multiplied by, so that 1 weighs labels and features alike.
STRENGTHS = (0.1, 1.0, 10.0, 100.0)


def _regression(C: float = 1.0) -> LogisticRegression:
    return LogisticRegression(C=C, class_weight="balanced", max_iter=2000)


def _then_regression(*factors: tuple[str, Any]) -> Pipeline:
    return Pipeline([*factors, ("lr", _regression())])


class Components(PLSDA):
    """PLS-DA with its scores."""

    def transform(self, X: Any) -> Any:
        """Codes (n, r)."""
        return self.regression_.transform(X)


class ScreenedPCA(TransformerMixin, BaseEstimator):
    """Supervised principal components: PCA of the features that tell the classes apart one by one.

    As in Bair, Hastie, Paul and Tibshirani (2006), with the F statistic in place of the regression score.
    `share` is how many features are kept, of all; never fewer than components.
    """

    def __init__(self, n_components: int = 2, share: float = 1.0):
        self.n_components = n_components
        self.share = share

    def fit(self, X: Any, y: Any) -> Self:
        """Screen X (n, p) by the labels (n,)."""
        with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
            warnings.simplefilter("ignore")  # features that do not vary
            F = np.nan_to_num(f_classif(X, y)[0], nan=-1.0)
        kept = max(self.n_components, round(self.share * X.shape[1]))
        self.kept_ = np.sort(np.argsort(-F, kind="stable")[:kept])
        self.pca_ = PCA(self.n_components, random_state=0).fit(X[:, self.kept_])
        return self

    def transform(self, X: Any) -> Any:
        """Codes (n, r)."""
        return self.pca_.transform(X[:, self.kept_])


class Short(TransformerMixin, BaseEstimator):
    """Dense rows that are longer than there are samples, in coordinates with the same inner products."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find axes for X (n, p)."""
        wide = isinstance(X, np.ndarray) and X.shape[1] > X.shape[0]
        self.axes_ = np.linalg.svd(X, full_matrices=False)[2].T if wide else None
        return self

    def transform(self, X: Any) -> Any:
        """Coordinates (n, at most p)."""
        return X if self.axes_ is None else X @ self.axes_


class Augmented(TransformerMixin, BaseEstimator):
    """AugmentedPCA's supervised model with the encoder, which needs no labels of new samples."""

    def __init__(self, n_components: int = 2, strength: float = 1.0):
        self.n_components = n_components
        self.strength = strength

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to X (n, p) and indicator columns of the labels (n,)."""
        from apca.models import SAPCA

        Y = np.eye(int(y.max()) + 1)[y]
        alike = (X**2).sum() / ((Y - Y.mean(axis=0)) ** 2).sum()
        model = SAPCA(
            n_components=self.n_components,
            mu=float(self.strength * alike),
            inference="encoded",
            random_state=0,
        )
        self.model_ = model.fit(X, Y)
        return self

    def transform(self, X: Any) -> Any:
        """Codes (n, r)."""
        return self.model_.transform(X, None)


class Covariates(ClassifierMixin, BaseEstimator):
    """scikit-matter's PCovC, with its scores scaled as it recommends and mixed in by their strength."""

    def __init__(self, n_components: int = 2, strength: float = 1.0, C: float = 1.0):
        self.n_components = n_components
        self.strength = strength
        self.C = C

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to X (n, p), features of variance 1, and labels (n,)."""
        from skmatter.decomposition import PCovC

        classes = len(np.unique(y))
        scores = 1 if classes == 2 else classes
        model = PCovC(
            mixing=1 / (1 + self.strength * X.shape[1] / scores),
            n_components=self.n_components,
            classifier=_regression(self.C),
            scale_z=True,
            random_state=0,
        )
        self.model_ = model.fit(X, y)
        self.classes_ = model.classes_
        return self

    def transform(self, X: Any) -> Any:
        """Codes (n, r)."""
        return self.model_.transform(X)

    def predict(self, X: Any) -> Any:
        """Labels (n,)."""
        return self.model_.predict(X)


class Guided(ClassifierMixin, BaseEstimator):
    """MOFA-FLEX with the label as guiding variable, and logistic regression on its factors.

    One of the factors is guided. It has no function for new samples, so that codes of all are by least
    squares on its weights. The step size is ten times its default: so a fit takes a thousand steps.
    """

    def __init__(self, n_components: int = 2, lr: float = 0.01):
        self.n_components = n_components
        self.lr = lr

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to X (n, p) and labels 0…κ (n,)."""
        import anndata
        import mofaflex
        import pandas as pd

        names = [f"s{i}" for i in range(len(y))]
        obs = pd.DataFrame({"label": y.astype(np.float32)}, index=names)
        table = anndata.AnnData(X.astype(np.float32), obs=obs)
        two = y.max() == 1
        options = (
            mofaflex.DataOptions(
                guiding_vars_obs_keys="label", plot_data_overview=False, scale_per_group=False
            ),
            mofaflex.ModelOptions(
                n_factors=self.n_components - 1,
                likelihoods="Normal",
                guiding_vars_likelihoods="Bernoulli" if two else "Categorical",
                init_factors="pca",
            ),
            mofaflex.TrainingOptions(device="cpu", seed=0, lr=self.lr),
        )
        with (
            tempfile.TemporaryDirectory() as scratch,
            chdir(scratch),
            open(os.devnull, "w") as nowhere,
            redirect_stderr(nowhere),
        ):  # it saves every fit, and shows a bar
            model = mofaflex.MOFAFLEX({"all": {"features": table}}, *options)
        weights = model.get_weights()["features"].reindex(columns=table.var_names, fill_value=0.0)
        self.atoms_ = np.linalg.pinv(weights.to_numpy())
        self.classifier_ = _regression().fit(self.transform(X), y)
        self.classes_ = self.classifier_.classes_
        return self

    def transform(self, X: Any) -> Any:
        """Codes (n, r)."""
        return X @ self.atoms_

    def predict(self, X: Any) -> Any:
        """Labels (n,)."""
        return self.classifier_.predict(self.transform(X))


# --- with their candidates -------------------------------------------------------------------------------


def _ours(rank: int, folds: Any, sparse: bool) -> Any:
    return SMFClassifierCV(
        rank, preprocess=None if sparse else "center", class_weight="balanced", scoring=SCORING, cv=folds
    )


def _tuned(make: Callable[[int], tuple[Any, dict[str, Any]]]) -> Callable[[int, Any, bool], Any]:
    def build(rank: int, folds: Any, sparse: bool) -> Any:
        model, grid = make(rank)
        return _Search(model, grid, scoring=SCORING, cv=folds, error_score="raise")

    return build


class _Search(GridSearchCV):
    """One that finds factors once for all candidates that share them, as a thrifty user would."""

    def fit(self, X: Any, y: Any) -> Self:
        if not isinstance(self.estimator, Pipeline):
            return super().fit(X, y)
        with tempfile.TemporaryDirectory() as scratch:
            self.estimator.memory = scratch
            super().fit(X, y)
        self.best_estimator_.memory = None
        return self


def _components_and_regression(rank: int) -> tuple[Any, dict[str, Any]]:
    pca = PCA(rank, random_state=0)
    return _then_regression(("factors", pca)), {"lr__C": list(np.logspace(-4, 3, 8))}


def _covariates_classification(rank: int) -> tuple[Any, dict[str, Any]]:
    return Covariates(rank), {"strength": STRENGTHS, "C": [0.01, 1.0]}


def _augmented(rank: int) -> tuple[Any, dict[str, Any]]:
    grid = {"factors__strength": STRENGTHS, "lr__C": [0.1, 10.0]}
    return _then_regression(("short", Short()), ("factors", Augmented(rank))), grid


def _screened(rank: int) -> tuple[Any, dict[str, Any]]:
    grid = {"factors__share": [0.02, 0.1, 0.3, 1.0], "lr__C": [0.1, 10.0]}
    return _then_regression(("factors", ScreenedPCA(rank))), grid


class _Most(PCA):
    """As many components as there can be, where more are asked for."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        asked = self.n_components
        self.n_components = min(asked, min(X.shape) - 1)
        try:
            return super().fit_transform(X, y)
        finally:
            self.n_components = asked


class _AllAlike(LinearDiscriminantAnalysis):
    """With the same prior for every class."""

    def fit(self, X: Any, y: Any) -> Self:
        classes = len(np.unique(y))
        self.priors = np.full(classes, 1 / classes)
        return super().fit(X, y)


def _discriminants(rank: int) -> tuple[Any, dict[str, Any]]:
    lda = _AllAlike(solver="eigen")
    model = Pipeline([("pca", _Most(random_state=0)), ("lda", lda)])
    return model, {"pca__n_components": [5, 10, 20, 40], "lda__shrinkage": [0.01, "auto"]}


def _ridge(rank: int) -> tuple[Any, dict[str, Any]]:
    return _regression(), {"C": list(np.logspace(-5, 2, 8))}


# Callable(number of factors, inner folds, whether X is sparse) -> an estimator that tunes itself.
METHODS: dict[str, Callable[[int, Any, bool], Any]] = {
    OURS: _ours,
    "PCA + LR": _tuned(_components_and_regression),
    "PLS-DA": lambda rank, folds, sparse: Components(rank),
    "PCovC": _tuned(_covariates_classification),
    "AugmentedPCA + LR": _tuned(_augmented),
    "supervised PCA + LR": _tuned(_screened),
    "PCA + LDA": _tuned(_discriminants),
    "ridge LR": _tuned(_ridge),
}
# Who does not look at the number of factors.
ANY_RANK = ("PCA + LDA", "ridge LR")
# What they are imported from, where that is not scikit-learn.
PACKAGES = {"PCovC": "skmatter", "AugmentedPCA + LR": "apca", "MOFA-FLEX + LR": "mofaflex"}
GUIDED = "MOFA-FLEX + LR"


def installed(method: str) -> bool:
    """Whether the method can be run here."""
    return method not in PACKAGES or importlib.util.find_spec(PACKAGES[method]) is not None
