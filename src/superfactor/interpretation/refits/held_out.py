"""Out-of-fold scores of samples, in the factors of the model that is shown.

Training scores are overfitted: on wide data they separate even random classes. Here the model with its
preprocessing is fitted again without each fold, and the samples of the fold get their scores from that fit.
The factors of each fit are rotated to those of the model by the orthogonal matrix that makes their scores on
the *training* samples of the fold most similar, separately for predictive and background factors.

What factors explain is compared with a regression on the covariates alone, fitted to the same training
samples. The fit without its factors is a poor comparison: where classes are uneven and the fit is
overconfident, its intercept is too extreme, and any factors seem to help.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from superfactor.estimators import inputs
from superfactor.estimators.fitted.scores import effects_of
from superfactor.estimators.parameters import seed_of
from superfactor.estimators.targets import CheckedY
from superfactor.interpretation.models import against_first, covariate_ridge, fitted_model, numbers
from superfactor.interpretation.refits.progress import in_parallel, reporting
from superfactor.interpretation.refits.refitting import Refit
from superfactor.interpretation.view import LEAST_CONTRIBUTION, FactorView, factor_view
from superfactor.outcomes import Outcome
from superfactor.outcomes.ridge import ridge_activations
from superfactor.selection import find_copies

# Twice a log-likelihood ratio: factors without use gain less than this in about 19 of 20 tables (measured:
# noise with two and four classes). A χ² for fixed predictions gives 2.71, but folds share their training
# samples.
_CHANCE = 6.63
# The same for counts, relative to their dispersion (measured: dispersions of 1 and 9, and unequal exposures).
_CHANCE_OF_COUNTS = 3.84
# A penalty that is no penalty.
_FREE = 1e-12
# The activation of a class without samples in the training part of a fold: a probability close to 0.
_UNKNOWN = -30.0


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Factors on held-out samples.

    Attributes
    ----------
    scores : array of shape (n, r)
        Out-of-fold scores, in the factors of `factor_view` of the model. Samples without an outcome are
        never held out; their scores come from the model itself.
    fold : array of shape (n,) of int
        The fold in which a sample is held out, from 0; −1 for samples without an outcome or weight.
    explained : float
        The share of the deviance of held-out samples that the factors explain in addition to a regression on
        covariates and intercept alone, which is fitted to the same training samples. Their part of the
        prediction, and that of the intercept, are first shrunk by one number each if that helps. 0 means
        nothing.
    contribution : array of shape (r,)
        The share of ``explained`` that is lost without each factor; negative if a factor makes the prediction
        worse. 0 if nothing is explained.
    predictive : array of shape (r,) of bool
        Factors that improve the prediction of held-out samples: all factors together explain more than chance
        does, and ``contribution`` is at least 1 %. The test allows for counts that vary more than Poisson
        counts, for groups whose samples resemble each other, and for unequal weights: it counts samples as
        (Σw)²/Σw², which does not depend on the unit of the weights.
    own : array of shape (r,)
        The relation of each factor alone to the outcome: a correlation, a concordance, or the AUC of the
        class that becomes most likely as the score increases. For a factor without effect it is the AUC of
        the class that it separates best.
    own_name : {"AUC", "correlation", "concordance"}
        The kind of ``own``. For counts "correlation with log(1 + count)", or with exposures
        "correlation with count beyond exposure": with (count − expected)/√expected, by one rate for all.
    own_of : tuple of str
        The class or target of ``own``, for each factor.
    activations : array of shape (n, outputs) or None
        Out-of-fold predictions before the inverse link; NaN for samples that are never held out. None in
        results of earlier versions.
    signal : array of shape (n, outputs)
        What the factors add to the prediction of held-out samples, relative to the mean of the training
        samples: on the log-odds, the log hazard or the target. NaN for samples that are never held out.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import held_out_scores
    >>> X, y = load_iris(return_X_y=True)
    >>> X = X - X.mean(axis=0)
    >>> held = held_out_scores(SMFClassifier(n_components=2).fit(X, y), X, y)
    >>> held.scores.shape, held.own_name, held.predictive.tolist()
    ((150, 2), 'AUC', [True, True])
    """

    scores: Any
    fold: Any
    explained: float
    contribution: Any
    predictive: Any
    own: Any
    own_name: str
    own_of: tuple[str, ...]
    activations: Any = None
    signal: Any = None  # for files of earlier versions


def held_out_scores(
    model: Any,
    X: Any,
    y: Any,
    *,
    covariates: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    cv: int = 5,
    rotation: str | None = None,
    positive: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Any = None,
) -> HeldOut:
    """Compute out-of-fold scores of every sample, and the use of each factor for held-out samples.

    The model with its preprocessing is fitted again without each fold, with the same rank, ξ and λ. Use it
    for plots and for the roles of factors. To evaluate the choice of rank, ξ and λ too, use `nested_scores`.

    Parameters
    ----------
    model : fitted model
        As for `factor_view`, but no FactorView.
    X, y
        The training data, in the form ``model.fit`` took.
    covariates, sample_weight : optional
        Covariates and weights of the training data.
    groups : array-like of shape (n_samples,), optional
        Samples of one group are held out together; by default those that `find_copies` finds.
    cv : int, default=5
        The number of folds; reduced to the size of the rarest class.
    rotation : None, "predictive", "variance" or "varimax", default=None
        As in `factor_view`.
    positive : class label, optional
        As in `factor_view`.
    random_state : int, Generator, RandomState or None, default=None
        For the folds. None is a fixed seed.
    n_jobs : int or None, default=None
        Processes, as in scikit-learn.
    progress : None, True or function of (done, total), default=None
        True shows a bar (requires rich).

    Returns
    -------
    held_out : HeldOut
        Scores, and the use of each factor.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor import SMFClassifier
    >>> from superfactor.interpretation import held_out_scores
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((40, 200)), np.arange(40) % 2
    >>> model = SMFClassifier().fit(X, y)
    >>> float(model.score(X, y)), held_out_scores(model, X, y).predictive.tolist()
    (1.0, [False, False])
    """
    fitted = fitted_model(model)
    view = factor_view(model, rotation=rotation, positive=positive)
    whole = fitted.preprocess(X)
    codes = inputs.as_numpy(fitted.estimator.transform(whole))
    exposures = inputs.exposures_in(whole, fitted.estimator._exposure_column)
    del whole  # refits make their own copies
    given = fitted.estimator._checked_y(y, codes).of_some()
    weight = inputs.check_weights(sample_weight, codes)
    kept = np.ones(len(codes)) if weight is None else weight
    if groups is None and isinstance(cv, Integral):
        groups = _copies(view.outcome, given, X, cv)
    splits = _splits(view.outcome, given, kept, groups, cv, random_state)
    work = _Fold(
        Refit(model), fitted.estimator, view, view.scores_of(codes), X, given, covariates, weight, rotation
    )

    scores, fold = work.scores.copy(), np.full(len(codes), -1)
    outputs = len(fitted.estimator.factor_coef_)
    base, own, full = np.zeros((3, len(codes), outputs))
    parts = np.zeros((len(view.share), len(codes), outputs))
    with reporting(progress, "Fitting without each fold") as report:
        report(0, len(splits))
        found = in_parallel(work, splits, n_jobs)
        for k, (part, (_, test)) in enumerate(zip(found, splits, strict=True)):
            scores[test], base[test], own[test], full[test], parts[:, test] = part
            fold[test] = k
            report(k + 1, len(splits))
    held = np.flatnonzero(fold >= 0)
    weight = kept[held] * kept[held].sum() / (kept[held] @ kept[held])  # Σ is the effective number of samples
    outcome, values = view.outcome, given.values[held]
    deviance = outcome.deviance(fitted.estimator, values, weight)
    use = _Use.of(deviance, base[held], own[held], parts[:, held])
    own_groups = None if groups is None else np.asarray(groups)[held]
    chance = _CHANCE_OF_COUNTS if outcome.least_dispersion else _CHANCE
    if use.explained > 0:
        chance *= _dispersion(fitted.estimator, outcome, values, weight, use, own_groups)
    shown = use.explained > 0 and outcome.likelihood_ratio(use.none, use.best, weight.sum()) > chance
    predictive = shown & (use.contribution >= LEAST_CONTRIBUTION)
    seen = outcome.out_of(values, None if exposures is None else exposures[held])
    alone, of = outcome.alone(view, seen, scores[held], weight)
    unseen = fold[:, None] < 0
    activations, signal = (np.where(unseen, np.nan, values) for values in (full, parts.sum(axis=0)))
    figures = (use.explained, use.contribution, predictive, alone, outcome.alone_called(seen), of)
    return HeldOut(scores, fold, *figures, activations, signal)


def _copies(outcome: Outcome, given: CheckedY, X: Any, cv: int) -> Any:
    """Return groups (n,) of copies that folds keep together, or None."""
    labelled = np.arange(len(given.values)) if given.known is None else np.flatnonzero(given.known)
    truth = outcome.coded(given)[1]
    return find_copies(X).for_folds(lambda own: outcome.sizes(truth, own[labelled]), cv)


def _splits(
    outcome: Outcome, given: CheckedY, weight: Any, groups: Any, cv: Any, random_state: Any
) -> list[tuple[Any, Any]]:
    """Return positions of training and test samples; samples without outcome or weight are never tested."""
    if not isinstance(cv, Integral) or isinstance(cv, bool) or cv < 2:
        raise ValueError(f"cv={cv!r}: an integer >= 2 is required")
    known = np.ones(len(weight), dtype=bool) if given.known is None else given.known
    labelled, others = np.flatnonzero(known & (weight > 0)), np.flatnonzero(~known & (weight > 0))
    strata = outcome.search_strata(given.values[labelled])
    if groups is not None:
        groups = np.asarray(groups)
        inputs.check_length("groups", groups, weight)
        groups = groups[labelled]
    units = len(labelled) if groups is None else len(np.unique(groups))
    if strata is not None and groups is None:
        units = max(2, int(np.unique(strata, return_counts=True)[1].min()))
    seed = seed_of(random_state)
    options: dict[str, Any] = {"n_splits": min(int(cv), units), "shuffle": True}
    options["random_state"] = seed if isinstance(seed, int) else int(seed.integers(2**31))
    kinds = {
        (True, True): StratifiedKFold,
        (True, False): StratifiedGroupKFold,
        (False, True): KFold,
        (False, False): GroupKFold,
    }
    splitter = kinds[strata is not None, groups is None](**options)
    with warnings.catch_warnings():  # about a class with fewer samples than folds
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        found = list(splitter.split(np.zeros(len(labelled)), strata, groups))
    return [(np.union1d(labelled[train], others), labelled[test]) for train, test in found]


@dataclass(frozen=True)
class _Fold:
    """The model and its training data, shared by all folds; `scores` (n, r) are those of the model."""

    refit: Refit
    estimator: Any
    view: FactorView
    scores: Any
    X: Any
    given: CheckedY
    covariates: Any
    weight: Any
    rotation: str | None

    def __call__(self, train: Any, test: Any) -> tuple[Any, ...]:
        """Return scores (m, r) and activations of the samples at `test`; outputs are the last dimension.

        Activations are those of a regression without factors (m, c), of the fit at mean scores (m, c), of the
        fit (m, c), and the part of each factor (r, m, c).
        """
        again = fitted_model(
            self.refit.fit(
                self.X, self.given.marked, train, covariates=self.covariates, sample_weight=self.weight
            )
        )
        view = factor_view(again.estimator, rotation=self.rotation)
        # All samples at once: the checks of a DataFrame take as long for few samples.
        whole, estimator = again.preprocess(self.X), again.estimator
        codes, offset = estimator._split(whole, self.covariates, "held_out_scores")
        scores = view.scores_of(inputs.as_numpy(codes))
        turn = _alignment(view, scores[train], self.view, self.scores[train])
        beta = numbers(estimator.factor_coef_)
        effect = effects_of(view.turn, view.source.C, beta)  # type: ignore[union-attr]
        own = estimator._by_output(numbers(inputs.as_numpy(offset)).T).T + beta @ view.center
        full = own[test] + scores[test] @ effect.T
        base, has_constant = self._without_factors(estimator, whole, train, test)
        base = estimator._by_output(base.T).T
        own = own[test] if has_constant else own[test] - own[train].mean(axis=0)
        aligned, each = scores[test] @ turn, effect @ turn
        parts = aligned.T[:, :, None] * each.T[:, None, :]

        def filled(x: Any, missing: float) -> Any:
            return self.view.outcome.with_all_outputs(x, estimator, self.estimator, missing)

        return aligned, *(filled(x, _UNKNOWN) for x in (base, own, full)), filled(parts, 0.0)

    def _without_factors(self, estimator: Any, whole: Any, train: Any, test: Any) -> tuple[Any, bool]:
        """Return activations (m, κ) of a regression on the covariates, with the loss and ridges of the refit.

        Also return whether a constant matters. Class weights do not enter the deviance, so the regression has
        none.
        """
        outcome, n = self.view.outcome, len(self.given.values)
        weight = np.ones(n) if self.weight is None else self.weight
        known = weight > 0 if self.given.known is None else (weight > 0) & self.given.known
        train, Z = train[known[train]], np.zeros((n, 0))
        if estimator.covariate_coef_.shape[1]:
            Z = numbers(inputs.as_numpy(estimator.split_columns(whole, self.covariates)[1]))
        center, spread = Z[train].mean(axis=0), Z[train].std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        Z = (Z - center) / spread
        targets, loss = outcome.loss_of(estimator, self.given.values[train], weight[train])
        weight, exposures = weight[train], inputs.exposures_in(whole, estimator._exposure_column)
        if exposures is not None:  # rates
            targets, weight = targets / exposures[train], weight * exposures[train, 0]
        penalty = np.broadcast_to(2 * covariate_ridge(estimator), spread.shape) / spread**2
        has_constant = not loss.ignores_constants
        if not Z.shape[1] and not has_constant:
            return np.zeros((len(test), targets.shape[1])), has_constant
        (a,) = ridge_activations(loss, targets, Z[train], Z[test], penalty[None] + _FREE, weight)
        return a if exposures is None else a + np.log(exposures[test]), has_constant


def _alignment(view: FactorView, scores: Any, final: FactorView, own: Any) -> Any:
    """Return the orthogonal matrix (s, r) that rotates scores (n, s) of a view to those of another (n, r)."""
    turn = np.zeros((scores.shape[1], own.shape[1]))
    for kind in (True, False):
        left, right = (np.flatnonzero(v.carries == kind) for v in (view, final))
        if len(left) and len(right):
            U, _, Vt = np.linalg.svd(scores[:, left].T @ own[:, right], full_matrices=False)
            turn[np.ix_(left, right)] = U @ Vt
    return turn


@dataclass(frozen=True)
class _Use:
    """What factors explain of held-out samples.

    Attributes
    ----------
    none, best : the deviance without factors, and with their parts
    a, signal : (n, c), the best activations, and what the factors add there
    contribution : (r,), the share of the gain that is lost without each factor
    """

    none: float
    best: float
    a: Any
    signal: Any
    contribution: Any

    @classmethod
    def of(cls, deviance: Callable[[Any], float], base: Any, own: Any, parts: Any) -> _Use:
        """Compare activations without factors with the parts of the factors (r, n, c) added.

        `base` (n, c) are those of a regression without factors, `own` those of the fit at mean scores. With
        and without factors the best point between the two is used, since the intercept of the fit belongs to
        its factors.
        """
        signal = parts.sum(axis=0)

        def between(a: Any) -> tuple[float, Any]:
            """Return the least deviance of a + t·(own − base) for t in [0, 1], and these activations."""
            if np.array_equal(own, base):
                return deviance(a), a
            found = minimize_scalar(lambda t: deviance(a + t * (own - base)), bounds=(0, 1), method="bounded")
            t = float(found.x) if found.fun < deviance(a) else 0.0
            return deviance(a + t * (own - base)), a + t * (own - base)

        none, a = between(base)
        # Shrinkage, so that factors of an overconfident but useful prediction count as useful.
        found = minimize_scalar(lambda s: between(base + s * signal)[0], bounds=(0, 1), method="bounded")
        best, with_parts = between(base + found.x * signal)
        if best >= none or none <= 0:
            return cls(none, none, a, signal, np.zeros(len(parts)))
        without = np.array([deviance(with_parts - found.x * part) for part in parts])
        return cls(none, best, with_parts, signal, (without - best) / (none - best))

    @property
    def explained(self) -> float:
        """The share of the deviance that the factors explain."""
        return float((self.none - self.best) / self.none) if self.best < self.none else 0.0


def _dispersion(estimator: Any, outcome: Outcome, values: Any, weight: Any, use: _Use, groups: Any) -> float:
    """Return the variance of the score along the signal, relative to that of independent samples; at least 1.

    The score is the sum of the slopes of the loss along the signal. Its variance comes from the samples, or
    from groups of samples, which may resemble each other. The likelihood ratio grows with it.
    """
    if groups is None and not outcome.least_dispersion:
        return 1.0
    targets, loss = outcome.loss_of(estimator, values, weight)
    a, signal = (against_first(estimator, x.T).T for x in (use.a, use.signal))
    slopes = weight * np.sum(loss.residual(a, targets) * signal, axis=1)
    units = slopes if groups is None else np.bincount(np.unique(groups, return_inverse=True)[1], slopes)
    expected = np.sum(slopes**2)
    if outcome.least_dispersion:  # the loss states the variance
        expected = np.sum(signal * loss.curvature(a, targets).weighted(weight[:, None]).times(signal))
    return max(float(np.sum(units**2) / expected), 1.0)
