"""Which features can be trusted: those that fits to disjoint halves of the samples pick again and again."""

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
from superfactor.interpretation.models import FittedModel, fitted_model, model_data
from superfactor.interpretation.refits.progress import in_parallel, reporting
from superfactor.interpretation.refits.refitting import Refit, shuffled
from superfactor.interpretation.tables import check_count
from superfactor.interpretation.view import FactorView, factor_view

if TYPE_CHECKING:
    from pandas import DataFrame

# A feature whose share with shuffled outcomes is so much larger than that of a random one does not need
# them: it lies on an axis of X that many fits find. Words that only the same few texts have: .3 to .6.
WITHOUT_LABELS = 0.25
# Of the halves, whose correlations lie between ``low`` and ``high``.
_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class StableFeatures:
    """Which features come back in fits to halves of the samples, and how many would by chance.

    Attributes
    ----------
    table : DataFrame
        One row per feature, the most stable first. Columns:

        - ``feature``;
        - ``share``: of the half-samples in which it was among the top `n_top`;
        - ``share_shuffled``: the same where labels, or other outcomes, were shuffled;
        - ``selected``: ``share`` is at least `threshold`, and ``share_shuffled`` less than a quarter above
          `n_top` of all features: what fits pick whatever the labels are says nothing about them;
        - ``correlation`` with the predictive factor of the model, largest in size over several;
        - ``low``, ``high``: between these it was in 95 % of the half-samples; with several predictive
          factors, that of the largest in size in each, with the sign of ``correlation``.
    n_top : int
        How many features were picked in each half-sample.
    n_pairs : int
        Pairs of disjoint halves.
    threshold : float
        The least share of half-samples of a selected feature.
    expected_false : float
        Expected of the selected features are at most so many that a fit picks no more often than at random.
    bound_without_assumption : float
        The same without the assumption that shares have a unimodal distribution: larger.
    shuffled : {"labels", "outcomes"}
        What ``share_shuffled`` is of.

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
        """How many they are."""
        return int(self.table["selected"].sum())

    @property
    def n_without_labels(self) -> int:
        """How many came back as often and are not selected, since they do so with shuffled outcomes too."""
        often = self.table["share"] >= self.threshold - 1e-9
        return int((often & ~self.table["selected"]).sum())

    @property
    def statement(self) -> str:
        """The result in plain words."""
        k, left_out = self.n_selected, self.n_without_labels
        who = f"{k} features were" if k > 1 else "1 feature was" if k else "No feature was"
        often = "three quarters" if self.threshold == 0.75 else f"{100 * self.threshold:.3g} percent"
        halves = f"in at least {often} of {2 * self.n_pairs} half-samples"
        said = f"{who} among the top {self.n_top} {halves}"
        if k:
            most = f"{self.expected_false:.3g}"
            is_ = "is" if most == "1" else "are"
            said += f"; at most {most}{' of them' if k > 1 else ''} {is_} expected by chance"
        if left_out:
            features = "features" if left_out > 1 else "feature"
            said += f". Left out: {left_out} {features} that fits to shuffled {self.shuffled} pick too"
        return f"{said}."


def stable_features(
    model: Any,
    X: Any,
    y: Any,
    *,
    expected_false: float = 1,
    n_pairs: int = 50,
    threshold: float = 0.75,
    covariates: Any = None,
    groups: Any = None,
    search_again: bool = False,
    positive: Any = None,
    random_state: Any = None,
    progress: Any = None,
    n_jobs: int | None = None,
) -> StableFeatures:
    """Features that come back in fits to disjoint halves of the samples, few of them by chance.

    `n_pairs` times the samples are split into two halves, class by class, and the whole model is fitted
    to each, its preprocessing included. In each half the features with the largest correlations in size
    with the predictive factors are picked (of several factors, the largest counts). Selected are features
    that are among them in a share of at least `threshold` of the halves. How many are picked in each half
    follows from `expected_false` by the bound of Shah and Samworth.

    One half of each pair is also fitted with its outcomes shuffled. A model can have so few factors, or
    follow the variance of X so closely, that its factors are much the same whatever these are. Features that
    come back for this reason, more often than random ones by a quarter of the halves, are not selected.

    Parameters
    ----------
    model : fitted model or search
        As for `factor_view`, but no FactorView.
    X, y
        The training data, in the form ``model.fit`` took.
    expected_false : float, default=1
        At most so many of the selected features are expected to be there by chance.
    n_pairs : int, default=50
        Pairs of halves.
    threshold : float, default=0.75
        The least share of halves of a selected feature, above ½ and at most 1.
    covariates : optional
        Of the training data, likewise.
    groups : array-like of shape (n_samples,), optional
        Samples of a group (a patient, a site) are in the same half.
    search_again : bool, default=False
        Whether a search is repeated in every half. Otherwise rank, ξ and λ are those that it has chosen
        on all samples.
    positive : class label, optional
        The class that is up, as in `factor_view`: correlations have the signs that tables of factors show.
    random_state : int, Generator, RandomState or None, default=None
        For the splits. None is a fixed seed.
    progress : None, True or function of (done, total), default=None
        True shows a bar (which needs rich).
    n_jobs : int or None, default=None
        Processes, as in scikit-learn.

    Returns
    -------
    found : StableFeatures
        A table of all features, and what is said of those that are selected.

    Notes
    -----
    With p features, B pairs and the threshold τ, ``q = ⌊√(p·expected_false/C)⌋`` features are picked in
    each half, ``C = 1/(2(2τ − 1 − 1/(2B)))`` for τ ≤ ¾ and ``4(1 − τ + 1/(2B))/(1 + 1/B)`` above [1]_.
    Then at most `expected_false` of the selected features are expected to be such that a fit picks them
    no more often than at random, if the share of pairs in which both halves pick a feature has a unimodal
    distribution.

    Where features are left out since they come back with shuffled outcomes too, a model with more factors,
    or with smaller ξ and λ, can tell more.

    A feature that is not selected may matter all the same: many features alike take the places from each
    other, and half of the samples see less than all of them.

    ξ and λ that are numbers mean the same in a half as in a fit to all samples. Samples without a label
    are split as well. The interval of a correlation is that of the delete-half jackknife: what varies
    between halves varies as much between samples of the whole size.

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
    given = model_data(fitted, X, y, covariates, "stable_features").given
    groups = None if groups is None else inputs.as_numpy(groups)
    strata = given.spread(view.outcome.half_strata(given.labelled), UNLABELLED)
    _check_samples(strata, groups, view)
    p = len(view.features)
    q = how_many(p, float(expected_false), float(threshold), n_pairs)

    rng = np.random.default_rng(seed_of(random_state))
    pairs = [complementary_halves(strata, groups, rng) for _ in range(n_pairs)]
    halves = [(rows, given.marked) for pair in pairs for rows in pair]
    null = [(rows, given.marked[shuffled(given, rows, rng)]) for rows, _ in pairs]
    values = np.empty((2 * n_pairs, p), dtype=np.float32)
    counts, counts_shuffled = np.zeros(p), np.zeros(p)
    with reporting(progress, "Fitting halves of the samples") as report:
        report(0, total := 3 * n_pairs)
        names = _names_in_refits(fitted, view, X)
        of_fit = partial(_of_fit, refit, X, covariates, groups, view, names)
        for k, found in enumerate(in_parallel(of_fit, [*halves, *null], n_jobs)):
            if k < 2 * n_pairs:
                values[k] = found
                counts[_largest(found, q)] += 1
            else:
                counts_shuffled[_largest(found, q)] += 1
            report(k + 1, total)

    correlation = _strongest(view)
    share, share_shuffled = counts / (2 * n_pairs), counts_shuffled / n_pairs
    # With one output, and one factor for it, high scores mean the same in every fit.
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
    """Raise a ValueError where halves would be too small."""
    if groups is not None:
        inputs.check_length("groups", groups, strata[:, None])
    units, what = (np.arange(len(strata)), "samples") if groups is None else (groups, "groups")
    for code in np.unique(strata[strata >= 0]):
        count = len(np.unique(units[strata == code]))
        if count < 2:
            whose = view.outcome.stratum_named(view.classes, code)
            raise ValueError(
                f"y: {whose} has {count} of the 2 {what} that two halves need; leave the class out, or "
                "add to it"
            )
    rank, smallest = len(view.share), len(strata) // 2
    if rank > smallest:
        raise ValueError(
            f"X: halves of {smallest} samples are too few for {rank} factors; more samples, or a model with "
            "fewer, are required"
        )


def _names_in_refits(fitted: FittedModel, view: FactorView, X: Any) -> Any:
    """What a refit to X calls the features (p,) of a model: it does not know names that were given later."""
    if "columns" not in fitted.estimator._names or hasattr(X, "columns"):
        return view.features
    *steps, estimator = map(copy.copy, (*fitted.steps, fitted.estimator))
    for step in steps:
        vars(step).pop("feature_names_in_", None)
    estimator.component_names_ = None
    names = FittedModel(estimator, tuple(steps)).feature_names
    return np.array([str(name) for name in names], dtype=object)


def _of_fit(
    refit: Refit, X: Any, covariates: Any, groups: Any, view: FactorView, names: Any, rows: Any, y: Any
) -> Any:
    """Correlations (p,) of features, there called `names` (p,), with what predicts in a fit to samples."""
    with one_blas_thread:
        again = refit.fit(X, y, rows, covariates, groups)
    found = factor_view(again, positive=view.positive)
    values = _strongest(found)
    if np.array_equal(found.features, names):
        return values
    place = {name: j for j, name in enumerate(names)}
    new = [name for name in found.features if name not in place]
    if new or len(place) < len(names):
        raise ValueError(
            f"model: a step before it chose other features in a half of the samples, {new[:1]!r} for one; a "
            "model that is given the same features each time is required"
        )
    every = np.zeros(len(names))
    every[[place[name] for name in found.features]] = values
    return every


def _strongest(view: FactorView) -> Any:
    """(p,), the correlation of each feature with a factor that predicts, largest in size over these."""
    rows = view.correlations[view.carries]
    if not len(rows):
        return np.zeros(view.correlations.shape[1])
    return np.take_along_axis(rows, np.abs(rows).argmax(axis=0)[None], axis=0)[0]


def _largest(values: Any, q: int) -> Any:
    """Positions of the q values (p,) that are largest in size; never of zeros."""
    size = np.abs(values)
    top = np.argpartition(-size, q - 1)[:q]
    return top[size[top] > 0]


def _interval(values: Any, correlation: Any, signed: bool) -> tuple[Any, Any]:
    """Between what the correlations (halves, p) lie: (p,) and (p,)."""
    ends = [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]
    if signed:
        low, high = np.quantile(values, ends, axis=0)
        return low, high
    low, high = np.quantile(np.abs(values), ends, axis=0)
    down = correlation < 0
    return np.where(down, -high, low), np.where(down, -low, high)
