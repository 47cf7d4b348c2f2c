"""Several yes/no labels at once; each entry may be missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import accuracy_score, roc_auc_score

from superfactor._words import counted, listed
from superfactor.estimators import SMFClassifier, targets
from superfactor.estimators.parameters import shown
from superfactor.estimators.targets import CheckedY
from superfactor.losses import FlagsLoss, Loss
from superfactor.outcomes.base import FEWEST, FEWEST_SPLITS, Outcome, Split, Steps, Target, Units
from superfactor.outcomes.classes import Classes
from superfactor.outcomes.flag_folds import even_folds, rarest_answers
from superfactor.outcomes.metrics.metric import Metric
from superfactor.outcomes.metrics.probabilities import SMALLEST, roc_area
from superfactor.outcomes.pages import FlagPage
from superfactor.outcomes.reading import (
    ShownFlags,
    ShownOutputs,
    ShownSamples,
    Statistics,
    against_rest,
    by_columns,
    of_leading,
)

# Permutations of the test against chance, and the most numbers that they may read in total.
_DRAWS, _MOST_NUMBERS = 9999, 20_000_000
# Combinations of labels that a plot distinguishes.
_COMBINATIONS = 6
# Draws of folds before it is an error that a training part has only one value of a label.
_ATTEMPTS = 20
_CLASSES = Classes()


def _areas(truth: Any, rows: Any) -> list[float]:
    """Return the ROC area of each label; NaN if all its known values are the same."""
    found = []
    for true, row in zip(truth.T, rows.T, strict=True):
        known = ~np.isnan(true)
        found.append(roc_area(true[known] == 1, row[known]))
    return found


def _mean(values: Sequence[float]) -> float:
    """Return the mean of the values that are not NaN."""
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


def _roc_auc(truth: Any, rows: Any) -> float:
    return _mean(_areas(truth, rows))


def _balanced_accuracy(truth: Any, rows: Any) -> float:
    said, found = rows > 0.5, []
    for answer in (0, 1):
        asked = truth == answer
        right = np.sum(asked & (said == answer), axis=0)
        found.append(right / np.where(asked.any(axis=0), asked.sum(axis=0), np.nan))
    return _mean(np.mean(found, axis=0))


def _log_loss(truth: Any, rows: Any) -> float:
    return -float(np.mean(_log_likelihoods(truth, rows)))


def _log_likelihoods(truth: Any, rows: Any) -> Any:
    """Return the log-likelihood of each known entry, flattened."""
    known = ~np.isnan(truth)
    true = np.where(truth == 1, rows, 1.0 - rows)[known]
    return np.log(np.clip(true, SMALLEST, 1.0))


def _brier(truth: Any, rows: Any) -> float:
    return float(np.nanmean((truth - rows) ** 2))


class Flags(Outcome):
    """Several yes/no labels. Rows are probabilities of a yes (n, κ); the truth is 0, 1 or NaN (n, κ)."""

    name = "flags"
    estimator = SMFClassifier
    # The grid of λ of the filter model surrounds its automatic value, t = 0.001. ξ has little effect up to
    # 0.3. In the feature model the best ξ increases with λ, from (0.1, 1e-4) to (1, 1e-2).
    steps = Steps(
        xi={"filter": (0.01, 0.1), "feature": (0.1, 1.0)},
        lam={"filter": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2), "feature": (1e-4, 1e-3, 1e-2)},
    )
    metrics = (
        Metric("roc_auc", "mean ROC area of the labels", _roc_auc, high=1.0),
        Metric("balanced_accuracy", "mean balanced accuracy", _balanced_accuracy, "%", high=1.0),
        Metric("log_loss", "log loss", _log_loss, higher_is_better=False),
        Metric("brier", "Brier score", _brier, higher_is_better=False),
    )
    guess_name = "always the share of each label"
    guessing = "guessing"
    pca_name = "tuned PCA + logistic regressions"
    ridge_name = "ridge logistic regressions"
    pca_short = "PCA+LR"
    baselines_words = "tuned logistic regressions, one for each label"
    of_each = " with 0 and with 1 in each label"
    shuffled = "labels"
    page = FlagPage()

    def is_of(self, model: Any, y: Any) -> bool:
        if y is not None:
            return targets.has_several_columns(y)
        return isinstance(getattr(model, "_loss", None), FlagsLoss)

    # --- y ------------------------------------------------------------------------------------------

    def read(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> CheckedY:
        return targets.check_flags(y, X, name, unlabeled)

    def coded(self, given: CheckedY) -> tuple[Any, Any]:
        return given.names, given.labelled

    def target(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> Target:
        found = super().target(y, X, name, unlabeled)
        targets.check_both_values(found.truth, found.names)
        return found

    def recognised(self, model: Any, given: CheckedY, name: str = "y") -> tuple[Any, Any]:
        return model.classes_, targets.flags_in_order(given, model.classes_, name).labelled

    def counts(self, target: Target) -> Any:
        """Return the number of samples with each label."""
        return np.sum(target.truth == 1, axis=0)

    # --- search -------------------------------------------------------------------------------------

    def n_outputs(self, target: Target) -> int:
        return len(target.names)

    def fitted_attributes(self, target: Target) -> dict[str, Any]:
        return {"classes_": target.names}

    def search_strata(self, values: Any) -> Any:
        return self.strata(values)

    def check_training(self, target: Target, k: int, train: Any) -> None:
        super().check_training(target, k, train)
        values = target.given.among(train).labelled
        targets.check_both_values(values, target.names, f"cv: in the training part of split {k}")

    def choose_by(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the mean log-probability of the known entries."""
        rows = self.rows(model, X, None)
        if sample_weight is None:
            return self.likelihood(y, rows)
        weight = np.broadcast_to(np.asarray(sample_weight)[:, None], y.shape)[~np.isnan(y)]
        return float(np.average(_log_likelihoods(y, rows), weights=weight))

    def measure(self, y: Any, predicted: Any, sample_weight: Any = None) -> float:
        complete = ~np.isnan(y).any(axis=1)
        weight = None if sample_weight is None else sample_weight[complete]
        return float(accuracy_score(y[complete], predicted[complete], sample_weight=weight))

    # --- folds --------------------------------------------------------------------------------------

    def strata(self, truth: Any) -> Any:
        return rarest_answers(truth)

    def sizes(self, truth: Any, groups: Any) -> list[int]:
        """Return, for each label, the number of samples with 0 and with 1."""
        asked = [column == answer for column in truth.T for answer in (0, 1)]
        return [int(own.sum()) if groups is None else len(np.unique(groups[own])) for own in asked]

    def stratum(self, target: Target, k: int) -> str:
        return f"value {k % 2} of label {shown(target.names[k // 2])}"

    def n_splits(self, n: int) -> int:
        return 10 if n < 100 else FEWEST_SPLITS

    def splits(self, truth: Any, groups: Any, n_splits: int, seed: int) -> list[Split]:
        for attempt in range(_ATTEMPTS):
            found = even_folds(truth, groups, n_splits, np.random.default_rng([seed, attempt]))
            trained = np.array([self.sizes(truth[train], None) for train, _ in found])
            if trained.min() > 0:
                return found
        raise ValueError(
            f"y: no {n_splits} folds leave 0 and 1 of every label in each training part; more "
            f"{'samples' if groups is None else 'groups'} of the rarest are required"
        )

    # --- evaluation ---------------------------------------------------------------------------------

    def check_evaluable(self, model: Any) -> None:
        _CLASSES.check_evaluable(model)

    def rows(self, model: Any, X: Any, names: Any, **beside: Any) -> Any:
        found = model.predict_proba(X, **beside)
        # scikit-learn's trees return a pair of columns for each label.
        return np.column_stack([p[:, -1] for p in found]) if isinstance(found, list) else np.asarray(found)

    def guess(self, truth: Any, n: int, k: int) -> Any:
        return np.tile(np.nanmean(truth, axis=0), (n, 1))

    def metrics_by_label(self, names: Any, truth: Any, rows: Any) -> list[tuple[str, int, float, float]]:
        """Return for each label: its name, the number of known entries, the share of ones, the ROC area."""
        known = ~np.isnan(truth)
        areas = _areas(truth, rows)
        return [
            (str(label), int(known[:, c].sum()), float(np.mean(truth[known[:, c], c])), areas[c])
            for c, label in enumerate(names)
        ]

    def decided(self, rows: Any) -> Any:
        return (rows > 0.5).astype(int)

    def as_units(self, truth: Any, rows: Any, groups: Any) -> Units:
        found = super().as_units(np.nan_to_num(truth, nan=-1.0), rows, groups)  # NaN differs from itself
        return replace(found, truth=np.where(found.truth < 0, np.nan, found.truth))

    def chance(self, metric: str, truth: Any, rows: Any) -> float:
        """Permute samples; all labels of a sample stay together.

        The statistic is the mean rank of samples with 1 minus the mean rank of samples with 0, summed over
        labels. Without missing entries it is equivalent to the mean ROC area.
        """
        sums = []
        for answer in (1, 0):
            asked = truth == answer
            sums.append(asked / np.maximum(asked.sum(axis=0), 1) * (truth == 1 - answer).any(axis=0))
        contrast, ranks = sums[0] - sums[1], rankdata(rows, axis=0)
        rng, reached = np.random.default_rng(0), 0
        draws = int(min(_DRAWS, max(99, _MOST_NUMBERS // truth.size)))
        own = np.sum(contrast * ranks)
        for _ in range(draws):
            reached += bool(np.sum(rng.permutation(contrast) * ranks) >= own - 1e-9)
        return (1 + reached) / (1 + draws)

    # --- baselines ----------------------------------------------------------------------------------

    def ridge_rows(self, A: Any, truth: Any, B: Any, penalties: Any, weight: Any, k: int) -> Sequence[Any]:
        """Fit one regression for each label, all with the same penalty."""
        found = np.empty((len(penalties), B.shape[0], k))
        for c, column in enumerate(truth.T):
            known = np.flatnonzero(~np.isnan(column))
            own = column[known].astype(int)
            if len(np.unique(own)) < 2:
                found[:, :, c] = np.mean(own) if len(own) else 0.5
                continue
            rows = _CLASSES.ridge_rows(A[known], own, B, penalties, weight[known], 2)
            found[:, :, c] = [P[:, 1] for P in rows]
        return list(found)

    def likelihood(self, truth: Any, rows: Any) -> float:
        return float(np.mean(_log_likelihoods(truth, rows)))

    # --- verdict ------------------------------------------------------------------------------------

    def enough(self, names: Any, truth: Any) -> bool:
        """Return whether some label has enough samples with 0 and enough with 1."""
        return max(_rarer(truth)) >= FEWEST

    def caveats(self, names: Any, truth: Any, predicted: Any, units: str) -> list[str]:
        few = [
            f"{counted(count, units)} with {int(np.nanmean(column) < 0.5)} in {str(label)!r}"
            for label, column, count in zip(names, truth.T, _rarer(truth), strict=True)
            if count < FEWEST
        ]
        if not few:
            return []
        return [f"Only {listed(few)}: too few for a claim about it, which needs about {FEWEST}."]

    # --- reading ------------------------------------------------------------------------------------

    output_column = "label"
    alone_name = "AUC"

    def shown_outputs(self, estimator: Any, positive: Any = None) -> ShownOutputs:
        return ShownFlags(None, tuple(str(label) for label in estimator.classes_)).towards(positive)

    def shown_samples(self, y: Any, classes: Any, outputs: Sequence[str]) -> ShownSamples:
        """Return the combination of labels of each sample; rare combinations are "other".

        A y of one column is shown as class labels.
        """
        if not targets.has_several_columns(y):
            return _CLASSES.shown_samples(y, [], outputs)
        given = targets.check_flags(y, np.empty((len(y), 0)), "y")
        names = [str(label) for label in given.names]
        said = [
            "not known"
            if np.isnan(row).any()
            else " + ".join(n for n, f in zip(names, row, strict=True) if f)
            for row in given.values
        ]
        labels = np.array([word or "none" for word in said], dtype=object)
        words, counts = np.unique(labels[labels != "not known"], return_counts=True)
        kept = sorted(words[np.argsort(-counts, kind="stable")][:_COMBINATIONS])
        labels[~np.isin(labels, [*kept, "not known"])] = "other"
        return ShownSamples(labels, [*kept, *[w for w in ("other", "not known") if np.any(labels == w)]])

    def is_own(self, estimator: Any, given: CheckedY) -> bool:
        return bool(given.values.shape[1] == len(estimator.classes_))

    def direction(self, coef: Any, outputs: Sequence[str]) -> str:
        leading = int(np.argmax(np.abs(coef)))
        if not coef[leading]:
            return "no effect"
        return f"higher → {'more' if coef[leading] > 0 else 'less'} often {outputs[leading]}"

    def change_words(self, outputs: Sequence[str]) -> str:
        return "change of the log-odds of each label"

    def not_predicted(self, outputs: Sequence[str]) -> str:
        return "the labels"

    def resample_strata(self, values: Any) -> Any:
        return self.strata(values)

    def loss_of(self, estimator: Any, values: Any, weight: Any) -> tuple[Any, Loss]:
        return values, FlagsLoss()

    def alone(self, view: Any, values: Any, scores: Any, weight: Any) -> tuple[Any, tuple[str, ...]]:
        areas = []
        for column in values.T:
            known = ~np.isnan(column)
            own = partial(roc_auc_score, column[known], sample_weight=weight[known])
            areas.append([own(t[known]) for t in scores.T])
        table = np.array(areas)
        return of_leading(np.abs(view.coef), table, np.abs(table - 0.5), view.outputs)

    def univariate(
        self, estimator: Any, outputs: Sequence[str], X: Any, values: Any, weight: Any = None
    ) -> Statistics:
        parts = []
        for column in values.T:
            known = np.flatnonzero(~np.isnan(column))
            own = None if weight is None else weight[known]
            codes = column[known].astype(int)
            found = by_columns(X[known], partial(against_rest, codes=codes, count=2, weight=own))
            parts.append({name: array[1] for name, array in found.items()})
        return {name: np.array([part[name] for part in parts]) for name in parts[0]}

    def effect_kind(self, estimator: Any) -> str:
        return "odds ratio"

    def ridge_directions(self, Z: Any, values: Any, strengths: Sequence[float], weight: Any) -> Any:
        found = []
        for column in values.T:
            known = np.flatnonzero(~np.isnan(column))
            own = column[known].astype(int)
            found.append(_CLASSES.ridge_directions(Z[known], own, strengths, weight[known]))
        return np.hstack(found)


def _rarer(truth: Any) -> list[int]:
    """Return the number of samples with the rarer value of each label."""
    return [int(n) for n in np.minimum((truth == 0).sum(axis=0), (truth == 1).sum(axis=0))]
