"""From out-of-fold predictions to figures with intervals, and to the verdict on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from superfactor.selection.evaluation.figures import NestedScores
from superfactor.selection.evaluation.intervals import (
    around,
    corrected_interval,
    inside,
    widened,
    without_interval,
)
from superfactor.selection.evaluation.out_of_fold import OutOfFold
from superfactor.selection.evaluation.outer import MODEL, OuterFold
from superfactor.selection.evaluation.permutation import PermutationTest
from superfactor.selection.evaluation.verdict import judge

Interval = dict[str, float]


def concluded(
    procedure: dict[str, Any],
    work: OuterFold,
    table: OutOfFold,
    chosen: tuple[dict[str, Any], ...],
    permutation: PermutationTest | None,
    covariate_names: Sequence[str],
) -> NestedScores:
    """All figures of the out-of-fold predictions, and the verdict on them."""
    outcome, names = work.outcome, work.target.names
    headline, guess_name = outcome.headline(table.truth), outcome.guess_name
    folds = {method: table.fold_scores(method) for method in table.methods}
    figures = {method: _figures(table, method, found) for method, found in folds.items()}
    summaries = {method: summary for method, (_, summary) in figures.items()}
    differences = _differences(table, folds, headline)
    guess = summaries[guess_name][headline]["mean"]
    least = outcome.least_intervals(table.truth, table.mean())
    if headline in least:
        low, high = least[headline]
        differences[guess_name] = widened(differences[guess_name], (low - guess, high - guess))
    predicted = outcome.decided(table.mean())
    units = outcome.as_units(table.truth, table.mean(), work.own_groups)
    chance = outcome.chance(headline, units.truth, units.rows)
    verdict = judge(
        outcome,
        headline,
        summaries[MODEL][headline],
        guess,
        differences,
        chance,
        names=names,
        truth=units.truth,
        predicted=predicted,
        units=units.name,
        covariates=covariate_names,
        balanced=work.balanced,
        permutation=None if permutation is None else permutation.as_dict(),
        n_folds=sum(map(len, table.splits)),
    )
    return NestedScores(
        procedure=procedure,
        outcome=outcome.name,
        names=names,
        counts=outcome.counts(work.target),
        n_splits=len(table.splits[0]),
        n_repeats=len(table.splits),
        headline=headline,
        folds=folds,
        repeats={method: repeats for method, (repeats, _) in figures.items()},
        summary=summaries.pop(MODEL),
        baselines=summaries,
        differences=differences,
        predictions=table.rows[MODEL][0],
        predicted=predicted,
        chance=chance,
        chosen=chosen,
        permutation=permutation,
        verdict=verdict,
        inner_splits=work.inner_splits(table.splits[0][0][0]),
        seed=work.seed,
    )


def _figures(
    table: OutOfFold, method: str, found: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Interval]]:
    """Figures of each repeat, metric → (repeats,), and their means with intervals."""
    outcome = table.outcome
    repeats = {m.name: np.nanmean(found[m.name], axis=1) for m in outcome.metrics}
    summary = {m.name: corrected_interval(found[m.name].ravel(), table.ratio) for m in outcome.metrics}
    if method == outcome.guess_name:  # a constant is not estimated
        return repeats, {name: without_interval(own) for name, own in summary.items()}
    summary = {m.name: inside(m, summary[m.name]) for m in outcome.metrics}
    for name, ends in outcome.least_intervals(table.truth, table.mean(method)).items():
        summary[name] = widened(summary[name], ends)
    fits = [outcome.calibrations(table.truth, rows) for rows in table.together(method)]
    for name in fits[0]:
        values, errors = np.array([fit[name] for fit in fits]).T
        repeats[name] = values
        summary[name] = around(float(values.mean()), float(errors.mean()))
    return repeats, summary


def _differences(table: OutOfFold, folds: dict[str, Any], metric: str) -> dict[str, dict[str, Any]]:
    """By how much the model is better than each baseline, fold by fold: mean, low, high."""
    sign = 1 if table.outcome.metric(metric).higher_is_better else -1
    return {
        name: {"metric": metric}
        | corrected_interval((sign * (folds[MODEL][metric] - found[metric])).ravel(), table.ratio)
        for name, found in folds.items()
        if name != MODEL
    }
