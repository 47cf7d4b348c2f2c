"""Split, select, fit, score: what `fit` and `demo` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.prepare import PreparedTable
from superfactor.cli.screen import Screen

FOLDS = 5
# Up to here, matrices are too small for threads to pay.
SMALL_SIDE = 1000


@dataclass(frozen=True)
class Settings:
    """How to learn.

    Attributes
    ----------
    rank, xi, lam : one value, a list to choose from, or "auto"
    model : "filter" or "feature"
    standardize : give every column mean 0 and variance 1; otherwise only the mean is taken off
    balance : let every class weigh the same in the loss, however many samples it has
    test_size : share of the samples to hold out, 0 for none
    seed : of the split and the folds
    folds : of the cross-validation, 5 at most or as asked
    certify : "residual" or "ascent", the proof of optimality
    """

    rank: Any = "auto"
    xi: Any = "auto"
    lam: Any = "auto"
    model: str = "filter"
    standardize: bool = True
    balance: bool = False
    test_size: float = 0.25
    seed: int = 0
    folds: int | None = None
    certify: str = "residual"


@dataclass(frozen=True)
class Learned:
    """A model and what it was learned from.

    Attributes
    ----------
    search : SMFClassifierCV, fitted to the training samples
    train, held_out : positions of the samples in the table
    scores : "held_out" and "training", each a dict of figures or None where there are no samples
    """

    samples: PreparedTable
    settings: Settings
    search: Any
    train: Any
    held_out: Any
    scores: dict[str, Any]

    @property
    def model(self) -> Any:
        """The fitted pipeline."""
        return self.search.best_estimator_

    @property
    def estimator(self) -> Any:
        """The SMFClassifier at its end."""
        return self.model[-1]

    def part(self, positions: Any) -> tuple[Any, Any]:
        """X and labels of some of the samples."""
        return self.samples.X[positions], self.samples.y[positions]


def learn(samples: PreparedTable, settings: Settings, screen: Screen) -> Learned:
    """Hold samples out, choose rank and weights on the others, fit, and score on those held out."""
    with screen.step("select and fit"), screen.progress("choosing rank and weights") as progress:
        train, held_out = split(samples, settings)
        X, y = samples.X[train], samples.y[train]
        search = search_for(samples, settings, y)
        fit_search(search, X, y, progress)
    search.best_estimator_[-1].set_feature_names(samples.names, samples.encoding)
    learned = Learned(samples, settings, search, train, held_out, {})
    with screen.step("score"), few_threads(X):
        learned.scores.update(_scores(learned))
    return learned


def fit_search(search: Any, X: Any, y: Any, progress: Any) -> None:
    """Fit an SMFClassifierCV to X (n, p) and labels (n,), calling ``progress(done, total)``."""
    with as_user_error(), few_threads(X):
        search.on_progress(progress).fit(X, y)


def few_threads(X: Any) -> Any:
    """One thread for the linear algebra of small sides: two of them mostly wait for each other.

    On a busy machine that waiting doubles the time. Large X (n, p) keeps all threads.
    """
    from contextlib import nullcontext

    from superfactor._arrays import one_blas_thread

    return one_blas_thread if min(X.shape) <= SMALL_SIDE else nullcontext()


def split(samples: PreparedTable, settings: Settings) -> tuple[Any, Any]:
    """Positions of the samples to learn from and of those held out, class by class."""
    import numpy as np

    if not 0 <= settings.test_size < 1:
        raise UserError(
            f"--test-size {settings.test_size:g}: from 0 up to but without 1 is required"
        )
    everyone = np.arange(len(samples.y))
    if settings.test_size == 0:
        return everyone, everyone[:0]
    from sklearn.model_selection import train_test_split

    classes, counts = np.unique(samples.y, return_counts=True)
    # Two for the cross-validation, one to hold out.
    if counts.min() < 3:
        raise UserError(
            f"{samples.path}: class {str(classes[counts.argmin()])!r} has {counts.min()} sample(s); 3 are "
            "required, or 2 with --test-size 0"
        )
    with as_user_error(f"--test-size {settings.test_size:g}: "):
        train, held_out = train_test_split(
            everyone, test_size=settings.test_size, stratify=samples.y, random_state=settings.seed
        )
    return np.sort(train), np.sort(held_out)


def search_for(samples: PreparedTable, settings: Settings, y: Any) -> Any:
    """The search with the folds these labels (n,) allow, not yet fitted."""
    import numpy as np
    from sklearn.model_selection import StratifiedKFold

    from superfactor.selection import SMFClassifierCV

    classes, counts = np.unique(y, return_counts=True)
    fewest = int(counts.min())
    if fewest < 2:
        raise UserError(
            f"{samples.path}: class {str(classes[counts.argmin()])!r} has one sample to learn from; "
            "cross-validation needs 2 of each"
        )
    folds = min(settings.folds or FOLDS, fewest)
    _check_ranks(settings.rank, len(y) - -(-len(y) // folds), samples.n_features)
    p, q = samples.n_features, samples.n_covariates
    # By log loss: probabilities are what people get, and accuracies tie (docs/selection.md).
    return SMFClassifierCV(
        settings.rank,
        model=settings.model,
        xi=settings.xi,
        lam=settings.lam,
        preprocess="standardize" if settings.standardize else "center",
        cv=StratifiedKFold(folds, shuffle=True, random_state=settings.seed),
        covariate_columns=list(range(p, p + q)) or None,
        scoring="neg_log_loss",
        class_weight="balanced" if settings.balance else None,
        prediction="fast",
        certify=settings.certify,
        random_state=settings.seed,
    )


def _check_ranks(rank: Any, n_samples: int, n_features: int) -> None:
    largest = min(n_samples, n_features)
    for value in [] if rank == "auto" else rank if isinstance(rank, list) else [rank]:
        if not 1 <= value <= largest:
            raise UserError(
                f"--rank {value}: from 1 to {largest} is possible here ({n_samples} samples in the "
                f"smallest training part of the cross-validation, {n_features} features)"
            )


def _scores(learned: Learned) -> dict[str, Any]:
    import numpy as np

    from superfactor.report.evaluation import evaluate

    classes = learned.model.classes_
    counts = np.bincount(np.searchsorted(classes, learned.samples.y[learned.train]))
    frequent = classes[counts.argmax()]

    def figures(positions: Any) -> dict[str, Any] | None:
        if not len(positions):
            return None
        X, y = learned.part(positions)
        truth = np.searchsorted(classes, y)  # classes are sorted
        found = evaluate(truth, learned.model.predict_proba(X))
        return {
            "samples": found.n,
            "accuracy": found.accuracy,
            "accuracy_interval_95": list(found.interval),
            "balanced_accuracy": found.balanced_accuracy,
            "roc_auc": found.area,
            "confusion": found.confusion.tolist(),
            "most_frequent_class": {
                "label": str(frequent),
                "accuracy": float(np.mean(y == frequent)),
            },
        }

    return {"held_out": figures(learned.held_out), "training": figures(learned.train)}
