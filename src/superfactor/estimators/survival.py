"""`SMFSurvival`: times to an event, not all of them seen to the end."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self

import numpy as np

from superfactor._arrays import Array, NumpyArray, cast, moved, to_numpy
from superfactor.constraints import ConvexSet
from superfactor.estimators import inputs
from superfactor.estimators.base import Stated, SupervisedFactorization
from superfactor.estimators.parameters import shown
from superfactor.estimators.progress import with_callbacks
from superfactor.estimators.targets import (
    CheckedY,
    check_survival,
    check_tells_something,
    concordance,
    strata_of,
)
from superfactor.losses import CoxPartialLikelihood, Loss
from superfactor.solution import Solution


class SMFSurvival(SupervisedFactorization):
    """Supervised matrix factorization for survival times: Cox's proportional hazards on factors.

    Finds ``n_components`` factors that reconstruct X *and* predict the risk of samples, and computes how far
    the solution can be from the global optimum. With events δ, times t and ``D_i`` events at the time of i

        ``F = Σ_i δ_i (log Σ_{t_j≥t_i} e^{a_j} − log D_i − a_i)``
        ``    + ξ‖X − codes @ components‖² + λ(‖A‖² + ‖γ‖²)``

    is minimised over matrices of rank at most ``n_components``: Cox's partial likelihood with Breslow's ties,
    or Efron's (``ties``).
    The activations ``a_i``, log hazards, are those of `SMFRegressor`: ``a_i = Aᵀx_i + γᵀx'_i`` in the filter
    model, ``x'_i`` being covariates such as age or stage.

    Parameters
    ----------
    n_components : int, default=2
        r, from 1 to min(n_samples, n_features).
    model : {"filter", "feature"}, default="filter"
        "filter" predicts from projections of X, "feature" from the codes.
    xi : "auto" or float, default="auto"
        ξ > 0, weight of the reconstruction relative to the partial likelihood. "auto" is in the units of the
        data (`superfactor.units`). ``xi_`` is the value of the fit.
    lam : "auto" or float, default="auto"
        λ ≥ 0, ridge on the lifted coefficients A; "auto" as for `xi`, in proportion to the number of events.
        ``lam_`` is the value of the fit.
    lam_covariates : "auto", float or None, default="auto"
        Ridge on the coefficients of the covariates. "auto" is 0.08 times the variance of each, which
        corresponds to a normal prior with standard deviation 2.5 on the log hazard ratio per standard
        deviation. None uses λ. ``lam_covariates_`` is the value of the fit.
    ties : {"breslow", "efron"}, default="breslow"
        How several events at one time are counted. Efron's method is closer to the result for distinct times.
        Both are equal if no two events are at the same time.
    covariate_columns : column name(s), index(es) or boolean mask, default=None
        Columns of X that enter the hazard directly and are not factorized.
    constraint, solver, search, step_size, max_iter, tol
        A convex set Θ on the lifted variables, and parameters of the solver: as in `SMFClassifier`.
    prediction : {"exact", "fast"}, default="exact"
        Feature model only: "exact" minimises the sample's training term over its code, with unknown time,
        "fast" projects the sample.
    certify : {"residual", "ascent"} or None, default="residual"
        How the lower bound on F is computed: from the residuals of the fit, improved by ascent, or not.
    impute : {"factors"} or None, default=None
        Missing values (NaN) of new samples: as in `SMFClassifier`.
    device, checkpoint, random_state, verbose
        Device of the fit, checkpoint file, seed of random starts, and output: as in `SMFClassifier`.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features without covariate columns)
        W transposed: rows are the atoms. Orthonormal in the filter model only.
    codes_ : array of shape (n_samples, n_components)
        H transposed, the codes of the training samples.
    patterns_ : array of shape (n_components, n_features without covariate columns)
        Regression of the features on the codes. Weights define how a code is computed; patterns show which
        features are related to it.
    factor_coef_ : array of shape (1, n_components)
        β transposed, the change of the log hazard per unit of each code.
    coef_ : array of shape ``(1, n_features_in_)``
        Weights of the columns of X, including covariate columns: risks are ``X @ coef_.T + intercept_``.
    covariate_coef_ : array of shape (1, n_covariates)
        γ transposed, log hazard ratios; `covariate_columns` first, then the columns of `covariates`.
    intercept_ : array of shape (1,)
        Minus the mean risk of the training samples, so that their mean risk is 0. The partial likelihood has
        no intercept.
    event_times_ : NumPy array of shape (n_times,)
        The distinct event times of the training samples, ascending.
    strata_ : NumPy array of shape (n_strata,) or None
        The strata in order; None if y had none.
    baseline_ : NumPy array of shape (n_times,), with strata (n_strata, n_times)
        Breslow's cumulative hazard at these times for a sample with risk 0; at most the largest float.
    log_baseline_ : NumPy array of the same shape
        Its logarithm, which does not overflow for very different risks; curves are computed from it.
    xi_, lam_ : float
        ξ and λ of the fit.
    lam_covariates_ : array of shape (n_covariates,)
        The ridge of every covariate.
    n_labeled_ : int
        Number of training samples with a time.
    n_events_ : int
        Number of training samples with an event.
    objective_ : float
        F at the solution, a sum over samples and not a mean.
    certificate_ : Certificate or None
        ``lower_bound``, ``gap``, ``relative_gap``, ``is_global``, ``statement``.
    component_names_, column_names_, covariate_names_, covariate_levels_, covariate_columns_, n_covariates_in_
        Names of columns, and which of them are covariates: as in `SMFClassifier`.
    explained_variance_ratio_, score_mean_, score_covariance_, feature_importances_
        Properties of the factors: as in `SMFClassifier`.
    feature_mean_, feature_scale_
        Properties of the factors: as in `SMFClassifier`.
    factor_turn_, factor_contribution_, history_, n_iter_, violation_, n_features_in_, feature_names_in_
        As in `SMFClassifier`.

    Notes
    -----
    The partial likelihood compares every event with all samples at risk, so samples cannot be processed in
    blocks. X must be in memory, dense or sparse; files read in passes and clusters are not supported.

    The partial likelihood ignores constants, but X is reconstructed without centring: centre it before the
    fit, otherwise its mean uses a factor.

    ``sample_weight`` counts samples: a weight of 2 is equivalent to two copies of the sample, among events
    and among samples at risk. (With Efron's ties it is one event of weight 2.) A sample without a time, NaN
    or None, enters the reconstruction only. Times may be 0. Only their order enters the fit, so their unit
    does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor import SMFSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((120, 8))
    >>> time = rng.exponential(np.exp(-X[:, 0] - X[:, 1]))
    >>> event, time = time < 1.5, np.minimum(time, 1.5)  # observed until 1.5
    >>> model = SMFSurvival(n_components=2).fit(X, np.column_stack([event, time]))
    >>> model.predict(X[:3]).shape, bool(model.score(X, np.column_stack([event, time])) > 0.75)
    ((3,), True)
    >>> model.predict_survival_function(X[:3], times=[0.5, 1.0]).shape
    (3, 2)
    """

    _predicted: ClassVar[str] = "risk"
    #: The partial likelihood has no intercept.
    fit_intercept: ClassVar[bool] = False
    n_labeled_: int
    n_events_: int
    # Times and log baseline are NumPy arrays for any X; stored privately so that scikit-learn ignores them.
    _curve: tuple[NumpyArray, NumpyArray]
    _strata: NumpyArray | None = None

    def __init__(
        self,
        n_components: int = 2,
        *,
        model: str = "filter",
        xi: float | str = "auto",
        lam: float | str = "auto",
        lam_covariates: float | str | None = "auto",
        ties: str = "breslow",
        covariate_columns: Any = None,
        constraint: ConvexSet | None = None,
        solver: str = "auto",
        search: str = "auto",
        step_size: float | str = "auto",
        max_iter: int | None = None,
        tol: float = 1e-8,
        prediction: str = "exact",
        certify: str | None = "residual",
        impute: str | None = None,
        device: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.model = model
        self.xi = xi
        self.lam = lam
        self.lam_covariates = lam_covariates
        self.ties = ties
        self.covariate_columns = covariate_columns
        self.constraint = constraint
        self.solver = solver
        self.search = search
        self.step_size = step_size
        self.max_iter = max_iter
        self.tol = tol
        self.prediction = prediction
        self.certify = certify
        self.impute = impute
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, covariates: Any = None, sample_weight: Any = None) -> Self:
        """Fit factors and hazards together.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : structured array of shape (n_samples,), or array-like or DataFrame of shape (n_samples, 2)
            Event indicators, and times of the event or end of observation. Accepted are scikit-survival's
            structured array with a boolean field and a field of times; a DataFrame with columns "event" and
            "time"; or two columns, the event (0 or 1) first. Names such as "status" and "days" are
            recognised, and swapped columns if this is clear. NaN or None for the time, without an event,
            means not known. With a field or column "stratum", or a third column, samples are compared within
            their stratum only, and each stratum has its own baseline hazard.
        covariates : array-like or DataFrame of shape (n_samples, n_covariates), optional
            Enter the hazard directly; categories as indicators relative to their most frequent level. If
            given, they are required for prediction too.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies every term of a sample; 0 leaves it out.

        Returns
        -------
        self
        """
        return self._fit(X, y, covariates, sample_weight)

    def _checked_y(self, y: Any, X: Any) -> CheckedY:
        """Read y as that of the fit: with its column of events, and its coding of them."""
        coded_as_r, column = getattr(self, "_coded_as_r", False), getattr(self, "_event_column", None)
        return check_survival(y, X, type(self).__name__, coded_as_r, column)

    def _targets(self, y: Any, X: Array, weight: Any, kept: Any) -> tuple[Any, Loss, Any]:
        given = check_survival(y, X, type(self).__name__).among(kept).of_some()
        if weight is None:
            counted = np.ones(len(given.values))
        else:
            counted = weight if kept is None else weight[kept]
        if given.known is not None:
            counted = counted * given.known
        check_tells_something(given, counted)
        event, time = given.values[:, :2].T
        # New samples are read in the same way; in a few of them only one of the codes may occur.
        self._coded_as_r, self._event_column = given.coded_as_r, given.event_column
        self.n_labeled_ = len(given.labelled)
        self.n_events_ = int(given.labelled[:, 0].sum())
        names, strata = given.strata, strata_of(given.values)
        if names is not None and strata is not None:  # strata without weight have no baseline hazard
            names = names[np.unique(strata[counted > 0]).astype(int)]
        self._strata = names
        loss = CoxPartialLikelihood(time, event, counted, self.ties, strata)
        return event[:, None], loss, given.loss_factor

    def adopt(self, stated: Stated, solution: Solution) -> Self:
        super().adopt(stated, solution)
        whole, loss = stated.problem.whole, stated.problem.loss
        assert whole is not None and isinstance(loss, CoxPartialLikelihood)
        X = stated.everyone if stated.kept is None else inputs.take(stated.everyone, stated.kept, axis=0)
        # Risks of training samples are computed as for new ones, because codes of the feature model depend on
        # the times.
        offset = whole.known.covariates @ self.covariate_coef_.T
        risk = self._coding.targets(self._code(X) @ self.factor_coef_.T, offset, self.prediction)
        risk = np.asarray(to_numpy(risk), dtype=np.float64)
        mean = np.average(risk, axis=0, weights=loss.weights)
        self.intercept_ = cast(moved(-mean, self.components_), self.components_)
        self._curve = loss.log_cumulative_hazard(risk - mean)
        return self

    @property
    def strata_(self) -> NumpyArray | None:
        return self._strata

    @property
    def event_times_(self) -> NumpyArray:
        return self._curve[0]

    @property
    def log_baseline_(self) -> NumpyArray:
        return self._curve[1]

    @property
    def baseline_(self) -> NumpyArray:
        return _exp(self.log_baseline_)

    def predict(self, X: Any, covariates: Any = None) -> NumpyArray:
        """Return risk scores: log hazard ratios relative to the average of the training samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        covariates : array-like of shape (n_samples, n_covariates), optional
            Required if they were given to ``fit``.

        Returns
        -------
        risk : array of shape (n_samples,)
            Higher values mean earlier events.
        """
        signal, offset = self._activations(X, covariates, "predict")
        return self._coding.targets(signal, offset, self.prediction)[:, 0]

    def predict_cumulative_hazard_function(
        self, X: Any, covariates: Any = None, times: Any = None, strata: Any = None
    ) -> NumpyArray:
        """Return cumulative hazards by Breslow's estimate: ``exp(log_baseline_ + predict(X))``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        covariates : array-like of shape (n_samples, n_covariates), optional
            Required if they were given to ``fit``.
        times : float or array-like of shape (n_times,), optional
            Times of the curves; None is ``event_times_``. After the last event of the training samples, the
            hazard is constant.
        strata : one of ``strata_``, or array-like of shape (n_samples,) of them
            Required if y had strata at ``fit``, and only then.

        Returns
        -------
        hazard : NumPy array of shape (n_samples, n_times)
            At most the largest float.
        """
        risk = np.asarray(to_numpy(self.predict(X, covariates=covariates)), dtype=np.float64)
        baseline = np.atleast_2d(self.log_baseline_)[self._strata_at(strata, len(risk))]
        if times is not None:
            times = inputs.check_numbers("times", np.atleast_1d(times), ensure_2d=False, ensure_min_samples=0)
            if times.ndim != 1:
                raise ValueError(f"times: a number or a list of them is required, got shape {times.shape}")
            before = np.searchsorted(self.event_times_, times, side="right")
            baseline = np.insert(baseline, 0, -np.inf, axis=1)[:, before]
        return _exp(risk[:, None] + baseline)

    def _strata_at(self, strata: Any, n: int) -> Any:
        """Return the row of the baseline for each of n samples."""
        if self.strata_ is None or strata is None:
            if self.strata_ is None and strata is None:
                return np.zeros(n, dtype=int)
            required = (
                "y had none at fit; None is required"
                if self.strata_ is None
                else "the strata of the samples are required"
            )
            raise ValueError(f"strata={'None' if strata is None else 'given'}: {required}")
        # A wider dtype, so that longer strings and fractions are not changed to a known stratum.
        own = self.strata_.dtype
        wide = str if own.kind == "U" else np.float64 if own.kind in "biu" else own
        strata = np.broadcast_to(np.asarray(strata), (n,)).astype(wide)
        unknown = ~np.isin(strata, self.strata_)
        if unknown.any():
            raise ValueError(
                f"strata: {shown(strata[unknown][0])} did not occur at fit; one of "
                f"{shown(list(self.strata_))} is required"
            )
        return np.searchsorted(self.strata_, strata)

    def predict_survival_function(
        self, X: Any, covariates: Any = None, times: Any = None, strata: Any = None
    ) -> NumpyArray:
        """Return the survival probability: ``exp(−cumulative hazard)``.

        Parameters are those of ``predict_cumulative_hazard_function``.

        Returns
        -------
        survival : NumPy array of shape (n_samples, n_times)
        """
        return np.exp(-self.predict_cumulative_hazard_function(X, covariates, times, strata))

    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """Return Harrell's concordance: the share of comparable pairs in the right order; 0.5 is chance.

        If y has strata, only pairs within a stratum are compared.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : structured array of shape (n_samples,), or array-like or DataFrame of shape (n_samples, 2)
            As for ``fit``.
        sample_weight : array-like of shape (n_samples,), optional
            The weight of a pair is the product of the weights of its samples.
        covariates : array-like of shape (n_samples, n_covariates), optional

        Returns
        -------
        concordance : float
        """
        risk = inputs.as_numpy(self.predict(X, covariates=covariates))
        given = self._checked_y(y, risk)
        weight = inputs.check_weights(sample_weight, risk)
        truth = given.labelled
        event, time = truth[:, :2].T
        return concordance(event, time, given.of_labelled(risk), given.of_labelled(weight), strata_of(truth))


def _exp(x: NumpyArray) -> NumpyArray:
    """Return ``e^x``, at most the largest float."""
    return np.exp(np.minimum(x, np.log(np.finfo(np.float64).max)))
