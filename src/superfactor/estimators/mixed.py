"""`SMFMixed`: several outcomes of different kinds over one set of factors."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from superfactor._arrays import Array, NumpyArray
from superfactor.constraints import ConvexSet
from superfactor.estimators import inputs
from superfactor.estimators.base import SupervisedFactorization
from superfactor.estimators.parameters import shown
from superfactor.estimators.progress import with_callbacks
from superfactor.estimators.targets import CheckedY
from superfactor.estimators.targets.mixed import MixedPart, columns_of, part_types
from superfactor.losses import Loss, Part, SideBySide

# Attributes with a value for each outcome.
_BY_OUTCOME = ("outcomes", "outcome_weight", "outcomes_", "outcome_weight_")


class SMFMixed(SupervisedFactorization):
    """Supervised matrix factorization for outcomes of several kinds at once.

    Finds ``n_components`` factors that reconstruct X *and* predict every outcome: labels, numbers, counts and
    survival times together; each may be missing for some samples. With the losses ``ℓ_k`` of the outcomes,
    over the samples whose outcome k is known,

        ``F = Σ_k v_k Σ_i ℓ_k(y_ik, a_ik) + ξ‖X − codes @ components‖² + λ(‖A‖² + ‖γ‖²)``

    is minimised over matrices of rank at most ``n_components``. One certificate shows how far the solution
    can be from the global optimum. Outcomes share only the factors: each has one or more rows of
    ``factor_coef_``.

    Parameters
    ----------
    outcomes : dict from a column of y to "classes", "number", "counts" or "times"
        Kinds of the outcomes. Times have two columns:
        ``{"subtype": "classes", "grade": "number", ("time", "event"): "times"}``.
    n_components : int, default=2
        r, from 1 to min(n_samples, n_features).
    outcome_weight : dict from a column of y to a number > 0, default=None
        Weight of each outcome; 1 if it is not named. Weights are relative to the null loss: with weight 1,
        labels, numbers and counts of n samples have the loss ``n·log 2`` without a model, for any kind and
        unit. For times the partial likelihood is not scaled.
    model, xi, lam, lam_covariates, covariate_columns, constraint, solver, search, step_size, max_iter, tol
        As in `SMFRegressor`.
    prediction, certify, device, checkpoint, random_state, verbose
        As in `SMFRegressor`.

    Attributes
    ----------
    outcomes_ : dict from a column of y to its fitted part
        With ``classes`` for labels, ``mean`` and ``size`` for numbers, ``mean`` for counts; ``outputs`` are
        the names of its rows of ``factor_coef_``.
    outcome_weight_ : dict from a column of y to v_k
    output_names_ : list of str
        Names of all rows of ``factor_coef_``: ``subtype=B`` is the log-odds of B relative to the first class.
    factor_coef_ : array of shape (n_outputs, n_components)
        β transposed, the change of each output per unit of each code: log-odds, a number in standard
        deviations, the logarithm of a count, or the log hazard.
    n_labeled_ : int
        Number of training samples with at least one outcome.
    components_, codes_, patterns_, coef_, covariate_coef_, intercept_, xi_, lam_, lam_covariates_, objective_
        As in `SMFRegressor`.
    certificate_ : Certificate or None
        ``lower_bound``, ``gap``, ``relative_gap``, ``is_global``, ``statement``.
    component_names_, column_names_, covariate_names_, covariate_levels_, covariate_columns_, n_covariates_in_
        Names of columns, and which of them are covariates: as in `SMFClassifier`.
    explained_variance_ratio_, score_mean_, score_covariance_, feature_scale_, feature_importances_
        Properties of the factors: as in `SMFClassifier`.
    factor_turn_, factor_contribution_, history_, n_iter_, violation_, n_features_in_, feature_names_in_
        As in `SMFClassifier`.

    Notes
    -----
    Outcomes of a sample may be missing; a sample without any outcome enters the reconstruction only. If times
    are among the outcomes, X must be in memory, as for `SMFSurvival`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from superfactor import SMFMixed
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 6))
    >>> y = pd.DataFrame({"type": np.where(X[:, 0] > 0, "A", "B"), "grade": X[:, 0] + X[:, 1]})
    >>> y.loc[:20, "grade"] = np.nan
    >>> model = SMFMixed({"type": "classes", "grade": "number"}).fit(X, y)
    >>> predicted = model.predict(X[:2])
    >>> sorted(predicted), model.output_names_
    (['grade', 'type'], ['type=B', 'grade'])
    >>> {name: bool(figure > 0.8) for name, figure in model.scores(X, y).items()}
    {'type': True, 'grade': True}
    """

    _predicted: ClassVar[str] = "outcome"
    #: All kinds have an intercept; for times it makes the mean risk 0.
    fit_intercept: ClassVar[bool] = True
    outcomes_: dict[Hashable, MixedPart]
    outcome_weight_: dict[Hashable, float]
    output_names_: list[str]
    n_labeled_: int

    def __init__(
        self,
        outcomes: Mapping[Any, str],
        n_components: int = 2,
        *,
        outcome_weight: Mapping[Any, float] | None = None,
        model: str = "filter",
        xi: float | str = "auto",
        lam: float | str = "auto",
        lam_covariates: float | str | None = "auto",
        covariate_columns: Any = None,
        constraint: ConvexSet | None = None,
        solver: str = "auto",
        search: str = "auto",
        step_size: float | str = "auto",
        max_iter: int | None = None,
        tol: float = 1e-8,
        prediction: str = "exact",
        certify: str | None = "residual",
        device: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.outcomes = outcomes
        self.n_components = n_components
        self.outcome_weight = outcome_weight
        self.model = model
        self.xi = xi
        self.lam = lam
        self.lam_covariates = lam_covariates
        self.covariate_columns = covariate_columns
        self.constraint = constraint
        self.solver = solver
        self.search = search
        self.step_size = step_size
        self.max_iter = max_iter
        self.tol = tol
        self.prediction = prediction
        self.certify = certify
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    def __getstate__(self) -> dict[str, Any]:
        """Store dicts as lists of items, because keys may be tuples and model files require strings."""
        state = dict(super().__getstate__())
        found = {name: state[name] for name in _BY_OUTCOME if isinstance(state.get(name), Mapping)}
        return state | {name: list(by_outcome.items()) for name, by_outcome in found.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        found = {name: dict(state[name]) for name in _BY_OUTCOME if isinstance(state.get(name), list)}
        super().__setstate__(state | found)

    @with_callbacks
    def fit(self, X: Any, y: Any, covariates: Any = None, sample_weight: Any = None) -> Self:
        """Fit factors and the models of all outcomes together.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : DataFrame of n_samples rows, or dict from names to columns
            With the columns of `outcomes`. None, NaN and NA mean that the outcome of a sample is not known.
            Events of times are 0 and 1, True and False.
        covariates : array-like or DataFrame of shape (n_samples, n_covariates), optional
            Enter the models of all outcomes directly. If given, they are required for prediction too.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies every term of a sample; 0 leaves it out.

        Returns
        -------
        self
        """
        return self._fit(X, y, covariates, sample_weight)

    def _read(self, y: Any, X: Any) -> dict[Hashable, CheckedY]:
        """Check each outcome of the samples of X."""
        types = part_types(self.outcomes)
        columns = columns_of(y, list(types))
        return {key: kind.read(key, columns[key], X) for key, kind in types.items()}

    def _checked_y(self, y: Any, X: Any) -> CheckedY:
        """Return the targets (n, κ) for a fitted model, NaN where an outcome is not known."""
        read = self._read(y, X)
        values = np.concatenate([part.targets(read[key]) for key, part in self.outcomes_.items()], axis=1)
        known = ~np.all(np.isnan(values), axis=1)
        return CheckedY(values, None if known.all() else known)

    def _targets(self, y: Any, X: Array, weight: Any, kept: Any) -> tuple[Any, Loss, Any]:
        types = part_types(self.outcomes)
        read = {key: given.among(kept) for key, given in self._read(y, X).items()}
        n = len(next(iter(read.values())).values)
        counted = np.ones(n) if weight is None else weight if kept is None else weight[kept]
        learned: dict[Hashable, MixedPart] = {}
        targets, losses, start = [], [], 0
        for key, given in read.items():
            if given.known is not None and not given.known.any():
                raise ValueError(f"y[{shown(key)}]: none of the {n} samples has a value; some are required")
            part = types[key].learned(key, given, counted)
            Y, loss = part.targets(given), part.loss(given, counted)
            there = given.of_labelled(counted)
            null = _null_loss(loss, Y, counted)
            if not null > 0:
                raise ValueError(f"y[{shown(key)}]: counts that differ are required, and all are the same")
            v = self._weight_of(key) * (1.0 if part.as_it_is else math.log(2) * float(there.sum()) / null)
            losses.append(Part(loss, start, start + Y.shape[1], v))
            start += Y.shape[1]
            targets.append(Y)
            learned[key] = part
        values = np.concatenate(targets, axis=1)
        known = ~np.all(np.isnan(values), axis=1)
        self.outcomes_ = learned
        self.outcome_weight_ = {key: part.weight for key, part in zip(learned, losses, strict=True)}
        self.output_names_ = [name for part in learned.values() for name in part.outputs]
        self.n_labeled_ = int(known.sum())
        return values, SideBySide(losses), None

    def _weight_of(self, key: Hashable) -> float:
        given = {} if self.outcome_weight is None else self.outcome_weight
        if not isinstance(given, Mapping):
            raise ValueError(
                f"outcome_weight={shown(given)}: None, or a dict from outcomes to numbers > 0, is required"
            )
        strange = [name for name in given if name not in self.outcomes]
        if strange:
            raise ValueError(
                f"outcome_weight: {shown(strange[0])} is none of the outcomes, {shown(list(self.outcomes))}"
            )
        weight = given.get(key, 1.0)
        if not (isinstance(weight, int | float | np.number) and 0 < weight < math.inf):
            raise ValueError(f"outcome_weight[{shown(key)}]={shown(weight)}: a number > 0 is required")
        return float(weight)

    def decision_function(self, X: Any, covariates: Any = None) -> NumpyArray:
        """Return activations: log-odds, numbers in standard deviations, log counts, log hazards.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        covariates : array-like of shape (n_samples, n_covariates), optional
            Required if they were given to ``fit``.

        Returns
        -------
        activations : array of shape (n_samples, n_outputs)
            Columns are ``output_names_``.
        """
        signal, offset = self._activations(X, covariates, "decision_function")
        return self._coding.targets(signal, offset, self.prediction)

    def _by_outcome(self, X: Any, covariates: Any) -> dict[Hashable, tuple[MixedPart, NumpyArray]]:
        """Return each outcome and its columns of the activations."""
        a, found, start = inputs.as_numpy(self.decision_function(X, covariates)), {}, 0
        for key, part in self.outcomes_.items():
            found[key] = part, a[:, start : start + len(part.outputs)]
            start += len(part.outputs)
        return found

    def predict(self, X: Any, covariates: Any = None) -> dict[Hashable, NumpyArray]:
        """Return the prediction of every outcome.

        Parameters are those of ``decision_function``.

        Returns
        -------
        predicted : dict from a column of y to an array of shape (n_samples,)
            Labels, numbers or expected counts; for times the risk, which is higher for earlier events.
        """
        return {key: part.predicted(a) for key, (part, a) in self._by_outcome(X, covariates).items()}

    def predict_proba(self, X: Any, covariates: Any = None) -> dict[Hashable, NumpyArray]:
        """Return class probabilities of the outcomes that are labels.

        Parameters are those of ``decision_function``.

        Returns
        -------
        probabilities : dict from a column of y to an array of shape (n_samples, n_classes)
            Columns are ``outcomes_[key].classes``.
        """
        found = self._by_outcome(X, covariates)
        return {
            key: part.probabilities(a) for key, (part, a) in found.items() if hasattr(part, "probabilities")
        }

    def scores(self, X: Any, y: Any, covariates: Any = None, sample_weight: Any = None) -> dict[Any, float]:
        """Return a metric of the predictions of each outcome, for the samples that have it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : DataFrame or dict, as for ``fit``
        covariates : array-like of shape (n_samples, n_covariates), optional
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        figures : dict from a column of y to a float
            Accuracy of labels, R² of numbers, deviance explained of counts, concordance of times; NaN if no
            sample has the outcome, or if no two samples can be compared.
        """
        found = self._by_outcome(X, covariates)
        rows = next(iter(found.values()))[1]
        read, weight = self._read(y, rows), inputs.check_weights(sample_weight, rows)
        figures = {}
        for key, (part, a) in found.items():
            given = read[key]
            values, own, w = (given.of_labelled(x) for x in (given.values, a, weight))
            figures[key] = part.measure(values, own, w) if len(values) else math.nan
        return figures

    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """Return the mean of ``scores`` over the outcomes.

        Parameters are those of ``scores``.

        Returns
        -------
        mean : float
        """
        return float(np.nanmean(list(self.scores(X, y, covariates, sample_weight).values())))


def _null_loss(loss: Loss, Y: Any, weight: Any) -> float:
    """Return Σω ℓ(y, 0) over the samples whose targets (n, κ) are known."""
    known = ~np.isnan(Y).any(axis=1)
    values = loss.value(np.zeros_like(Y), np.where(known[:, None], Y, 0.0))
    return float(np.sum((weight * values)[known]))
