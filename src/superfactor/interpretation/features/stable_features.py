"""Stable features: features that fits to disjoint halves of the samples select repeatedly."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from superfactor._arrays import one_blas_thread
from superfactor._extras import needed_for
from superfactor.estimators import inputs
from superfactor.estimators.parameters import seed_of, shown
from superfactor.estimators.targets import UNLABELLED
from superfactor.interpretation.features.complementary import complementary_halves, how_many
from superfactor.interpretation.models import FittedModel, ModelData, fitted_model, model_data
from superfactor.interpretation.refits.progress import in_parallel, reporting
from superfactor.interpretation.refits.refitting import Refit, exposure_place, shuffled, with_exposures
from superfactor.interpretation.tables import check_count
from superfactor.interpretation.view import FactorView, factor_view
from superfactor.selection import find_copies
from superfactor.selection.evaluation.permutation import one_value_each

if TYPE_CHECKING:
    from pandas import DataFrame

# If the share with shuffled outcomes exceeds that of a random feature by this much, the feature lies on an
# axis of X that many fits find without labels. Words that occur in the same few texts only: 0.3 to 0.6.
WITHOUT_LABELS = 0.25
# The share of half-samples with correlations between ``low`` and ``high``.
_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class StableFeatures:
    """Features that are selected repeatedly in fits to halves of the samples, with an error bound.

    Attributes
    ----------
    table : DataFrame
        One row per feature, the most stable first. Columns:

        - ``feature``;
        - ``share``: the share of half-samples in which it was among the top `n_top`;
        - ``share_shuffled``: the same with shuffled labels or other outcomes;
        - ``selected``: whether ``share`` is at least `threshold`, and ``share_shuffled`` exceeds the share of
          a random feature (`n_top` divided by the number of features) by less than 0.25;
        - ``correlation`` with the predictive factor of the model; with several factors the largest absolute
          one;
        - ``low``, ``high``: the interval of the correlation in 95 % of the half-samples; with several
          predictive factors of the largest absolute one, with the sign of ``correlation``.
    n_top : int
        The number of features selected in each half-sample.
    n_pairs : int
        The number of pairs of disjoint halves.
    threshold : float
        The smallest share of half-samples of a selected feature.
    expected_false : float
        Bound on the expected number of selected features that a fit selects no more often than at random.
    bound_without_assumption : float
        The bound without the assumption that shares have a unimodal distribution: larger.
    shuffled : {"labels", "outcomes"}
        What was shuffled for ``share_shuffled``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import stable_features
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), SMFClassifier(3)).fit(X, y)
    >>> found = stable_features(model, X, y, n_pairs=10)
    >>> found.n_top, found.n_selected
    (3, 3)
    >>> found.selected
    ['color_intensity', 'proline', 'flavanoids']
    """

    table: DataFrame
    n_top: int
    n_pairs: int
    threshold: float
    expected_false: float
    bound_without_assumption: float
    shuffled: str = "labels"

    @property
    def selected(self) -> list[str]:
        """Names of the selected features, the most stable first."""
        return list(self.table.loc[self.table["selected"], "feature"])

    @property
    def n_selected(self) -> int:
        """The number of selected features."""
        return int(self.table["selected"].sum())

    @property
    def n_without_labels(self) -> int:
        """The number of stable features left out because they are stable with shuffled outcomes too."""
        often = self.table["share"] >= self.threshold - 1e-9
        return int((often & ~self.table["selected"]).sum())

    @property
    def statement(self) -> str:
        """The result in a sentence."""
        k, left_out = self.n_selected, self.n_without_labels
        subject = f"{k} features were" if k > 1 else "1 feature was" if k else "No feature was"
        often = "three quarters" if self.threshold == 0.75 else f"{100 * self.threshold:.3g} percent"
        halves = f"in at least {often} of {2 * self.n_pairs} half-samples"
        text = f"{subject} among the top {self.n_top} {halves}"
        if k:
            most = f"{self.expected_false:.3g}"
            is_ = "is" if most == "1" else "are"
            text += f"; at most {most}{' of them' if k > 1 else ''} {is_} expected by chance"
        if left_out:
            features = "features" if left_out > 1 else "feature"
            text += f". Left out: {left_out} {features} that fits to shuffled {self.shuffled} select too"
        return f"{text}."


def stable_features(
    model: Any,
    X: Any,
    y: Any,
    *,
    expected_false: float = 1,
    n_pairs: int = 50,
    threshold: float = 0.75,
    covariates: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    search_again: bool = False,
    positive: Any = None,
    random_state: Any = None,
    progress: Any = None,
    n_jobs: int | None = None,
) -> StableFeatures:
    """Find features that fits to disjoint halves of the samples select repeatedly, with an error bound.

    The samples are split `n_pairs` times into two halves, class by class. The whole model with its
    preprocessing is fitted to each half. The top features of a half are those with the largest absolute
    correlations with the predictive factors (with several factors, the largest counts). A feature is
    selected if it is a top feature in at least a share `threshold` of the halves. The number of top features
    follows from `expected_false` by the bound of Shah and Samworth.

    One half of each pair is also fitted with shuffled outcomes. If a model has few factors, or follows the
    variance of X closely, its factors hardly depend on the outcomes. Features that are top features for this
    reason, in a share of halves that is 0.25 above that of random features, are not selected.

    Parameters
    ----------
    model : fitted model or search
        As for `factor_view`, but no FactorView.
    X, y
        The training data, in the form ``model.fit`` took.
    expected_false : float, default=1
        The largest expected number of selected features that are there by chance.
    n_pairs : int, default=50
        The number of pairs of halves.
    threshold : float, default=0.75
        The smallest share of halves of a selected feature, above ½ and at most 1.
    covariates : optional
        Covariates of the training data.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the training data. Samples of weight zero are left out.
    groups : array-like of shape (n_samples,), optional
        Samples of a group (a patient, a site) are in the same half; by default those that `find_copies`
        finds.
    search_again : bool, default=False
        Whether to repeat a search in every half. Otherwise rank, ξ and λ are those chosen on all samples.
    positive : class label, optional
        As in `factor_view`. It sets the signs of the correlations.
    random_state : int, Generator, RandomState or None, default=None
        For the splits. None is a fixed seed.
    progress : None, True or function of (done, total), default=None
        True shows a bar (requires rich).
    n_jobs : int or None, default=None
        Processes, as in scikit-learn.

    Returns
    -------
    found : StableFeatures
        A table of all features, and a statement on the selected ones.

    Notes
    -----
    With p features, B pairs and the threshold τ, each half has ``q = ⌊√(p·expected_false/C)⌋`` top features,
    with ``C = 1/(2(2τ − 1 − 1/(2B)))`` for τ ≤ ¾ and ``4(1 − τ + 1/(2B))/(1 + 1/B)`` above [1]_. The expected
    number of selected features that a fit selects no more often than at random is then at most
    `expected_false`, if the share of pairs in which both halves select a feature has a unimodal distribution.

    If many features are left out because they are stable with shuffled outcomes too, try a model with more
    factors, or with smaller ξ and λ.

    A feature that is not selected may still matter: similar features replace each other, and half of the
    samples have less power than all of them.

    ξ and λ that are numbers mean the same in a half as in a fit to all samples. Samples without a label
    are split as well. The interval of a correlation is that of the delete-half jackknife: the variation
    between halves estimates the variation between samples of the full size.

    References
    ----------
    .. [1] R. D. Shah and R. J. Samworth, Variable selection with error control: another look at stability
       selection, Journal of the Royal Statistical Society B 75, 55-80 (2013).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import stable_features
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), SMFClassifier(2)).fit(X, y)
    >>> found = stable_features(model, X, y, n_pairs=10)
    >>> print(found.statement)
    5 features were among the top 5 in at least three quarters of 20 half-samples; at most 1 of them is
    expected by chance.
    """
    with needed_for("tables of features", "pandas"):
        import pandas as pd

    _check(expected_false, n_pairs, threshold)
    fitted = fitted_model(model)
    view = factor_view(model, positive=positive)
    refit = Refit(model, search_again)
    data = model_data(fitted, X, y, covariates, "stable_features")
    given = data.given
    weight = inputs.check_weights(sample_weight, data.X)
    present = np.arange(len(given.values)) if weight is None else np.flatnonzero(weight)
    strata = given.spread(view.outcome.half_strata(given.labelled), UNLABELLED)
    if groups is None:
        groups = _copies(X, strata)
        # Copies with different outcomes are no groups that shuffles could exchange.
        exchanged = groups if groups is not None and one_value_each(given.values, groups) else None
    else:
        groups = exchanged = np.asarray(inputs.as_numpy(groups))  # a Series would be indexed by labels
        inputs.check_length("groups", groups, strata[:, None])
    strata, units = strata[present], None if groups is None else groups[present]
    _check_samples(strata, units, view)
    p = len(view.features)
    q = how_many(p, float(expected_false), float(threshold), n_pairs)

    rng = np.random.default_rng(seed_of(random_state))
    pairs = [[present[half] for half in complementary_halves(strata, units, rng)] for _ in range(n_pairs)]
    answers = partial(shuffled, view.outcome, given, exposures=data.exposures, groups=exchanged)
    halves = [(rows, None) for pair in pairs for rows in pair]
    null = [(rows, answers(rows, rng)) for rows, _ in pairs]
    exposed = None if data.exposures is None else exposure_place(X, data.exposures)
    values = np.empty((2 * n_pairs, p), dtype=np.float32)
    counts, counts_shuffled = np.zeros(p), np.zeros(p)
    with reporting(progress, "Fitting halves of the samples") as report:
        report(0, total := 3 * n_pairs)
        names = _names_in_refits(fitted, view, X)
        of_fit = partial(_of_fit, refit, X, data, exposed, covariates, groups, weight, view, names)
        for k, found in enumerate(in_parallel(of_fit, [*halves, *null], n_jobs)):
            if k < 2 * n_pairs:
                values[k] = found
                counts[_largest(found, q)] += 1
            else:
                counts_shuffled[_largest(found, q)] += 1
            report(k + 1, total)

    correlation = _strongest(view)
    share, share_shuffled = counts / (2 * n_pairs), counts_shuffled / n_pairs
    # With one output and one factor, the sign of the scores is the same in every fit.
    signed = len(view.outputs) == 1 and int(view.carries.sum()) == 1
    low, high = _interval(values, correlation, signed)
    selected = (share >= threshold - 1e-9) & (share_shuffled < q / p + WITHOUT_LABELS)
    table = pd.DataFrame(
        {
            "feature": view.features,
            "share": share,
            "share_shuffled": share_shuffled,
            "selected": selected,
            "correlation": correlation,
            "low": low,
            "high": high,
        }
    )
    order = np.lexsort((-np.abs(correlation), -share, ~selected))
    return StableFeatures(
        table.iloc[order].reset_index(drop=True),
        q,
        n_pairs,
        float(threshold),
        float(expected_false),
        q**2 / (p * (2 * float(threshold) - 1)),
        view.outcome.shuffled,
    )


def _copies(X: Any, strata: Any) -> Any:
    """Return groups (n,) of copies that halves keep together, or None."""
    codes = np.unique(strata[strata >= 0])
    return find_copies(X).for_folds(lambda own: [len(np.unique(own[strata == k])) for k in codes], 2)


def _check(expected_false: Any, n_pairs: Any, threshold: Any) -> None:
    if not isinstance(expected_false, Real) or not 0 < float(expected_false) < np.inf:
        raise ValueError(f"expected_false={shown(expected_false)}: a number > 0 is required")
    if not isinstance(threshold, Real) or not 0.5 < float(threshold) <= 1:
        raise ValueError(f"threshold={shown(threshold)}: a number above 0.5 and at most 1 is required")
    check_count("n_pairs", n_pairs)
    least = int(np.ceil(1 / (float(threshold) - 0.5) - 1e-9))
    if n_pairs < least:
        raise ValueError(
            f"n_pairs={shown(n_pairs)}: with threshold={shown(threshold)} at least {least} are required"
        )


def _check_samples(strata: Any, groups: Any, view: FactorView) -> None:
    """Raise a ValueError if halves would be too small."""
    units, what = (np.arange(len(strata)), "samples") if groups is None else (groups, "groups")
    for code in np.unique(strata[strata >= 0]):
        count = len(np.unique(units[strata == code]))
        if count < 2:
            stratum = view.outcome.stratum_named(view.classes, code)
            raise ValueError(
                f"y: {stratum} has {count} of the 2 {what} that two halves require; leave the class out, or "
                f"add {what}"
            )
    rank, smallest = len(view.share), len(strata) // 2
    if rank > smallest:
        raise ValueError(
            f"X: halves of {smallest} samples are too small for {rank} factors; more samples or fewer "
            "factors are required"
        )


def _names_in_refits(fitted: FittedModel, view: FactorView, X: Any) -> Any:
    """Return the names of the features (p,) in a refit to X, which lacks names assigned after the fit."""
    if "columns" not in fitted.estimator._names or hasattr(X, "columns"):
        return view.features
    *steps, estimator = map(copy.copy, (*fitted.steps, fitted.estimator))
    for step in steps:
        vars(step).pop("feature_names_in_", None)
    estimator.component_names_ = None
    names = FittedModel(estimator, tuple(steps)).feature_names
    return np.array([str(name) for name in names], dtype=object)


def _of_fit(
    refit: Refit,
    X: Any,
    data: ModelData,
    exposed: int | None,
    covariates: Any,
    groups: Any,
    weight: Any,
    view: FactorView,
    names: Any,
    rows: Any,
    order: Any,
) -> Any:
    """Return correlations (p,) of the features with the predictive factors of a fit to `rows`.

    `names` (p,) are the features of the model, as refits name them. Sample i has the answer of sample
    ``order[i]``, or its own; `exposed` is the column of exposures.
    """
    y = data.y
    if order is not None:
        y = y[order]
        if exposed is not None:
            X = with_exposures(X, exposed, data.exposures[order])
    with one_blas_thread:
        again = refit.fit(X, y, rows, covariates, groups, weight)
    found = factor_view(again, positive=view.positive)
    values = _strongest(found)
    if np.array_equal(found.features, names):
        return values
    place = {name: j for j, name in enumerate(names)}
    new = [name for name in found.features if name not in place]
    if new or len(place) < len(names):
        raise ValueError(
            f"model: a step before it selected other features in a half of the samples, such as {new[:1]!r}; "
            "steps that return the same features each time are required"
        )
    every = np.zeros(len(names))
    every[[place[name] for name in found.features]] = values
    return every


def _strongest(view: FactorView) -> Any:
    """Return the largest absolute correlation of each feature with a predictive factor, signed: (p,)."""
    rows = view.correlations[view.carries]
    if not len(rows):
        return np.zeros(view.correlations.shape[1])
    return np.take_along_axis(rows, np.abs(rows).argmax(axis=0)[None], axis=0)[0]


def _largest(values: Any, q: int) -> Any:
    """Return positions of the q values (p,) with the largest absolute values, without zeros."""
    size = np.abs(values)
    top = np.argpartition(-size, q - 1)[:q]
    return top[size[top] > 0]


def _interval(values: Any, correlation: Any, signed: bool) -> tuple[Any, Any]:
    """Return the lower and upper ends (p,) of the intervals of correlations (halves, p)."""
    ends = [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]
    if signed:
        low, high = np.quantile(values, ends, axis=0)
        return low, high
    low, high = np.quantile(np.abs(values), ends, axis=0)
    down = correlation < 0
    return np.where(down, -high, low), np.where(down, -low, high)
