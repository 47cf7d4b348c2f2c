"""Problem number `index` of a seed: data, parameters, and the same problem for the naive code."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.trust import outcomes, tables
from benchmarks.trust.losses import Counts, Flags, Labels, Numbers, Several, Times
from benchmarks.trust.naive import Factors, Given
from superfactor import SMFClassifier, SMFMixed, SMFRegressor, SMFSurvival, row_blocks

Array = Any

ESTIMATORS = {
    "two classes": SMFClassifier,
    "classes": SMFClassifier,
    "numbers": SMFRegressor,
    "counts": SMFRegressor,
    **dict.fromkeys(outcomes.TIMES, SMFSurvival),
    "flags": SMFClassifier,
    "mixed": SMFMixed,
}
#: The outcomes of `SMFMixed`, in the order of the columns of y.
MIXED = {"class": "classes", "number": "number", ("time", "event"): "times"}
STORES = ("dense", "dense", "dense", "dense", "csr", "csc", "rows", "mapped")


@dataclass(frozen=True)
class Problem:
    """Data and parameters of one fit.

    Attributes
    ----------
    outcome : one of `outcomes.KINDS`
    X : (n, p), float64 or float32
    y : (n,), or (n, κ) numbers, or (n, 2) events and times, with strata (n, 3), complete; or, NaN for a gap,
        (n, κ) flags, or class numbers, numbers, events and times (n, 4)
    absent : (n,) bool, whose y is not shown to the fit
    covariates : (n, q) or None
    sample_weight : (n,) or None
    parameters : of the estimator
    store : how X is handed over, one of STORES
    words : a description
    scale : how columns and rows differ in size, one of `tables.SCALES`
    exposures : (n,) or None, what counts are out of; the fit has them as the last column of X
    """

    outcome: str
    X: Array
    y: Array
    absent: Array
    covariates: Array
    sample_weight: Array
    parameters: Mapping[str, Any]
    store: str
    words: str
    scale: str = "none"
    exposures: Array = None

    @property
    def model(self) -> str:
        """The filter or the feature model."""
        return str(self.parameters["model"])

    @property
    def weight(self) -> Array:
        """w (n,), ones where there are none."""
        return np.ones(len(self.X)) if self.sample_weight is None else self.sample_weight

    def estimator(self, **changed: Any) -> Any:
        """Not fitted."""
        last = {} if self.exposures is None else {"exposure_column": self.X.shape[1]}
        return ESTIMATORS[self.outcome](**{**self.parameters, **last, **changed})

    @property
    def has_intercept(self) -> bool:
        """Whether an intercept is the last covariate."""
        return bool(self.parameters.get("fit_intercept", self.outcome not in outcomes.TIMES))

    def data(self) -> dict[str, Any]:
        """What ``fit`` takes."""
        X = self.X
        if self.exposures is not None:
            X = np.column_stack([X, self.exposures]).astype(X.dtype)
        given = {"X": stored(X, self.store), "y": self.shown_y()}
        if self.covariates is not None:
            given["covariates"] = self.covariates
        if self.sample_weight is not None:
            given["sample_weight"] = self.sample_weight
        return given

    def shown_y(self) -> Array:
        """y with None or NaN where it is absent; of mixed outcomes a column each."""
        if self.outcome == "mixed":
            columns = np.where(self.absent[:, None], np.nan, self.y).T
            return dict(zip(("class", "number", "event", "time"), columns, strict=True))
        if not self.absent.any():
            return self.y
        if self.outcome in ("two classes", "classes"):
            return np.where(self.absent, None, self.y.astype(object))
        y = self.y.astype(float)
        y[self.absent] = np.nan
        if self.outcome in outcomes.TIMES:
            y[self.absent, 0] = 0.0
            y[:, 2:] = self.y[:, 2:]
        return y

    def naive(self, fitted: Any) -> Given:
        """The same for the naive code, with the ξ, λ and ρ that the fit says it had."""
        kept = np.flatnonzero(self.weight > 0)
        weight, y = self.weight[kept], self.y[kept]
        omega = np.where(self.absent[kept], 0.0, weight)
        loss: Any
        if self.outcome == "numbers":
            loss = Numbers(y.reshape(len(y), -1).astype(float), omega)
        elif self.outcome == "counts":
            y = y.reshape(len(y), -1).astype(float)
            # Of a rate, weighed by the exposure.
            out_of = np.ones(len(y)) if self.exposures is None else self.exposures[kept].astype(float)
            loss = Counts(y / out_of[:, None], omega * out_of)
        elif self.outcome in outcomes.TIMES:
            stratum = y[:, 2] if y.shape[1] > 2 else None
            loss = Times(y[:, 0], y[:, 1], omega, stratum, self.parameters.get("ties") == "efron")
        elif self.outcome == "flags":
            omega = np.where(np.isnan(y).all(axis=1), 0.0, omega)
            loss = Flags(np.nan_to_num(y), ~np.isnan(y), omega)
        elif self.outcome == "mixed":
            loss = _several(y, omega, self.parameters.get("outcome_weight") or {})
        else:
            codes = np.searchsorted(np.unique(y[omega > 0]), y)
            if self.parameters.get("class_weight") == "balanced":
                total = np.bincount(codes, weights=omega)
                omega = omega * (total.sum() / (len(total) * total))[codes]
            loss = Labels(codes, omega)
        Z = np.zeros((len(kept), 0)) if self.covariates is None else self.covariates[kept]
        if self.X.dtype == np.float32:  # covariates are taken in the type of X
            Z = Z.astype(np.float32).astype(float)
        ridge = np.asarray(fitted.lam_covariates_, dtype=float)
        if self.has_intercept:
            Z, ridge = np.hstack([Z, np.ones((len(kept), 1))]), np.append(ridge, 0.0)
        X = self.X[kept].astype(np.longdouble)
        rank = self.parameters["n_components"]
        return Given(self.model, X, weight, loss, Z, ridge, fitted.xi_, fitted.lam_, rank)

    def factors(self, fitted: Any) -> Factors:
        """Those that the fit returned."""
        beta, gamma = fitted.factor_coef_, fitted.covariate_coef_
        if self.has_intercept:
            gamma = np.hstack([gamma, fitted.intercept_[:, None]])
        if self.outcome == "classes":  # the row of the base class is zeros
            beta, gamma = beta[1:], gamma[1:]
        kept = self.weight > 0
        parts = (fitted.components_.T, fitted.codes_[kept], beta.T, gamma.T)
        return Factors(*(np.asarray(part, dtype=np.float64) for part in parts))


def _several(y: Array, omega: Array, asked: Mapping[Any, float]) -> Several:
    """The losses of a class, a number and a time (n, 4).

    Times count as they are, the others so that each sample costs log 2 without a model.
    """
    known = ~np.isnan(y)
    own = np.where(known, omega[:, None], 0.0)
    y = np.nan_to_num(y)
    codes = np.searchsorted(np.unique(y[own[:, 0] > 0, 0]), y[:, 0])
    mean = np.average(y[:, 1], weights=own[:, 1])
    size = np.sqrt(np.average((y[:, 1] - mean) ** 2, weights=own[:, 1]))
    parts = (
        Labels(codes, own[:, 0]),
        Numbers((y[:, 1:2] - mean) / size, own[:, 1]),
        Times(y[:, 2], y[:, 3], own[:, 3]),
    )
    weights = []
    for key, part in zip(MIXED, parts, strict=True):
        without = float(part(np.zeros((len(y), part.n_outputs)))[0])
        unit = 1.0 if isinstance(part, Times) else np.log(2) * part.omega.sum() / without
        weights.append(asked.get(key, 1.0) * unit)
    return Several(parts, tuple(weights))


def stored(X: Array, store: str) -> Any:
    """X in one of the forms that ``fit`` takes."""
    if store in ("csr", "csc"):
        return (sp.csr_array if store == "csr" else sp.csc_array)(X)
    if store == "rows":
        return row_blocks(X)
    if store == "mapped":
        with tempfile.TemporaryFile() as file:  # which lives as long as it is mapped
            mapped = np.memmap(file, dtype=X.dtype, mode="w+", shape=X.shape)
        mapped[:] = X
        return mapped
    return X


def kind(seed: int, index: int) -> str:
    """What the outcome of problem number `index` of this seed is."""
    return str(np.random.default_rng([seed, index]).choice(outcomes.KINDS))


def problem(seed: int, index: int) -> Problem:
    """Problem number `index` of this seed, whatever was drawn before it."""
    rng = np.random.default_rng([seed, index])
    outcome, model = str(rng.choice(outcomes.KINDS)), str(rng.choice(["filter", "feature"]))
    n, p = tables.shape(rng)
    plain, entries = tables.entries(rng, n, p)
    plain, defect = tables.spoiled(rng, plain)
    X, scale, usual = tables.scaled(rng, plain)
    y = _outcome(rng, outcome, plain)
    absent = outcomes.who_has_none(rng, outcome, y)
    covariates = weight = None
    if rng.random() < 0.3:
        covariates = 10 ** rng.uniform(-2, 2) * rng.standard_normal((n, int(rng.integers(1, 3))))
    if rng.random() < 0.35:
        weight = _weights(rng, outcome, y, absent)
    kept = n if weight is None else int((weight > 0).sum())
    single = rng.random() < 0.15
    store = str(rng.choice(STORES))
    # Ascent takes seconds where it proves nothing.
    certify = "ascent" if rng.random() < (0.2 if n <= 12 else 0.02) else "residual"
    if store in ("rows", "mapped") and (outcome in (*outcomes.TIMES, "mixed") or certify == "ascent"):
        store = "dense"  # rows in passes are refused
    parameters: dict[str, Any] = {
        "n_components": int(rng.integers(1, min(4, kept, p) + 1)),
        "model": model,
        **_penalties(rng, model, X, usual),
        "certify": certify,
    }
    if outcome.endswith("Efron"):
        parameters["ties"] = "efron"
    if outcome == "mixed":
        parameters["outcomes"] = MIXED
        if rng.random() < 0.3:
            parameters["outcome_weight"] = {key: float(10 ** rng.uniform(-1, 1)) for key in MIXED}
    elif outcome not in outcomes.TIMES and rng.random() < 0.25:
        parameters["fit_intercept"] = False
    if covariates is not None and rng.random() < 0.3:
        parameters["lam_covariates"] = float(10 ** rng.uniform(-3, 2))
    if outcome == "counts":
        parameters["loss"] = "poisson"
    if outcome in ("two classes", "classes") and rng.random() < 0.15:
        parameters["class_weight"] = "balanced"
    dtype = np.float32 if single else np.float64
    exposures = None
    if outcome == "counts" and rng.random() < 0.5:
        exposures = (10 ** rng.uniform(-1, 2) * rng.uniform(0.3, 3, n)).astype(dtype)
    marks = {"float32": single, "weights": weight is not None, "exposures": exposures is not None}
    words = f"{outcome}, {model}, {n} × {p}, entries: {entries}, defect: {defect}, scale: {scale}, {store}"
    return Problem(
        outcome,
        X.astype(dtype),
        y,
        absent,
        covariates,
        weight,
        parameters,
        store,
        words + "".join(f", {what}" for what, there in marks.items() if there),
        scale,
        exposures,
    )


def _outcome(rng: np.random.Generator, kind: str, X: Array) -> Array:
    if kind == "numbers":
        return outcomes.numbers(rng, X)
    if kind == "counts":
        return outcomes.counts(rng, X)
    if kind in outcomes.TIMES:
        return (outcomes.times_in_strata if "strata" in kind else outcomes.times)(rng, X)
    if kind == "mixed":
        return outcomes.mixed(rng, X)
    if kind == "flags":
        return outcomes.flags(rng, X)
    count = 2 if kind == "two classes" else int(rng.integers(3, min(6, len(X) // 2 + 1)))
    return outcomes.labels(rng, X, count)


def _weights(rng: np.random.Generator, kind: str, y: Array, absent: Array) -> Array:
    """w (n,): whole numbers from 0, or anything positive; somebody of each class counts."""
    n = len(y)
    whole = rng.random() < 0.7
    weight = rng.integers(0, 4, n).astype(float) if whole else 10 ** rng.uniform(-2, 2, n)
    known = np.flatnonzero(~absent)
    if kind in ("two classes", "classes"):
        needed = known[np.unique(y[known], return_index=True)[1]]
    elif kind in outcomes.TIMES:
        needed = known[np.argsort(y[known, 1])[[0, 1, -1]]]
    elif kind == "mixed":
        needed = known[outcomes.needed_of_mixed(y[known])]
    else:
        needed = known[:2]
    weight[needed] = np.maximum(weight[needed], 1.0)
    return weight


def _penalties(rng: np.random.Generator, model: str, X: Array, usual: float) -> dict[str, Any]:
    """ξ and λ: "auto", or over many orders in the units of all of X, or of a usual entry of it."""
    n, p = X.shape
    units = (float(np.linalg.norm(X) ** 2), n * p * usual**2)
    # Most is hidden where what is large is to be reconstructed and what is usual to be regressed on.
    of_xi, of_lam = units if rng.random() < 0.5 else (units[k] for k in rng.integers(2, size=2))
    xi: float | str = float(10 ** rng.uniform(-5, 3) * n / of_xi)
    lam: float | str = float(10 ** rng.uniform(-6, 2))
    if model == "filter":
        lam = float(lam * of_lam / min(n, p))
    if rng.random() < 0.3:
        xi = "auto"
    if rng.random() < 0.3:
        lam = "auto"
    return {"xi": xi, "lam": lam}


def changed(problem: Problem, words: str, **parts: Any) -> Problem:
    """The problem with other parts, and how it came about."""
    return replace(problem, words=f"{problem.words}; {words}", **parts)
