"""What a reader is shown by each method: values of the features on some directions, and which end is whose.

All get the same standardised X (n, p) and class numbers (n,). Two classes have one direction. K classes have
at most K − 1 where a method has factors (superfactor's predictive ones, the first K − 1 components of
PLS-DA), and the K rows of the classes where it has none. Factors are 2 for two classes and K for K.

superfactor      `SMFClassifier(n_components)` as it comes: the correlation with the factor, which is shown by
                 default, or the weight in its score as a share of the factor's largest
ridge LR         coefficients, the penalty chosen by the log loss in three folds
PLS-DA           weights; or loadings for one standard deviation of the component
PCA + LR         coefficients of a logistic regression on the components, as coefficients of the features
t-statistic      Welch's t; for K classes the F of an analysis of variance, shown at the class that differs
                 most from the others
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from superfactor import SMFClassifier
from superfactor.interpretation import factor_view

OURS, WEIGHTS, LOADINGS, STATISTIC = (
    "superfactor",
    "superfactor's weights",
    "PLS-DA's loadings",
    "t-statistic",
)
# In place of a class: all the others.
REST = -1
# For samples of unit length in the mean, from no slope at all to one that errs nowhere.
C = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
FOLDS = 3


@dataclass(frozen=True)
class Shown:
    """Values of the features on d directions.

    Attributes
    ----------
    values : (d, p), how far from the middle each feature stands, and at which end
    ends : (d, 2), the class that the high end is of, and the low one: a class number or REST
    correlations : (d, p), of the features with the scores of the directions
    """

    values: Any
    ends: Any
    correlations: Any

    def top(self, n: int) -> tuple[Any, Any, Any]:
        """The n features with the largest value in size on any direction; that direction; the sign there."""
        direction = np.abs(self.values).argmax(axis=0)
        value = self.values[direction, np.arange(self.values.shape[1])]
        features = np.argsort(-np.abs(value), kind="stable")[:n]
        return features, direction[features], np.sign(value[features])


def shown_by_all(X: Any, y: Any) -> dict[str, Shown]:
    """By the name of the method."""
    return {name: shown for reader in READERS for name, shown in reader(X, y).items()}


def superfactor(X: Any, y: Any) -> dict[str, Shown]:
    """What a view shows by default, and by weight."""
    model = SMFClassifier(n_components=n_factors(y)).fit(X, y)
    # Of two classes the second is up, as everywhere here.
    view = factor_view(model, positive=1 if _classes(y) == 2 else None)
    kept = view.predictive
    ends = _ends_of_factors(view.coef[:, kept], _classes(y))
    correlations = with_scores(X, X @ view.weights[kept].T)
    return {
        OURS: Shown(view.shown("correlation")[kept], ends, correlations),
        WEIGHTS: Shown(view.shown("weight")[kept], ends, correlations),
    }


def ridge(X: Any, y: Any) -> dict[str, Shown]:
    """Tuned ridge logistic regression, in coordinates with the same inner products."""
    U, values, axes = np.linalg.svd(X, full_matrices=False)
    kept = values > 1e-9 * values[0]
    rows = U[:, kept] * values[kept] / np.sqrt((values**2).sum() / len(X))
    folds = StratifiedKFold(min(FOLDS, int(np.bincount(y).min())), shuffle=True, random_state=0)
    regression = LogisticRegression(max_iter=1000)
    tuned = GridSearchCV(regression, {"C": C}, scoring="neg_log_loss", cv=folds).fit(rows, y)
    return {"ridge LR": _by_class(X, y, tuned.best_estimator_.coef_ @ axes[kept])}


def pls(X: Any, y: Any) -> dict[str, Shown]:
    """Regression of the indicators of the classes on X by partial least squares."""
    classes = _classes(y)
    found = PLSRegression(n_factors(y), scale=False).fit(X, np.eye(classes)[y])
    shown = slice(classes - 1)
    scores = found.x_scores_[:, shown]
    loadings = found.x_loadings_.T[shown] * scores.std(axis=0)[:, None]
    # Of the indicators of two classes, one is the other turned round.
    effect = found.y_loadings_[:, shown]
    ends = np.column_stack([effect.argmax(axis=0), effect.argmin(axis=0)])
    correlations = with_scores(X, scores)
    return {
        "PLS-DA's weights": Shown(found.x_weights_.T[shown], ends, correlations),
        LOADINGS: Shown(loadings, ends, correlations),
    }


def pca(X: Any, y: Any) -> dict[str, Shown]:
    """Principal components of unit variance, and logistic regression on them."""
    axes = PCA(n_factors(y), random_state=0, whiten=True).fit(X)
    regression = LogisticRegression(max_iter=1000).fit(axes.transform(X), y)
    slopes = regression.coef_ / np.sqrt(axes.explained_variance_)
    return {"PCA + LR": _by_class(X, y, slopes @ axes.components_)}


def statistic(X: Any, y: Any) -> dict[str, Shown]:
    """One feature at a time."""
    value, _ = tested(X, y)
    classes = _classes(y)
    if classes == 2:
        values = value[None]
    else:
        differences = np.array([_welch(X[y == c], X[y != c])[0] for c in range(classes)])
        most = np.arange(classes)[:, None] == np.abs(differences).argmax(axis=0)
        values = np.where(most, np.sign(differences) * value, 0.0)
    return {STATISTIC: Shown(values, _ends_of_classes(classes), values)}


READERS: tuple[Callable[[Any, Any], dict[str, Shown]], ...] = (superfactor, ridge, pls, pca, statistic)


def n_factors(y: Any) -> int:
    """2 for two classes, K for K."""
    return _classes(y)


def tested(X: Any, y: Any) -> tuple[Any, Any]:
    """Statistic and p-value (p,) of each feature: Welch's t of class 1 against 0, or F of several classes.

    A feature that does not vary has the statistic 0 and the p-value 1.
    """
    if _classes(y) == 2:
        return _welch(X[y == 1], X[y == 0])
    return _tidy(*_quietly(stats.f_oneway, *(X[y == c] for c in range(_classes(y)))))


def with_scores(X: Any, scores: Any) -> Any:
    """Correlations (d, p) of the columns of X (n, p) with those of the scores (n, d), 0 of constant ones."""
    X, scores = X - X.mean(axis=0), scores - scores.mean(axis=0)
    lengths = np.outer(np.linalg.norm(scores, axis=0), np.linalg.norm(X, axis=0))
    return scores.T @ X / np.where(lengths > 0, lengths, np.inf)


def _classes(y: Any) -> int:
    return int(y.max()) + 1


def _by_class(X: Any, y: Any, slopes: Any) -> Shown:
    """Slopes (1, p) of two classes, or (K, p) of several."""
    return Shown(slopes, _ends_of_classes(_classes(y)), with_scores(X, X @ slopes.T))


def _ends_of_classes(classes: int) -> Any:
    if classes == 2:
        return np.array([[1, 0]])
    return np.column_stack([np.arange(classes), np.full(classes, REST)])


def _ends_of_factors(coef: Any, classes: int) -> Any:
    """Return the classes with the largest and the smallest coefficient of a factor."""
    if classes == 2:
        return np.tile([1, 0], (coef.shape[1], 1))
    return np.column_stack([coef.argmax(axis=0), coef.argmin(axis=0)])


def _welch(one: Any, other: Any) -> tuple[Any, Any]:
    return _tidy(*_quietly(stats.ttest_ind, one, other, equal_var=False))


def _quietly(test: Callable[..., Any], *samples: Any, **options: Any) -> Any:
    """SciPy warns of features that do not vary; `_tidy` says what becomes of them."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return test(*samples, **options)


def _tidy(value: Any, p: Any) -> tuple[Any, Any]:
    sound = np.isfinite(value) & np.isfinite(p)
    return np.where(sound, value, 0.0), np.where(sound, p, 1.0)
