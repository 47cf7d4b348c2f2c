"""The certificate: never above any point, and tight where it is reported as tight."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive
from tests.problems import MODELS, example, lifted
from tests.solvers.examples import in_blocks
from tests.solvers.restarts import Factored, best_of
from tests.theory.answers import answer, naive_answer

from superfactor.losses import CustomLink, resolve_link
from superfactor.problem import state
from superfactor.solution import OtherStarts
from superfactor.solvers import newton
from superfactor.theory import certify

every_model = pytest.mark.parametrize("model", MODELS)


@st.composite
def problems(draw):
    """(problem, reference, rank, seed): every model, loss, weighting, size and ridge."""
    loss = draw(st.sampled_from(["logistic", "logistic", "probit", "squared"]))
    kappa = 1 if loss == "probit" else draw(st.integers(1, 3))
    n, p = draw(st.integers(4, 12)), draw(st.integers(2, 9))
    options = {
        "xi": 10 ** draw(st.floats(-2, 1)),
        "lam": draw(st.one_of(st.just(0.0), st.floats(-5, 1).map(lambda x: 10**x))),
        "fit_intercept": draw(st.booleans()),
    }
    if draw(st.booleans()):
        options["covariates"] = None
    seed = draw(st.integers(0, 10**6))
    model, weighted = draw(st.sampled_from(MODELS)), draw(st.booleans())
    rank = draw(st.integers(1, min(n, p)))
    problem, P = example(model, n, p, kappa, seed, loss=loss, weighted=weighted, **options)
    return problem, P, rank, seed


def random_point(P, rank, rng, size):
    """Random A, B, γ of rank at most `rank`, with the best B for its subspace."""
    F = Factored(P, rank)
    W = np.linalg.qr(rng.standard_normal((F.side, rank)))[0]
    beta = size * rng.standard_normal((rank, P.kappa))
    gamma = size * rng.standard_normal((P.aux.shape[0], P.kappa))
    root = np.sqrt(P.weight)
    if P.model == "filter":
        return W @ beta, W @ (W.T @ (P.X * root)) / root, gamma
    return (W @ beta / root[:, None]).T, (W @ (W.T @ (P.X * root).T)).T / root, gamma


@settings(max_examples=40)
@given(problems())
def test_lower_bound_is_below_everything(case):
    """From any point, fitted or not: the bound holds for every other point and every restart."""
    problem, P, rank, seed = case
    rng = np.random.default_rng(seed)
    bounds = []
    for size in (0.1, 1.0):
        A, B, gamma = random_point(P, rank, rng, size)
        proof = certify(problem, rank, naive_answer(problem, P, rank, A, B, gamma))
        assert proof.gap >= 0
        bounds.append(proof.lower_bound)
    F = Factored(P, rank)
    values = [
        naive.lifted_objective(P, *random_point(P, rank, rng, 10 ** rng.uniform(-2, 1))) for _ in range(5)
    ]
    best = min(*values, best_of(P, rank, 2, seed, max_iter=60))
    assert max(bounds) <= best + 1e-9 * abs(best)
    assert min(bounds) >= F.floor - 1e-9 * (abs(best) + P.xi * np.sum(P.X**2))


@settings(max_examples=12)
@given(problems())
def test_bound_at_a_fit_and_what_global_means(case):
    problem, P, rank, seed = case
    found = newton.solve(problem, rank, search="off", max_iter=60)
    proof = certify(problem, rank, found)
    point = lifted(P.model, found.factors)
    value = naive.lifted_objective(P, *point)
    best = best_of(P, rank, 5, seed, max_iter=80)
    assert proof.objective == found.objective
    assert proof.lower_bound <= min(best, value) + 1e-9 * abs(best)
    assert proof.gap == pytest.approx(max(found.objective - proof.lower_bound, 0), abs=1e-300)
    floor = Factored(P, rank).floor
    if proof.relative_gap > 1e-4 and found.objective - floor > 1e-3 * abs(found.objective):
        expected = proof.gap / (found.objective - floor)
        assert proof.relative_gap == pytest.approx(expected, rel=1e-6)
    assert proof.is_global == (proof.relative_gap <= 1e-6)
    if proof.is_global:
        assert best >= found.objective - 1.1e-6 * max(found.objective - floor, 0) - 1e-12 * abs(best)
        assert "global optimum" in proof.statement


@every_model
@pytest.mark.parametrize(("loss", "n", "p"), [("logistic", 8, 8), ("probit", 10, 5), ("squared", 5, 10)])
def test_a_strong_ridge_is_proven_global(model, loss, n, p):
    problem, P = example(model, n, p, 1, loss=loss, lam=50.0, weighted=True)
    found = newton.solve(problem, 2, tol=1e-12)
    proof = certify(problem, 2, found)
    assert proof.is_global
    assert proof.exact
    # The same from the naive optimum of Algorithm 1, an independent implementation.
    (A, B, gamma), _ = naive.optimum(P, 2, n_iter=2000)
    other = certify(problem, 2, naive_answer(problem, P, 2, A, B, gamma))
    np.testing.assert_allclose(other.lower_bound, proof.lower_bound, rtol=1e-7)


# --- what cannot be proven -----------------------------------------------------------------------------


@every_model
def test_without_a_ridge_reconstruction_alone_is_bounded(model):
    problem, P = example(model, 12, 6, 1, lam=0.0, covariates=None)
    found = newton.solve(problem, 2, max_iter=20)
    for method in ("residual", "ascent"):
        proof = certify(problem, 2, found, method=method)
        assert proof.lower_bound == pytest.approx(Factored(P, 2).floor, rel=1e-10)
        assert proof.relative_gap == pytest.approx(1.0)
        assert not proof.is_global
        assert "lam" in proof.statement


@every_model
def test_a_link_that_is_not_convex_proves_nothing(model):
    """Softplus, h(a) = log(1 + eᵃ)/log 2: curvature −.060 somewhere (errata)."""

    def log_h(a):
        return np.log(np.logaddexp(0, a) / np.log(2))

    def slope(a):
        return 1 / (1 + np.exp(-a)) / np.logaddexp(0, a)

    def bend(a):
        s, l = 1 / (1 + np.exp(-a)), np.logaddexp(0, a)
        return s * (1 - s) / l - (s / l) ** 2

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 5)), (np.arange(12) % 2)[:, None].astype(float)
    link = CustomLink(log_h, slope, bend, convex=False)
    problem = state(model, X, y, resolve_link(link, 1), xi=0.5, lam=5.0)
    found = newton.solve(problem, 2)
    for method in ("residual", "ascent"):
        proof = certify(problem, 2, found, method=method)
        assert not proof.is_global
        assert proof.statement.startswith("Nothing is proven")
        assert proof.lower_bound <= found.objective


# --- ascent ------------------------------------------------------------------------------------------


@settings(max_examples=6)
@given(problems())
def test_ascent_is_a_bound_and_no_worse(case):
    problem, P, rank, seed = case
    found = newton.solve(problem, rank, search="off", max_iter=60)
    residual = certify(problem, rank, found)
    ascent = certify(problem, rank, found, method="ascent", max_iter=60)
    best = min(best_of(P, rank, 3, seed, max_iter=60), found.objective)
    assert ascent.lower_bound >= residual.lower_bound - 1e-12 * abs(best)
    assert ascent.lower_bound <= best + 1e-9 * abs(best)
    assert (residual.method, ascent.method) == ("residual", "ascent")


@pytest.mark.parametrize(("model", "shape"), [("filter", (7, 14)), ("feature", (9, 9))])
def test_ascent_from_a_rough_point_reaches_the_optimum(model, shape):
    """Where the relaxation is tight, ascent proves the optimum from a point that is not it."""
    problem, P = example(model, *shape, 2, xi=1.0, lam=8.0, weighted=True)
    best = newton.solve(problem, 2, tol=1e-12)
    assert certify(problem, 2, best).is_global
    q = P.aux.shape[0]
    a = 3 * np.random.default_rng(0).standard_normal((shape[0], 2))
    rough = answer(problem, 2, a, np.zeros((q, 2)), best.objective)
    residual, ascent = (certify(problem, 2, rough, method=method) for method in ("residual", "ascent"))
    assert residual.relative_gap > 1e-2
    assert ascent.is_global
    np.testing.assert_allclose(ascent.lower_bound, best.objective, rtol=1e-6)


# --- other points, other data ------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize(("name", "wide"), [("zero", False), ("rank 1", True), ("full rank", False)])
def test_degenerate_data(model, name, wide):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((9, 4))
    X = {"zero": 0 * X, "rank 1": np.outer(X[:, 0], X[0]), "full rank": X}[name]
    X, rank = (X.T if wide else X), 4 if name == "full rank" else 2
    y = (np.arange(len(X)) % 2)[:, None].astype(float)
    problem = state(model, X, y, resolve_link("logistic", 1), xi=0.5, lam=0.3)
    P = naive.state(model, X, y, 0.5, 0.3)
    found = newton.solve(problem, rank)
    best = best_of(P, rank, 4)
    for method in ("residual", "ascent"):
        proof = certify(problem, rank, found, method=method)
        assert np.isfinite(proof.lower_bound)
        assert proof.lower_bound <= best + 1e-9 * abs(best)


@pytest.mark.parametrize(("model", "n"), [("filter", 3000), ("feature", 60)])
def test_single_precision_proves_no_more_than_its_products_with_X(model, n):
    """Next to a large X, changes by labels are below the last digits: the bound must allow for these."""
    rng = np.random.default_rng(1)
    sizes = np.logspace(2, -1, 15)
    X = ((rng.standard_normal((n, 15)) * sizes) @ rng.standard_normal((15, 20))).astype(np.float32)
    y = (rng.random((n, 1)) < 1 / (1 + np.exp(-X[:, :1] / 30))).astype(np.float32)
    loss, options = resolve_link("logistic", 1), {"xi": 10.0, "lam": 1.0}
    double = newton.solve(state(model, X.astype(float), y, loss, **options), 15)
    problem = state(model, X, y, loss, **options)
    found = newton.solve(problem, 15)
    proven = certify(problem, 15, found)
    assert proven.lower_bound <= double.objective
    assert found.objective - proven.gap <= double.objective
    assert not proven.is_global


@every_model
def test_the_sentence_and_the_constants(model):
    problem, _ = example(model, 12, 6, 1, lam=0.05, xi=0.05)
    found = newton.solve(problem, 2)
    proof = certify(problem, 2, found)
    assert str(proof) == proof.statement
    assert proof.statement.endswith(".")
    assert (proof.mu, proof.L) == (proof.constants.mu, proof.constants.L)
    assert proof.condition_number == proof.constants.condition_number
    assert proof.rate == proof.constants.best_rate
    assert proof.step_window == proof.constants.step_window
    worse = certify(problem, 2, replace(found, objective=found.objective + 1.0))
    assert not worse.is_global
    assert worse.gap == pytest.approx(proof.gap + 1.0, rel=1e-6)
    assert f"{100 * worse.relative_gap:.3g} %" in worse.statement or worse.relative_gap >= 1
    assert "rank-2" in worse.statement or worse.relative_gap >= 1


@pytest.mark.parametrize(
    ("searched", "words"),
    [
        pytest.param(None, "", id="no search"),
        pytest.param(OtherStarts(), "", id="no other starts"),
        pytest.param(OtherStarts(5, 0), " 5 other starts ended no lower.", id="elsewhere"),
        pytest.param(OtherStarts(5, 3), " 5 other starts ended no lower, 3 at the same value.", id="there"),
    ],
)
def test_other_starts_are_reported_where_nothing_is_proven(searched, words):
    """They prove nothing, so a proof does not mention them."""
    unproven, _ = example("filter", 12, 6, 1, lam=0.05, xi=0.05)
    found = replace(newton.solve(unproven, 2, search="off"), searched=searched)
    worse = replace(found, objective=found.objective + 1.0)
    plain = certify(unproven, 2, replace(worse, searched=None))
    told = certify(unproven, 2, worse)
    assert not told.is_global
    assert told.statement == plain.statement + words
    proven, _ = example("filter", 12, 6, 1, lam=50.0)
    found = replace(newton.solve(proven, 2, tol=1e-12), searched=searched)
    proof = certify(proven, 2, found)
    assert proof.is_global
    assert "starts" not in proof.statement


@every_model
def test_samples_in_blocks_have_no_hint_at_the_ascent(model):
    problem, _ = example(model, 40, 8, 1, xi=5.0, lam=1e-4)
    sums = in_blocks(problem, 3)
    whole, asked = (certify(each, 2, newton.solve(each, 2)) for each in (problem, sums))
    # Shorter dual points work for arrays in memory, too.
    assert ("bound by ascent" in whole.statement) == (whole.relative_gap >= 1)
    assert asked.relative_gap >= 1 and "ascent" not in asked.statement
    assert asked.lower_bound <= whole.lower_bound * (1 + 1e-9)
    with pytest.raises(ValueError, match=r"certify='ascent': 'residual' or None is required"):
        certify(sums, 2, newton.solve(sums, 2), method="ascent")


@pytest.mark.parametrize("mean", [0.0, 1.0])
def test_the_constants_are_those_of_the_whole_design(mean):
    """Also where σ₁² of X alone serves them: if X is centred, the intercept does not change it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 90))
    X, y = X - X.mean(axis=0) + mean, np.arange(40) % 2
    problem = state("filter", X, y, resolve_link("logistic", 1), xi=1.0, lam=5.0)
    proof = certify(problem, 2, newton.solve(problem, 2))
    whole = np.hstack([X, np.ones((40, 1))])
    for found, design in ((proof.constants, whole), (proof.profiled, X)):
        high = 10.0 + np.linalg.norm(design, 2) ** 2 / 4
        assert pytest.approx(max(high, 2.0), rel=1e-5) == found.L
