"""Every method behind the same few names: fit a case, predict, and the objective's way down if there is one.

Each runs with its own defaults but for the rank and, where the problem has them, ξ and λ. The intercept of
superfactor is penalised here, as a covariate that is always one, since the release has no other: so all of
them minimise the same F. The release starts from its own random factors, LPGD with the step 1/L of ours,
and ends after the paper's 1,000 iterations. scikit-learn's PLS and LDA take dense arrays only, NMF none
with negative entries: making the array dense, or shifting it by its least entry, is part of their fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import NMF, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from benchmarks.cases import Case
from benchmarks.clock import Clock
from reproduction import fits
from reproduction.classifiers import PLSDA
from reproduction.convergence.released import Released, ReleasedBCD, ReleasedLPGD
from superfactor import SMFClassifier

MODELS = ("filter", "feature")
RELEASE_ITERATIONS = 1000


@dataclass(frozen=True)
class Fitted:
    """What is left of a fit: how to predict, and of superfactor whether it is proven optimal."""

    predict: Callable[[Any], Any]
    proven: bool | None = None


@dataclass(frozen=True)
class Method:
    """One way to factorize and classify.

    Attributes
    ----------
    model : "filter" or "feature" where the method minimises F, else None
    fit : the whole fit of a case; one that keeps (seconds, objective) on the clock stops when that says so
    trace : the same iterations on the clock, without an end of their own; None where `fit` has none
        either, or where there is no objective to compare
    iterating : callable(case) -> one that makes an iteration and returns its seconds, of a method whose
        whole fit of a large case is a matter of minutes; else None
    """

    name: str
    model: str | None
    fit: Callable[[Case, Clock], Fitted]
    trace: Callable[[Case, Clock], None] | None = None
    iterating: Callable[[Case], Callable[[], float]] | None = None


def stated(case: Case, model: str) -> fits.Problem:
    """The problem of a case, as the solvers take it."""
    kappa = int(case.y.max())
    targets = np.eye(kappa + 1)[case.y][:, 1:]
    weights = {"xi": case.xi, "lam": case.lam}
    return fits.state(model, case.X, targets, covariates=ones(case.X), **weights)


def safe_step(case: Case, model: str) -> float:
    """1/L, the largest step for which Algorithm 1 is bound to descend."""
    return 1 / fits.theorem_constants(stated(case, model)).L


class _Listening:
    """A callback of scikit-learn's that keeps every iteration on a clock and stops when that says so."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool:
        return context.task_name == "iteration" and self.clock.record(estimator.objective_)


def _ours(solver: str, model: str) -> Method:
    def fit(case: Case, clock: Clock) -> Fitted:
        found = SMFClassifier(
            case.rank,
            model=model,
            xi=case.xi,
            lam=case.lam,
            lam_covariates=None,
            solver=solver,
            fit_intercept=False,
        )
        if solver != "auto" and hasattr(found, "set_callbacks"):  # scikit-learn 1.9 and later
            found.set_callbacks(_Listening(clock))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found.fit(case.X, case.y, covariates=ones(case.X))
        proof = found.certificate_
        return Fitted(lambda X: found.predict(X, ones(X)), proof.is_global and proof.exact)

    def trace(case: Case, clock: Clock) -> None:
        endless = {} if solver == "auto" else {"tol": 0.0, "max_iter": 10**9}
        fits.solve(
            stated(case, model),
            case.rank,
            "default" if solver == "auto" else solver,
            callback=lambda _, objective: clock.record(objective),
            **endless,
        )

    return Method(f"superfactor {solver}", model, fit, trace)


def _release(solver: str, model: str) -> Method:
    def begin(case: Case) -> Released:
        problem = (as_dense(case.X), case.y, case.rank, model, case.xi, case.lam, ones(case.X))
        if solver == "LPGD":
            return ReleasedLPGD(*problem, step_size=safe_step(case, model))
        return ReleasedBCD(*problem)

    def fit(case: Case, clock: Clock) -> Fitted:
        run = begin(case)
        for _ in range(RELEASE_ITERATIONS):
            run.step()
            if clock.evaluate(run.objective):
                break
        found = run.factors()
        # New samples are projected on the atoms, as its "filter" and "naive" predictions do.
        W = found.components
        atoms = W if model == "filter" else np.linalg.pinv(W).T
        coefficients, intercept = atoms @ found.beta, found.gamma
        return Fitted(lambda X: (X @ coefficients + intercept > 0).astype(int).ravel())

    return Method(f"SupervisedMF {solver}", model, fit, iterating=lambda case: begin(case).step)


def _scikit(name: str, make: Callable[[Case], Any]) -> Method:
    def fit(case: Case, clock: Clock) -> Fitted:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Fitted(make(case).fit(case.X, case.y).predict)

    return Method(name, None, fit)


def ones(X: Any) -> Any:
    """The covariate (n, 1) that stands for the intercept."""
    return np.ones((X.shape[0], 1))


def as_dense(X: Any) -> Any:
    """X itself, or a dense copy of a sparse one."""
    return X.toarray() if hasattr(X, "toarray") else X


def made_dense() -> FunctionTransformer:
    """The step of a pipeline that does so."""
    return FunctionTransformer(as_dense, accept_sparse=True)


def _shifted(case: Case) -> FunctionTransformer:
    """X less its least entry; what is smaller still in new data becomes 0."""
    least = min(float(case.X.min()), 0.0)
    return FunctionTransformer(lambda X: X if least == 0 else np.maximum(X - least, 0), accept_sparse=True)


def svd_and_regression(rank: int) -> Any:
    """The plain pipeline everything is measured against."""
    return make_pipeline(TruncatedSVD(rank), LogisticRegression())


METHODS: tuple[Method, ...] = (
    *(_ours(solver, model) for solver in ("auto", "lpgd", "bcd") for model in MODELS),
    *(_release(solver, model) for solver in ("LPGD", "BCD") for model in MODELS),
    _scikit("TruncatedSVD + LR", lambda case: svd_and_regression(case.rank)),
    _scikit("PLS-DA", lambda case: make_pipeline(made_dense(), PLSDA(case.rank))),
    _scikit("LDA", lambda case: make_pipeline(made_dense(), LinearDiscriminantAnalysis())),
    _scikit("NMF + LR", lambda case: make_pipeline(_shifted(case), NMF(case.rank), LogisticRegression())),
)
