"""Every solver on other array libraries and floating types."""

import numpy as np
import pytest
from tests.solvers.examples import activations

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solvers import bcd, lpgd, newton

RUNS = {
    "newton": lambda problem: newton.solve(problem, 2),
    "lpgd": lambda problem: lpgd.solve(problem, 2, step_size=0.01, max_iter=20, tol=0, start="random"),
    "lpgd, dense": lambda problem: lpgd.solve(problem, 2, step_size=0.01, max_iter=20, tol=0, compress=False),
    "bcd": lambda problem: bcd.solve(problem, 2, max_iter=4, tol=0),
    "bcd, signed": lambda problem: bcd.solve(problem, 2, max_iter=4, tol=0, nonnegative=True),
}
CASES = [("filter", (20, 9)), ("feature", (9, 20))]


def problem(model, shape, convert, dtype=np.float64):
    rng = np.random.default_rng(0)
    n, _ = shape
    X = rng.standard_normal(shape).astype(dtype)
    Y = np.eye(3)[np.arange(n) % 3][:, 1:].astype(dtype)
    weight = rng.uniform(0.5, 2, n).astype(dtype)
    return state(
        model,
        convert(X),
        convert(Y),
        resolve_link("logistic", 2),
        xi=0.7,
        lam=0.3,
        covariates=convert(rng.standard_normal((n, 1)).astype(dtype)),
        sample_weight=convert(weight),
    )


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
@pytest.mark.parametrize(
    ("run", "model", "shape"),
    # Beyond 96 coordinates the compressed form uses another method; beyond 64 subspaces grow.
    [(run, *case) for run in RUNS for case in CASES]
    + [("lpgd", "filter", (120, 110)), ("newton", "feature", (80, 75))],
)
def test_same_results_as_numpy(library, model, shape, run):
    xp = pytest.importorskip(library)
    here, there = (problem(model, shape, convert) for convert in (np.asarray, xp.asarray))
    ours, theirs = RUNS[run](here), RUNS[run](there)
    assert type(theirs.factors.codes) is type(xp.asarray(np.ones(1)))
    if run == "newton":  # its starts need not all converge at the same step
        assert theirs.reason == ours.reason
    else:
        np.testing.assert_allclose(theirs.history.objective, ours.history.objective, rtol=1e-7)
    np.testing.assert_allclose(theirs.objective, ours.objective, rtol=1e-7)
    np.testing.assert_allclose(activations(there, theirs), activations(here, ours), atol=1e-4)


@pytest.mark.parametrize(("model", "shape"), CASES)
@pytest.mark.parametrize("run", RUNS)
def test_single_precision(model, shape, run):
    ours = RUNS[run](problem(model, shape, np.asarray))
    single = RUNS[run](problem(model, shape, np.asarray, np.float32))
    f = single.factors
    for part in (f.components, f.codes, f.beta, f.gamma):
        assert part.dtype == np.float32
    np.testing.assert_allclose(single.objective, ours.objective, rtol=1e-4)
