"""The figures of a nested cross-validation and what they mean: `NestedScores`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor.selection.measures import (
    METRICS,
    bounded,
    chance_of,
    corrected_interval,
    headline_metric,
    widened,
)
from superfactor.selection.out_of_fold import OutOfFold
from superfactor.selection.outer import MODEL, OuterFold
from superfactor.selection.permutation import PermutationTest
from superfactor.selection.proportions import NORMAL_975, balanced_interval, wilson
from superfactor.selection.rivals import FREQUENT
from superfactor.selection.verdict import Verdict, judge


@dataclass(frozen=True)
class NestedScores:
    """Figures of samples that the models had not seen, over all folds and repeats.

    Attributes
    ----------
    procedure : dict
        What was judged: the class, and the parameters that decide what it learns.
    classes : array of shape (c,)
        Labels.
    counts : array of shape (c,)
        Samples of each class.
    n_splits, n_repeats : int
        Outer folds, and how often they were drawn.
    headline : str
        The metric that counts, "accuracy", or "balanced_accuracy" where classes are unequal.
    folds : dict
        Method → metric → (n_repeats, n_splits); the model itself is "model".
    repeats : dict
        Method → metric → (n_repeats,), for two classes with slope and intercept of the calibration.
    summary : dict
        Metric → mean, low, high of the model: 95 % intervals corrected for shared training samples.
    rivals : dict
        Rival → the same.
    differences : dict
        Rival → metric (the headline), mean, low, high of the model's score less the rival's.
    predictions : array of shape (n, c)
        Out-of-fold probabilities of the first repeat, of the samples that have a label.
    predicted : array of shape (n,)
        Class numbers by the mean out-of-fold probabilities of all repeats.
    chance : float
        p-value of `predicted` against labels that know nothing of them.
    chosen : tuple of dict
        Parameters of every choice, repeat by repeat and fold by fold.
    permutation : PermutationTest, optional
        Shuffled labels, or None.
    verdict : Verdict
        All of it in words.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifierCV
    >>> from superfactor.selection import nested_scores
    >>> X, y = load_iris(return_X_y=True)
    >>> scores = nested_scores(SMFClassifierCV(), X, y, n_repeats=1, rivals=False)
    >>> scores.procedure["class"], scores.procedure["parameters"]["n_components"]
    ('SMFClassifierCV', 'auto')
    >>> scores.headline, scores.n_splits
    ('accuracy', 5)
    >>> scores.predictions.shape
    (150, 3)
    >>> {name: round(value, 2) for name, value in scores.summary["accuracy"].items()}
    {'mean': 0.97, 'low': 0.93, 'high': 1.0}
    """

    procedure: dict[str, Any]
    classes: Any
    counts: Any
    n_splits: int
    n_repeats: int
    headline: str
    folds: dict[str, dict[str, Any]]
    repeats: dict[str, dict[str, Any]]
    summary: dict[str, dict[str, float]]
    rivals: dict[str, dict[str, dict[str, float]]]
    differences: dict[str, dict[str, Any]]
    predictions: Any
    predicted: Any
    chance: float
    chosen: tuple[dict[str, Any], ...]
    permutation: PermutationTest | None
    verdict: Verdict

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as scripts get them; the verdict too."""
        return {
            "procedure": self.procedure,
            "n_splits": self.n_splits,
            "n_repeats": self.n_repeats,
            "headline": self.headline,
            "summary": self.summary,
            "rivals": self.rivals,
            "differences": self.differences,
            "chance": self.chance,
            "repeats": {
                method: {metric: values.tolist() for metric, values in found.items()}
                for method, found in self.repeats.items()
            },
            "permutation": None if self.permutation is None else self.permutation.as_dict(),
            "verdict": self.verdict.as_dict(),
        }


def concluded(
    procedure: dict[str, Any],
    work: OuterFold,
    table: OutOfFold,
    chosen: tuple[dict[str, Any], ...],
    permutation: PermutationTest | None,
    covariate_names: Sequence[str],
) -> NestedScores:
    """All figures of the out-of-fold probabilities, and the verdict on them."""
    classes = work.classes
    counts = np.bincount(table.codes)
    headline = headline_metric(counts)
    folds = {method: table.fold_scores(method) for method in table.methods}
    repeats: dict[str, dict[str, Any]] = {}
    summaries: dict[str, dict[str, dict[str, float]]] = {}
    for method, found in folds.items():
        repeats[method] = {metric: np.nanmean(found[metric], axis=1) for metric in METRICS}
        summaries[method] = {
            metric: bounded(metric, corrected_interval(found[metric].ravel(), table.ratio))
            for metric in METRICS
        }
        # Folds that happen to agree are no certainty: never narrower than so many samples allow.
        for metric, ends in _shares(table, method).items():
            summaries[method][metric] = widened(summaries[method][metric], ends)
        if len(classes) == 2 and method != FREQUENT:
            fits = table.calibrations(method)
            for name in ("slope", "intercept"):
                values = np.array([fit[name] for fit in fits])
                error = float(np.mean([fit[f"{name}_error"] for fit in fits]))
                repeats[method][f"calibration_{name}"] = values
                summaries[method][f"calibration_{name}"] = _around(float(values.mean()), error)
    differences: dict[str, dict[str, Any]] = {
        rival: {"metric": headline}
        | corrected_interval((folds[MODEL][headline] - folds[rival][headline]).ravel(), table.ratio)
        for rival in table.methods
        if rival != MODEL
    }
    guess = summaries[FREQUENT][headline]["mean"]
    low, high = _shares(table, MODEL)[headline]
    differences[FREQUENT] = widened(differences[FREQUENT], (low - guess, high - guess))
    predicted = _predicted(table, MODEL)
    truth, votes, units = table.votes(work.own_groups)
    chance = chance_of(headline, truth, votes, len(classes))
    verdict = judge(
        headline,
        summaries[MODEL][headline],
        guess,
        differences,
        chance,
        counts=dict(zip(classes.tolist(), np.bincount(truth).tolist(), strict=True)),
        predicted=dict(
            zip(classes.tolist(), np.bincount(predicted, minlength=len(classes)).tolist(), strict=True)
        ),
        units=units,
        covariates=covariate_names,
        balanced=work.balanced,
        permutation=None if permutation is None else permutation.as_dict(),
    )
    return NestedScores(
        procedure=procedure,
        classes=classes,
        counts=counts,
        n_splits=len(table.splits[0]),
        n_repeats=len(table.splits),
        headline=headline,
        folds=folds,
        repeats=repeats,
        summary=summaries.pop(MODEL),
        rivals=summaries,
        differences=differences,
        predictions=table.probabilities[MODEL][0],
        predicted=predicted,
        chance=chance,
        chosen=chosen,
        permutation=permutation,
        verdict=verdict,
    )


def _predicted(table: OutOfFold, method: str) -> Any:
    """Class numbers (n,) by the mean out-of-fold probabilities of all repeats."""
    return table.probabilities[method].mean(axis=0).argmax(axis=1)


def _shares(table: OutOfFold, method: str) -> dict[str, tuple[float, float]]:
    """Intervals of the shares of right answers as if each sample had been asked once."""
    confusion = np.zeros((table.n_classes,) * 2, dtype=int)
    np.add.at(confusion, (table.codes, _predicted(table, method)), 1)
    return {
        "accuracy": wilson(int(np.trace(confusion)), len(table.codes)),
        "balanced_accuracy": balanced_interval(confusion),
    }


def _around(mean: float, error: float) -> dict[str, float]:
    return {"mean": mean, "low": mean - NORMAL_975 * error, "high": mean + NORMAL_975 * error}
