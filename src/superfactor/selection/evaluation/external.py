"""How good a fitted model is on samples from elsewhere: figures, intervals and a verdict."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from superfactor.estimators.inputs import as_numpy
from superfactor.outcomes import Outcome, outcome_of
from superfactor.selection.copies import COUNTED, find_copies
from superfactor.selection.evaluation.intervals import around, inside, jackknife
from superfactor.selection.evaluation.verdict import Verdict, judge, one_sort

# Most parts of the samples that the jackknife leaves out, one at a time.
MOST_PARTS = 500


@dataclass(frozen=True)
class ExternalScores:
    """Figures of one set of samples that a model was not fitted to.

    Attributes
    ----------
    outcome : str
        The kind of y: "classes", "numbers" or "times".
    names : array of shape (k,)
        Of the columns of `predictions`: classes that the model knows, targets, or "risk".
    headline : str
        The metric that counts.
    summary : dict
        Metric → mean, low, high: 95 % intervals, of shares of right answers by Wilson's method, of the ROC
        area of two classes by Newcombe's, else by the jackknife.
    predictions : array of shape (n, k)
        Of the samples that have a label: probabilities, values or risks.
    truth : array of shape (n, …)
        Class numbers, values, or events and times.
    confusion : array of shape (k, k) or None
        Of classes: row the true one, column the predicted one.
    chance : float
        p-value of the predictions: how often independent labels agree with them as well.
    verdict : Verdict
        The conclusion in words.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from superfactor import SMFRegressorCV
    >>> from superfactor.selection import external_scores
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = external_scores(SMFRegressorCV(2).fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> found.headline, found.predictions.shape
    ('r2', (221, 1))
    """

    outcome: str
    names: Any
    headline: str
    summary: dict[str, dict[str, float]]
    predictions: Any
    truth: Any
    confusion: Any
    chance: float
    verdict: Verdict

    def __str__(self) -> str:
        return str(self.verdict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as scripts get them; the verdict too."""
        return {
            "outcome": self.outcome,
            "headline": self.headline,
            "summary": self.summary,
            "confusion": None if self.confusion is None else self.confusion.tolist(),
            "chance": self.chance,
            "verdict": self.verdict.as_dict(),
        }


def external_scores(model: Any, X: Any, y: Any, covariates: Any = None) -> ExternalScores:
    """How well a fitted model predicts samples that it was not fitted to.

    Parameters
    ----------
    model : fitted estimator, pipeline or search
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        As for ``fit``. Samples without a value are left out. Classes that the model does not know are a
        ValueError.
    covariates : array-like of shape (n_samples, n_covariates), optional
        Required if they were given to ``fit``.

    Returns
    -------
    ExternalScores

    Warns
    -----
    UserWarning
        If samples are copies of each other (`find_copies`): each of them counts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifierCV
    >>> from superfactor.selection import external_scores
    >>> X, y = load_iris(return_X_y=True)
    >>> found = external_scores(SMFClassifierCV(2).fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> found.headline, found.verdict.grade, bool(found.summary["accuracy"]["low"] > 0.8)
    ('accuracy', 'better', True)
    """
    outcome = outcome_of(model)
    check_is_fitted(model)
    given = outcome.read_as(model, as_numpy(y), X, "external_scores").of_some()
    if given.known is not None:
        there = np.flatnonzero(given.known)
        X = _safe_indexing(X, there)
        covariates = None if covariates is None else _safe_indexing(covariates, there)
    if copies := find_copies(X):
        warnings.warn(f"X: {copies.statement()}; {COUNTED}", UserWarning, stacklevel=2)
    names, truth = outcome.recognised(model, given)
    truth = outcome.observed(truth, model, X)
    outcome = outcome.settled(truth)
    beside = {} if covariates is None else {"covariates": covariates}
    return scores_of(outcome, names, truth, outcome.rows(model, X, names, **beside))


def scores_of(outcome: Outcome, names: Any, truth: Any, rows: Any) -> ExternalScores:
    """Figures of predicted rows (n, k) of samples with this truth (n, …)."""
    headline = outcome.headline(truth)
    if np.isnan(outcome.metric(headline).function(truth, rows)):
        raise ValueError(f"y: too few samples to measure anything, {len(truth)}: {headline} is not defined")
    found, without = outcome.metric_values(truth, rows), _leaving_out(outcome, truth, rows)
    summary = {m.name: inside(m, jackknife(found[m.name], without[m.name])) for m in outcome.metrics}
    for name, (low, high) in outcome.sample_intervals(truth, rows).items():
        summary[name] = {"mean": found[name], "low": low, "high": high}
    for name, (value, error) in outcome.calibrations(truth, rows).items():
        summary[name] = around(value, error)
    chance = outcome.chance(headline, truth, rows)
    verdict = _verdict(outcome, names, truth, rows, summary[headline], chance)
    return ExternalScores(
        outcome=outcome.name,
        names=names,
        headline=headline,
        summary=summary,
        predictions=rows,
        truth=truth,
        confusion=outcome.confusion(truth, rows),
        chance=chance,
        verdict=verdict,
    )


def external_verdict(outcome: Outcome, names: Any, truth: Any, rows: Any) -> Verdict:
    """The verdict of `scores_of` alone, without the jackknife where the kind has intervals without it."""
    headline = outcome.headline(truth)
    least = outcome.least_intervals(truth, rows)
    if headline not in least:
        return scores_of(outcome, names, truth, rows).verdict
    low, high = least[headline]
    score = {"mean": outcome.metric(headline).function(truth, rows), "low": low, "high": high}
    return _verdict(outcome, names, truth, rows, score, outcome.chance(headline, truth, rows))


def _verdict(
    outcome: Outcome, names: Any, truth: Any, rows: Any, score: dict[str, float], chance: float
) -> Verdict:
    headline = outcome.headline(truth)
    if outcome.one_sort(truth):
        metric = outcome.metrics[0]
        return one_sort(names[truth[0]], metric, metric.function(truth, rows))
    # A guess is that of these samples.
    blind = outcome.guessed(truth, truth, rows.shape[1])
    guess = outcome.guess_metric_values(truth, blind, truth)[headline]
    sign = 1 if outcome.metric(headline).higher_is_better else -1
    low, high = sorted(sign * (score[end] - guess) for end in ("low", "high"))
    mean = sign * (score["mean"] - guess)
    difference = {"metric": headline, "mean": mean, "low": low, "high": high}
    return judge(
        outcome,
        headline,
        score,
        guess,
        {outcome.guess_name: difference},
        chance,
        names=names,
        truth=truth,
        predicted=outcome.decided(rows),
        final=True,
    )


def _leaving_out(outcome: Outcome, truth: Any, rows: Any) -> dict[str, Any]:
    """Metrics without each sample, or without each of `MOST_PARTS` parts of many: metric → (parts,)."""
    n = len(truth)
    part = np.arange(n)
    if n > MOST_PARTS:
        part = np.random.default_rng(0).permutation(n) % MOST_PARTS
    found = [outcome.metric_values(truth[part != k], rows[part != k]) for k in range(min(n, MOST_PARTS))]
    return {metric.name: np.array([own[metric.name] for own in found]) for metric in outcome.metrics}
