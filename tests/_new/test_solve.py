"""The new core against Algorithm 1 as printed, scikit-learn, and itself in other containers."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, Ridge
from tests import naive
from tests.libraries import LIBRARIES

from superfactor._new.answer import Start, solve, solve_path
from superfactor._new.problem import state
from superfactor._new.rows import Source
from superfactor.losses import CoxPartialLikelihood, FlagsLoss, PoissonLoss, SquaredError, resolve_link
from superfactor.spectrum.rows import as_rows

MODELS = ("filter", "feature")


def planted(n, p, classes=3, seed=0):
    """X (n, p) with directions that tell classes apart, y (n,), covariates (n, 2) and weights (n,)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.3
    y = (X[:, :classes] + rng.standard_normal((n, classes))).argmax(axis=1)
    return X, y, rng.standard_normal((n, 2)), rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(30, 6), (12, 40)])
def test_not_above_algorithm_1_from_its_own_answer(model, shape):
    X, y, Z, w = planted(*shape)
    weights = {"xi": 0.5, "lam": 2.0}
    P = naive.state(model, X, np.eye(3)[y][:, 1:], covariates=Z, sample_weight=w, **weights)
    problem = state(model, X, y, resolve_link("logistic", 2), covariates=Z, sample_weight=w, **weights)
    _, reference = naive.optimum(P, 2)
    answer = solve(problem, 2)
    assert answer.objective <= reference * (1 + 1e-9)
    bound = answer.bound()
    assert bound.lower <= reference
    assert not bound.proven or answer.objective == pytest.approx(reference, rel=1e-7)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(60, 200), (80, 30), (90, 130)])
def test_objective_is_that_of_the_factors(model, shape):
    X, y, Z, w = planted(*shape)
    X = 1e4 * X
    loss = resolve_link("logistic", 2)
    problem = state(
        model, X, y, loss, xi="auto", lam="auto", lam_covariates="auto", covariates=Z, sample_weight=w
    )
    answer = solve(problem, 3)
    f, (xi, lam) = answer.factors, problem.users_weights
    A = (f.components if model == "filter" else f.codes) @ f.beta
    a = (X @ A if model == "filter" else A) + Z @ f.gamma[:2] + f.gamma[2]
    of_A = (A**2).sum() if model == "filter" else (w[:, None] * A**2).sum()
    F = w @ loss.value(a, np.eye(3)[y][:, 1:]) + xi * (w @ ((X - f.codes @ f.components.T) ** 2).sum(axis=1))
    F += lam * of_A + (problem.rows.rho @ f.gamma**2).sum()
    assert answer.objective == pytest.approx(F, rel=1e-12)
    np.testing.assert_allclose(answer.activations, a - Z @ f.gamma[:2] - f.gamma[2], atol=1e-9)


def test_full_rank_is_logistic_regression():
    """At a tiny ξ and the rank of the outputs, the filter model is ridge logistic regression."""
    X, y, _, _ = planted(80, 5, classes=2)
    found = solve(state("filter", X, y, resolve_link("logistic", 1), xi=1e-9, lam=0.5), 1).factors
    peer = LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(found.components @ found.beta, peer.coef_.T, rtol=1e-6, atol=1e-6)
    assert found.gamma[0, 0] == pytest.approx(peer.intercept_[0], rel=1e-6)


def test_full_rank_is_ridge_regression():
    X, _, _, _ = planted(80, 5)
    Y = X[:, :2] @ np.array([[1.0, 2.0], [0.5, -1.0]]) + 3
    found = solve(state("filter", X, Y, SquaredError(), xi=1e-9, lam=0.7), 2).factors
    peer = Ridge(alpha=0.7).fit(X, Y)
    np.testing.assert_allclose(found.components @ found.beta, peer.coef_.T, rtol=1e-6, atol=1e-6)


LOSSES = {
    "classes": lambda rng, n: (resolve_link("logistic", 2), rng.integers(0, 3, n)),
    "probit": lambda rng, n: (resolve_link("probit", 1), rng.integers(0, 2, n)),
    "numbers": lambda rng, n: (SquaredError(), rng.standard_normal((n, 2)) + 4),
    "counts": lambda rng, n: (PoissonLoss(), rng.poisson(2.0, (n, 1)).astype(float)),
    "flags": lambda rng, n: (FlagsLoss(), rng.integers(0, 2, (n, 3)).astype(float)),
    "times": lambda rng, n: (
        CoxPartialLikelihood(rng.integers(1, 20, n).astype(float), np.ones(n), ties="efron"),
        np.ones((n, 1)),
    ),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", LOSSES)
def test_gradient_is_zero_and_bound_holds(kind, model):
    """No step along the factors lowers F, and other starts never get below the bound."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 12))
    loss, y = LOSSES[kind](rng, 40)
    problem = state(model, X, y, loss, xi="auto", lam="auto", fit_intercept=kind != "times")
    answer = solve(problem, 2)
    inside, at = answer.found.inside, answer.found.at
    for _ in range(20):
        W = np.linalg.qr(at.W + 1e-4 * rng.standard_normal(at.W.shape))[0]
        near = inside.at(W, at.beta + 1e-4 * rng.standard_normal(at.beta.shape), at.gamma)
        assert float(near.F) >= answer.objective * (1 - 1e-9)
    lower = answer.bound(ascent=20).lower
    for seed in range(5):
        start = Start(
            rng.standard_normal((12 if model == "filter" else 40, 2)),
            np.zeros((2, at.beta.shape[1])),
            at.gamma,
        )
        other = solve(problem, 2, start=start, search="off", random_state=seed)
        assert other.objective >= lower
        assert not answer.bound().proven or other.objective >= answer.objective * (1 - 1e-6)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(60, 200), (200, 40), (300, 200)])
def test_containers_agree(model, shape, tmp_path):
    X, y, Z, w = planted(*shape)
    X[np.abs(X) < 0.5] = 0
    loss = resolve_link("logistic", 2)
    file = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", float, X.shape)
    file[:] = X
    file.flush()
    containers = {
        "dense": X,
        "by columns": np.asfortranarray(X),
        "CSR": sp.csr_array(X),
        "blocks": Source(as_rows(file).settled(), 37),
    }
    found = {}
    for name, container in containers.items():
        problem = state(model, container, y, loss, xi="auto", lam="auto", covariates=Z, sample_weight=w)
        found[name] = solve(problem, 3).objective
    for objective in found.values():
        assert objective == pytest.approx(found["dense"], rel=1e-8)


@pytest.mark.parametrize("asarray", LIBRARIES)
@pytest.mark.parametrize("model", MODELS)
def test_libraries_agree(asarray, model):
    X, y, Z, w = planted(200, 40)
    loss, options = (
        resolve_link("logistic", 2),
        {"xi": "auto", "lam": "auto", "covariates": Z, "sample_weight": w},
    )
    there = solve(state(model, asarray(X), y, loss, **options), 3)
    here = solve(state(model, X, y, loss, **options), 3)
    assert there.objective == pytest.approx(here.objective, rel=1e-9)
    assert type(there.factors.components) is type(asarray(X))


@pytest.mark.parametrize("asarray", LIBRARIES)
@pytest.mark.parametrize("model", MODELS)
def test_a_start_of_a_wide_x_in_any_library(asarray, model):
    """Rows of a wide X are compressed into NumPy: the start follows them there."""
    X, y, Z, w = planted(30, 120)
    options = {"xi": "auto", "lam": "auto", "covariates": Z, "sample_weight": w}
    problem = state(model, asarray(X), y, resolve_link("logistic", 2), **options)
    answer = solve(problem, 2)
    start = answer.start(model)
    assert type(start.L) is type(asarray(X))
    start = Start(start.L, asarray(start.beta), asarray(start.gamma))
    again = solve(problem, 2, start=start, search="off")
    assert again.objective == pytest.approx(answer.objective, rel=1e-10)
    assert len(again.history) <= 2
    assert type(again.factors.codes) is type(asarray(X))


@pytest.mark.parametrize("model", MODELS)
def test_single_precision(model):
    X, y, _, _ = planted(300, 100)
    loss = resolve_link("logistic", 2)
    double = solve(state(model, X, y, loss, xi="auto", lam="auto"), 2)
    # From the same start: rounding may decide between two optima of the feature model.
    problem = state(model, X.astype(np.float32), y, loss, xi="auto", lam="auto")
    single = solve(problem, 2, start=double.start(model), search="off")
    assert single.objective == pytest.approx(double.objective, rel=1e-4)
    assert single.factors.components.dtype == np.float32
    assert single.bound().lower <= double.objective


@pytest.mark.parametrize("model", MODELS)
def test_weights_are_copies(model):
    X, y, Z, _ = planted(40, 15)
    w = np.random.default_rng(2).integers(0, 3, 40).astype(float)
    loss, options = resolve_link("logistic", 2), {"xi": 0.3, "lam": 1.0}
    weighted = solve(state(model, X, y, loss, covariates=Z, sample_weight=w, **options), 2)
    again = np.repeat(np.arange(40), w.astype(int))
    copied = solve(state(model, X[again], y[again], loss, covariates=Z[again], **options), 2)
    assert weighted.objective == pytest.approx(copied.objective, rel=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_many_samples_start_from_some(model):
    X, y, _, _ = planted(40_000, 30)
    problem = state(model, X, y, resolve_link("logistic", 2), xi="auto", lam="auto")
    many = solve(problem, 2)
    whole = solve(problem, 2, start=many.start(model), search="off")
    assert many.objective == pytest.approx(whole.objective, rel=1e-7)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shape", [(60, 200), (300, 200)])
def test_a_start_is_where_it_goes_on(model, shape, tmp_path):
    X, y, Z, _ = planted(*shape)
    problem = state(model, X, y, resolve_link("logistic", 2), xi="auto", lam="auto", covariates=Z)
    answer = solve(problem, 3)
    again = solve(problem, 3, start=answer.start(model), search="off")
    assert again.objective <= answer.objective * (1 + 1e-10)
    assert len(again.history) <= 2
    file = tmp_path / "fit.npz"
    solve(problem, 3, checkpoint=file, max_iter=2)
    resumed = solve(problem, 3, checkpoint=file)
    assert resumed.objective <= solve(problem, 3, max_iter=2).objective
    if answer.bound().proven:
        assert resumed.objective == pytest.approx(answer.objective, rel=1e-8)


def test_a_checkpoint_of_another_problem_is_refused(tmp_path):
    X, y, _, _ = planted(60, 20)
    loss, file = resolve_link("logistic", 2), tmp_path / "fit.npz"
    solve(state("filter", X, y, loss, xi=1.0, lam=1.0), 2, checkpoint=file)
    with pytest.raises(ValueError, match="of another problem: 20 × 2"):
        solve(state("filter", X[:, :9], y, loss, xi=1.0, lam=1.0), 2, checkpoint=file)
    file.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="no checkpoint"):
        solve(state("filter", X, y, loss, xi=1.0, lam=1.0), 2, checkpoint=file)


@pytest.mark.parametrize("model", MODELS)
def test_a_path_ends_where_a_fit_ends(model):
    X, y, _, _ = planted(60, 100)
    problem = state(model, X, y, resolve_link("logistic", 2), xi="auto", lam="auto")
    xi, lam = problem.users_weights
    *_, last = solve_path(problem, 2, [(xi, 9 * lam), (xi, 3 * lam), (xi, lam)])
    assert last.objective <= solve(problem, 2).objective * (1 + 1e-7)


def test_a_callback_stops():
    X, y, _, _ = planted(300, 200)
    problem = state("feature", X, y, resolve_link("logistic", 2), xi="auto", lam="auto")
    answer = solve(problem, 3, callback=lambda i, F: i >= 3)
    assert answer.stopped_early
    assert len(answer.history) == 3


@pytest.mark.parametrize("model", MODELS)
def test_extreme_units(model):
    X, y, _, _ = planted(40, 90)
    loss = resolve_link("logistic", 2)
    usual = solve(state(model, X, y, loss, xi="auto", lam="auto"), 2)
    for unit in (1e-60, 1e60):
        answer = solve(state(model, unit * X, y, loss, xi="auto", lam="auto"), 2)
        assert answer.objective == pytest.approx(usual.objective, rel=1e-9)
    with pytest.raises(ValueError, match="Rescale X"):
        state(model, 1e200 * X, y, loss, xi="auto", lam="auto")


@pytest.mark.parametrize("model", MODELS)
def test_rank_above_that_of_x(model):
    rng = np.random.default_rng(0)
    X = np.outer(rng.standard_normal(20), rng.standard_normal(7))
    y = (X[:, 0] > 0).astype(int)
    answer = solve(state(model, X, y, resolve_link("logistic", 1), xi=1.0, lam=0.5), 4)
    assert answer.factors.components.shape == (7, 4)
    assert np.isfinite(answer.objective)
    zero = solve(state(model, 0 * X, y, resolve_link("logistic", 1), xi=1.0, lam=0.5), 2)
    assert np.isfinite(zero.objective)


def test_scores_of_samples_may_leave_the_range_of_x():
    """X of rank 2 in 60 columns and in its own two coordinates is one problem; a third factor lowers F."""
    rng = np.random.default_rng(3)
    codes, loss = rng.standard_normal((15, 2)), resolve_link("logistic", 2)
    wide = codes @ np.linalg.qr(rng.standard_normal((60, 2)))[0].T
    y, w = rng.integers(0, 3, 15), rng.uniform(0.5, 2, 15)

    def solved(X, rank):
        return solve(state("feature", X, y, loss, xi=0.3, lam=0.1, sample_weight=w), rank)

    few, three, own = solved(wide, 2), solved(wide, 3), solved(codes, 3)
    assert three.objective < few.objective - 0.1
    assert three.objective == pytest.approx(own.objective, rel=1e-8)
    assert solved(wide, 4).bound().lower <= solved(codes, 4).objective
