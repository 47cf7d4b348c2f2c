"""Class labels: two classes or more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from superfactor._words import counted, listed
from superfactor.estimators import SMFClassifier, targets
from superfactor.estimators.parameters import shown
from superfactor.estimators.targets import CheckedY
from superfactor.losses import Loss, resolve_link
from superfactor.outcomes.base import FEWEST, FEWEST_SPLITS, Outcome, Steps, Target
from superfactor.outcomes.metrics import absent_classes, probabilities
from superfactor.outcomes.metrics.metric import Metric
from superfactor.outcomes.metrics.probabilities import SMALLEST, UNEQUAL
from superfactor.outcomes.metrics.proportions import area_interval, balanced_interval, wilson
from superfactor.outcomes.pages import ClassPage
from superfactor.outcomes.reading import (
    ShownClasses,
    ShownOutputs,
    ShownSamples,
    Statistics,
    against_rest,
    by_columns,
    of_leading,
    one_column,
)
from superfactor.outcomes.ridge import OFF, ridge_probabilities, tuned

# Largest Hessian for Newton's method; larger problems use scikit-learn, one setting after another.
LARGEST_HESSIAN = 300
# Folds that tune ridge logistic regression.
_FOLDS = 5


class Classes(Outcome):
    """Class labels. Rows are probabilities (n, c); the truth is class numbers (m,)."""

    name = "classes"
    estimator = SMFClassifier
    # On microarrays, the weakest of equally good weights predicts best. Beyond this grid, smaller λ gains
    # nothing and larger ξ costs accuracy.
    steps = Steps(
        xi={"filter": (0.01, 0.1), "feature": (0.1, 1.0, 10.0)},
        lam={"filter": (1e-5, 1e-4, 1e-3, 1e-2), "feature": (1e-4, 1e-3, 1e-2, 1e-1)},
    )
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("accuracy", "accuracy", probabilities.accuracy, "%", high=1.0),
        Metric("balanced_accuracy", "balanced accuracy", probabilities.balanced_accuracy, "%", high=1.0),
        Metric("roc_auc", "ROC area", probabilities.roc_auc, high=1.0),
        Metric("log_loss", "log loss", probabilities.log_loss, higher_is_better=False),
        Metric("brier", "Brier score", probabilities.brier, higher_is_better=False),
    )
    guess_name = "always the most frequent class"
    guessing = "guessing"
    pca_name = "tuned PCA + logistic regression"
    ridge_name = "ridge logistic regression"
    pca_short = "PCA+LR"
    baselines_words = "tuned logistic regressions"
    of_each = " of each class"
    shuffled = "labels"
    page = ClassPage()

    # --- y ------------------------------------------------------------------------------------------

    def read(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> CheckedY:
        return targets.check_labels(y, X, name, unlabeled)

    def coded(self, given: CheckedY) -> tuple[Any, Any]:
        classes, codes = np.unique(given.labelled, return_inverse=True)
        return classes, codes

    def target(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> Target:
        found = super().target(y, X, name, unlabeled)
        if len(found.names) < 2:
            raise ValueError(
                f"y: {name} needs samples of at least 2 classes in the data, but the "
                f"data contains one class only: {shown(found.names[0])}"
            )
        return found

    def recognised(self, model: Any, given: CheckedY, name: str = "y") -> tuple[Any, Any]:
        classes, labels = np.asarray(model.classes_), given.labelled
        unknown = np.setdiff1d(labels, classes)
        if len(unknown):
            raise ValueError(
                f"{name}: {shown(unknown[0])} is no class of the model, which knows {shown(classes.tolist())}"
            )
        return classes, np.searchsorted(classes, labels)

    def decoded(self, truth: Any, names: Any) -> Any:
        return names[truth]

    def counts(self, target: Target) -> Any:
        return np.bincount(target.truth, minlength=len(target.names))

    # --- search -------------------------------------------------------------------------------------

    def n_outputs(self, target: Target) -> int:
        return len(target.names) - 1

    def fitted_attributes(self, target: Target) -> dict[str, Any]:
        return {"classes_": target.names}

    def search_strata(self, values: Any) -> Any:
        return values

    def check_training(self, target: Target, k: int, train: Any) -> None:
        super().check_training(target, k, train)
        present = np.unique(target.given.among(train).labelled)
        if len(present) < 2:
            raise ValueError(
                f"cv: the training part of split {k} has one class only: {shown(present[0])}; two or more "
                "are required (fewer splits, or stratified ones)"
            )

    def for_training(self, base: Any, target: Target, train: Any) -> Any:
        if not isinstance(base.class_weight, dict):
            return base
        present = set(target.given.among(train).labelled.tolist())
        weights = {c: weight for c, weight in base.class_weight.items() if c in present}
        return clone(base).set_params(class_weight=weights)

    def for_codes(self, search: Any, names: Any) -> Any:
        if not isinstance(search.class_weight, dict):
            return search
        numbers = {label: k for k, label in enumerate(names.tolist())}
        weights = {numbers.get(label, label): w for label, w in search.class_weight.items()}
        return clone(search).set_params(class_weight=weights)

    def choose_by(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        weights = getattr(model, "class_weight", None)
        left_out = [c for c, w in weights.items() if w == 0] if isinstance(weights, dict) else []
        if left_out:  # their probability is 0 by choice, so their likelihood shows nothing
            weight = np.ones(len(y)) if sample_weight is None else sample_weight
            sample_weight = np.where(np.isin(y, left_out), 0.0, weight)
        return absent_classes.log_likelihood(model, X, y, sample_weight)

    def measure(self, y: Any, predicted: Any, sample_weight: Any = None) -> float:
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def score(
        self, scorer: Callable[..., float], fitted: Any, X: Any, target: Target, test: Any, **extra: Any
    ) -> float:
        truth = target.values_at(test)
        return absent_classes.score_with_all_classes(scorer, fitted, X, truth, target.names, **extra)

    # --- folds --------------------------------------------------------------------------------------

    def strata(self, truth: Any) -> Any:
        return truth

    def stratum(self, target: Target, k: int) -> str:
        return f"class {shown(target.names[k])}"

    def n_splits(self, n: int) -> int:
        """Measured with 50 samples and 1,000 features: 40 of them lose 3 points of accuracy, 48 lose 1."""
        return 20 if n <= 60 else 10 if n < 100 else FEWEST_SPLITS

    def check_fold(self, truth: Any) -> None:
        if len(np.unique(truth)) < 2:
            raise ValueError(
                "groups: without the groups of one fold a single class is left; more groups of each class "
                "are required"
            )

    # --- evaluation ---------------------------------------------------------------------------------

    def check_evaluable(self, model: Any) -> None:
        if not hasattr(model, "predict_proba"):
            raise TypeError(
                f"search={type(model).__name__}: it has no predict_proba, but probabilities are evaluated; "
                "sklearn.calibration.CalibratedClassifierCV adds it to a classifier"
            )

    def rows(self, model: Any, X: Any, names: Any, **beside: Any) -> Any:
        found = model.predict_proba(X, **beside)
        return _aligned(found, np.searchsorted(names, model.classes_), len(names))

    def guess(self, truth: Any, n: int, k: int) -> Any:
        return np.tile(np.bincount(truth, minlength=k) / len(truth), (n, 1))

    def headline(self, truth: Any) -> str:
        """Return balanced accuracy if class sizes are unequal, otherwise accuracy."""
        counts = np.unique(truth, return_counts=True)[1]
        return "balanced_accuracy" if np.max(counts) > UNEQUAL * np.min(counts) else "accuracy"

    def guess_metric_values(self, truth: Any, rows: Any, everyone: Any) -> dict[str, float]:
        """Always predict the most frequent class of all samples, even if a training part has another one."""
        always = np.zeros_like(rows)
        always[:, np.bincount(everyone).argmax()] = 1.0
        shares = ("accuracy", "balanced_accuracy")
        return {m.name: m.function(truth, always if m.name in shares else rows) for m in self.metrics}

    def least_intervals(self, truth: Any, rows: Any) -> dict[str, tuple[float, float]]:
        confusion = self.confusion(truth, rows)
        return {
            "accuracy": wilson(int(np.trace(confusion)), len(truth)),
            "balanced_accuracy": balanced_interval(confusion),
        }

    def sample_intervals(self, truth: Any, rows: Any) -> dict[str, tuple[float, float]]:
        found = self.least_intervals(truth, rows)
        if rows.shape[1] == 2 and not self.one_sort(truth):
            yes = int(truth.sum())
            area = probabilities.roc_auc(truth, rows)
            found["roc_auc"] = area_interval(area, yes, len(truth) - yes)
        return found

    def confusion(self, truth: Any, rows: Any) -> Any:
        """Return the confusion matrix (c, c): rows are true classes, columns predicted ones."""
        found = np.zeros((rows.shape[1],) * 2, dtype=int)
        np.add.at(found, (truth, self.decided(rows)), 1)
        return found

    def calibrations(self, truth: Any, rows: Any) -> dict[str, tuple[float, float]]:
        if rows.shape[1] != 2:
            return {}
        fit = probabilities.calibration(truth == 1, rows[:, 1])
        found = {f"calibration_{name}": (fit[name], fit[f"{name}_error"]) for name in ("slope", "intercept")}
        found["calibration_in_the_large"] = probabilities.calibration_in_the_large(truth == 1, rows[:, 1])
        return found

    def decided(self, rows: Any) -> Any:
        return rows.argmax(axis=1)

    def chance(self, metric: str, truth: Any, rows: Any) -> float:
        return probabilities.chance_of(metric, truth, self.decided(rows), rows.shape[1])

    # --- baselines ----------------------------------------------------------------------------------

    def ridge_rows(self, A: Any, truth: Any, B: Any, penalties: Any, weight: Any, k: int) -> Iterable[Any]:
        known, codes = np.unique(truth, return_inverse=True)
        outputs = 1 if len(known) == 2 else len(known)
        if not sp.issparse(A) and A.shape[1] * outputs <= LARGEST_HESSIAN:
            found: Any = ridge_probabilities(A, codes, B, penalties, weight)
        else:
            found = _by_scikit_learn(A, codes, B, penalties, weight)
        return (_aligned(P, known, k) for P in found)

    def baseline_weights(self, truth: Any, balanced: bool) -> Any:
        if not balanced:
            return super().baseline_weights(truth, balanced)
        counts = np.bincount(truth)
        counts = counts[counts > 0]
        own = np.unique(truth, return_inverse=True)[1]
        return (len(own) / len(counts) / counts)[own]

    def guess_words(self, names: Any, counts: Any) -> str:
        return f"always {str(names[counts.argmax()])!r}"

    def balanced(self, model: Any) -> bool:
        weight = getattr(model, "class_weight", None)
        return isinstance(weight, str) and weight == "balanced"

    def likelihood(self, truth: Any, rows: Any) -> float:
        true = rows[np.arange(len(truth)), truth]
        return float(np.log(np.clip(true, SMALLEST, 1.0)).mean())

    # --- verdict ------------------------------------------------------------------------------------

    def one_sort(self, truth: Any) -> bool:
        return len(np.unique(truth)) < 2

    def enough(self, names: Any, truth: Any) -> bool:
        counts = np.unique(truth, return_counts=True)[1]
        return len(counts) > 2 or int(min(counts)) >= FEWEST

    def caveats(self, names: Any, truth: Any, predicted: Any, units: str) -> list[str]:
        present, counts = np.unique(truth, return_counts=True)
        never = [repr(str(names[k])) for k in present if k not in predicted]
        few = [
            f"{counted(int(count), units)} of class {str(names[k])!r}"
            for k, count in zip(present, counts, strict=True)
            if count < FEWEST
        ]
        sentences = []
        if never:
            plural = len(never) > 1
            sentences.append(
                f"Class{'es' * plural} {listed(never)} {'are' if plural else 'is'} never predicted."
            )
        if few:
            sentences.append(f"Only {listed(few)}: too few for a claim about it, which needs about {FEWEST}.")
        return sentences

    def advice(self, names: Any, truth: Any, predicted: Any, *, better: bool, balanced: bool) -> list[str]:
        never = any(k not in predicted for k in np.unique(truth))
        counts = np.unique(truth, return_counts=True)[1]
        unequal = max(counts) > UNEQUAL * min(counts)
        return ["balance"] if not balanced and (never or (not better and unequal)) else []

    # --- reading ------------------------------------------------------------------------------------

    output_column = "class"
    alone_name = "AUC"

    def class_names(self, estimator: Any) -> tuple[str, ...] | None:
        return tuple(str(label) for label in estimator.classes_)

    def shown_outputs(self, estimator: Any, positive: Any = None) -> ShownOutputs:
        """Of two classes, show the one that is rarer in the training samples; if equal, the second."""
        classes = tuple(str(label) for label in estimator.classes_)
        if len(classes) > 2:
            return ShownClasses(classes, classes).towards(positive)
        first, second = getattr(estimator, "class_count_", (0, 0))
        return ShownClasses(classes, (classes[int(second <= first)],), 0).towards(positive)

    def shown_samples(self, y: Any, classes: Any, outputs: Sequence[str]) -> ShownSamples:
        labels = np.array([str(label) for label in one_column(y)], dtype=object)
        return ShownSamples(labels, [*classes, *sorted(set(labels) - set(classes))])

    def is_own(self, estimator: Any, given: CheckedY) -> bool:
        return set(given.labelled) == set(estimator.classes_)

    def direction(self, coef: Any, outputs: Sequence[str]) -> str:
        if not np.any(coef):
            return "no effect"
        if len(outputs) == 1:  # one of two classes
            return f"{'higher' if coef[0] > 0 else 'lower'} → {outputs[0]}"
        return f"higher → {outputs[int(np.argmax(coef))]}, lower → {outputs[int(np.argmin(coef))]}"

    def change_words(self, outputs: Sequence[str]) -> str:
        if len(outputs) == 1:
            return f"change of the log-odds of “{outputs[0]}”"
        return "change of the log-odds of each class, against the mean of all,"

    def not_predicted(self, outputs: Sequence[str]) -> str:
        return "the classes, so they are not outlined"

    def resample_strata(self, values: Any) -> Any:
        return np.unique(values, return_inverse=True)[1]

    def stratum_named(self, classes: Any, code: int) -> str:
        return f"class {classes[code]!r}"

    def loss_of(self, estimator: Any, values: Any, weight: Any) -> tuple[Any, Loss]:
        numbers = _numbers(estimator.classes_, values)
        one_hot = (numbers[:, None] == np.arange(1, len(estimator.classes_))).astype(np.float64)
        return one_hot, resolve_link(estimator.link, one_hot.shape[1])

    def class_weights(self, estimator: Any, values: Any, weight: Any) -> Any:
        classes = estimator.classes_
        numbers = _numbers(classes, values)
        factor = targets.check_class_weight(estimator.class_weight, classes, numbers, weight)
        return np.ones(len(values)) if factor is None else factor

    def deviance(self, estimator: Any, values: Any, weight: Any) -> Callable[[Any], float]:
        link, numbers = estimator._loss.link, np.searchsorted(estimator.classes_, values)

        def of(a: Any) -> float:
            if a.shape[1] > 1:  # relative to the first class; a refit may have no sample of it
                a = a[:, 1:] - a[:, :1]
            scores = link.log_h(a)
            scores = np.concatenate([np.zeros_like(scores[:, :1]), scores], axis=1)
            chosen = np.take_along_axis(scores, numbers[:, None], axis=1)[:, 0]
            return float(weight @ (logsumexp(scores, axis=1) - chosen))

        return of

    def with_all_outputs(self, a: Any, known: Any, estimator: Any, missing: float) -> Any:
        classes = estimator.classes_
        if len(known.classes_) == len(classes):
            return a
        if len(known.classes_) == 2:  # a single log-odds
            a = np.concatenate([np.zeros_like(a), a], axis=-1)
        out = np.full((*a.shape[:-1], len(classes)), missing)
        out[..., np.searchsorted(classes, known.classes_)] = a
        return out

    def alone(self, view: Any, values: Any, scores: Any, weight: Any) -> tuple[Any, tuple[str, ...]]:
        labels, classes, effect = np.asarray([str(label) for label in values]), view.classes, view.coef
        areas = [[roc_auc_score(labels == c, t, sample_weight=weight) for t in scores.T] for c in classes]
        if len(classes) == 2:
            effect = np.vstack([effect if c in view.outputs else -effect for c in classes])
        table = np.array(areas)
        return of_leading(effect, table, table, classes)  # the largest area is at least ½

    def univariate(
        self, estimator: Any, outputs: Sequence[str], X: Any, values: Any, weight: Any = None
    ) -> Statistics:
        classes = estimator.classes_
        numbers = _numbers(classes, values)
        absent = np.setdiff1d(np.arange(len(classes)), numbers)
        if len(absent):
            raise ValueError(
                f"y: no sample of class {shown(classes[absent[0]])}; samples of every class are required"
            )
        found = by_columns(X, partial(against_rest, codes=numbers, count=len(classes), weight=weight))
        names = [str(label) for label in classes]
        kept = [names.index(name) for name in outputs]
        return {name: array[kept] for name, array in found.items()}

    def effect_kind(self, estimator: Any) -> str:
        return "odds ratio" if estimator.link == "logistic" else "coefficient"

    def ridge_directions(self, Z: Any, values: Any, strengths: Sequence[float], weight: Any) -> Any:
        rarest = int(np.unique(values, return_counts=True)[1].min())
        folds: list[Any] = []
        if rarest >= 2:
            splitter = StratifiedKFold(min(_FOLDS, rarest), shuffle=True, random_state=0)
            folds = list(splitter.split(np.zeros(len(values)), values))

        def fit(strength: float, rows: Any) -> Any:
            return LogisticRegression(C=strength, max_iter=1000).fit(Z[rows], values[rows], weight[rows])

        def loss(model: Any, rows: Any) -> float:
            chosen = np.searchsorted(model.classes_, values[rows])
            true = model.predict_proba(Z[rows])[np.arange(len(rows)), chosen]
            return -float(weight[rows] @ np.log(np.maximum(true, SMALLEST)))

        return tuned(strengths, folds, fit, loss).coef_.T


def _numbers(classes: Any, labels: Any) -> Any:
    """Return the class number of each label (n,) in the model."""
    places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    strange = np.flatnonzero(classes[places] != labels)
    if len(strange):
        raise ValueError(
            f"y: {shown(labels[strange[0]])} is no class of the model, {shown(classes.tolist())}"
        )
    return places


def _aligned(rows: Any, known: Any, k: int) -> Any:
    """Expand probabilities (n, len(known)) to all k classes; classes that are not known get 0."""
    if len(known) == k:
        return rows
    full = np.zeros((len(rows), k))
    full[:, known] = rows
    return full


def _by_scikit_learn(A: Any, codes: Any, B: Any, penalties: Any, weight: Any) -> Iterator[Any]:
    """Return probabilities of logistic regressions; each starts at the solution of the previous one."""
    model = LogisticRegression(max_iter=300, warm_start=True)
    for penalty in penalties:
        # Every penalty is 1/C, or OFF for a component that is not used.
        kept = np.flatnonzero(penalty < OFF)
        whole = len(kept) == len(penalty)
        own = model if whole else LogisticRegression(max_iter=300)
        seen, asked = (A, B) if whole else (A[:, kept], B[:, kept])
        own.set_params(C=1 / penalty[kept[0]]).fit(seen, codes, weight)
        yield own.predict_proba(asked)
