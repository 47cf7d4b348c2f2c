"""At least one test for each entry of docs/errata.md: the paper's statement and the correct one."""

import math
import re
import sys
import types
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from scipy.special import log_ndtr
from tests.theory.naive import Naive, distance, project, random_problem
from tests.theory.test_constants import stated

from superfactor.losses import resolve_link
from superfactor.theory import TheoremConstants, theorem_constants
from superfactor.theory.regions import admissible_pieces


def curvature(f, a, h=1e-3):
    """Second derivative of a function of one number, by central differences."""
    return (f(a + h) - 2 * f(a) + f(a - h)) / h**2


def test_the_page_names_tests_that_exist():
    root = Path(__file__).parents[2]
    page = root / "docs" / "errata.md"
    if not page.exists():
        pytest.skip("docs/errata.md is not part of this copy")
    named = re.findall(r"`(tests/\S+?)::(test_\w+)`", page.read_text(encoding="utf-8"))
    for file, test in named:
        assert f"def {test}(" in (root / file).read_text(encoding="utf-8"), test
    here = re.findall(r"^def (test_\d+\w+)", Path(__file__).read_text(encoding="utf-8"), re.M)
    assert set(here) <= {test for _, test in named}


# --- 1: L for SMF-H with covariates ------------------------------------------------------------


def spread_covariate():
    """n = 30, one covariate with Σx'² = 99, λ = 1/2."""
    rng = np.random.default_rng(0)
    C = rng.standard_normal((30, 1))
    C *= math.sqrt(99 / np.sum(C**2))
    Y = (rng.random((30, 1)) < 0.5).astype(float)
    return Naive("feature", rng.standard_normal((30, 4)), Y, 0.55, 0.5, C)


def test_1_covariates_raise_L_of_the_feature_model():
    naive = spread_covariate()
    paper = max(2 * naive.xi, 2 * naive.lam + 0.25)
    bound = theorem_constants(stated(naive)).L
    assert (paper, bound) == pytest.approx((1.25, 26.0))
    # At zero every sample has curvature 1/4 and the bound is attained.
    zero = np.zeros((31, 1))
    assert np.linalg.eigvalsh(naive.hessian(zero))[-1] == pytest.approx(26.0)
    elsewhere = np.linalg.eigvalsh(naive.hessian(zero + 0.7))[-1]
    assert 10 < elsewhere < bound


def test_1_the_papers_window_makes_algorithm_1_diverge():
    naive = spread_covariate()
    low, high = TheoremConstants(mu=1.0, L=1.25).step_window
    U = naive.minimise()
    best = (U[:30], naive.X, U[30:])
    # Full rank: nothing is projected, so only the step can be the reason.
    start = tuple(z + 0.1 for z in best)
    *_, last = naive.algorithm_1(start, 5, 0.5 * (low + high), 200)
    assert distance(last, best) > 10 * distance(start, best)


@pytest.mark.parametrize("kappa", [1, 2, 3, 5])
def test_1_the_corrected_L_holds_for_several_classes(kappa):
    rng = np.random.default_rng(kappa)
    alpha, exceeded = (0.25 if kappa == 1 else 0.5), 0
    for _ in range(40):
        n, q = rng.integers(3, 9), rng.integers(1, 4)
        naive = random_problem(rng, "feature", n, 2, q, kappa, 0.01, rng.uniform(0.01, 2))
        naive.C *= rng.choice([0.3, 1.0, 4.0])
        naive = Naive("feature", naive.X, naive.Y, naive.xi, naive.lam, naive.C)
        U = rng.choice([0.0, 0.5, 3.0]) * rng.standard_normal((n + q, kappa))
        true = np.linalg.eigvalsh(naive.hessian(U))[-1]
        assert true <= theorem_constants(stated(naive)).L * (1 + 1e-12)
        exceeded += true > 2 * naive.lam + alpha
    assert exceeded > 10


# --- 2 and 3: α⁻ and α⁺ ------------------------------------------------------------------------


def logistic_eigenvalues(a):
    e = np.exp(a)
    p = e / (1 + e.sum(axis=1, keepdims=True))
    H = p[:, :, None] * np.eye(a.shape[1]) - p[:, :, None] * p[:, None, :]
    return np.linalg.eigvalsh(H)


def in_the_ball(rng, kappa, M, count=4000):
    a = rng.standard_normal((count, kappa))
    a *= M / np.linalg.norm(a, axis=1, keepdims=True)
    a[::2] *= rng.random((count // 2, 1))
    a[0] = 0
    return a


def test_2_the_lower_curvature_lacks_a_square():
    M = 2.0
    claimed = math.exp(-M) / (1 + math.exp(-M))
    true = logistic_eigenvalues(np.linspace(-M, M, 2001)[:, None]).min()
    assert (claimed, true) == pytest.approx((0.119, 0.105), abs=5e-4)


@pytest.mark.parametrize("kappa", [1, 2, 4])
@pytest.mark.parametrize("M", [0.3, 1.0, 3.0])
def test_2_with_the_square_it_is_a_lower_bound(kappa, M):
    values = logistic_eigenvalues(in_the_ball(np.random.default_rng(0), kappa, M))
    bound = math.exp(-M) / (1 + math.exp(-M) + (kappa - 1) * math.exp(M)) ** 2
    assert bound <= values.min() + 1e-15
    assert resolve_link("logistic", kappa).curvature_bounds(kappa, M)[0] <= values.min() + 1e-15


@pytest.mark.parametrize("M", [0.5, 1.0, 3.0])
def test_3_the_upper_curvature_is_no_upper_bound_for_two_classes(M):
    claimed = math.exp(M) / (1 + math.exp(M)) ** 2
    true = logistic_eigenvalues(np.linspace(-M, M, 2001)[:, None]).max()
    assert claimed < true == pytest.approx(0.25)


@pytest.mark.parametrize("kappa", [1, 2, 3, 6])
def test_3_a_quarter_and_a_half_hold_everywhere(kappa):
    rng = np.random.default_rng(kappa)
    top = max(logistic_eigenvalues(in_the_ball(rng, kappa, M)).max() for M in (0.5, 3, 30))
    bound = 0.25 if kappa == 1 else 0.5
    assert top <= bound + 1e-12
    assert resolve_link("logistic", kappa).curvature_bounds(kappa)[1] == bound
    if kappa > 1:
        assert top > 0.49


# --- 4: the rate -------------------------------------------------------------------------------


def test_4_beyond_the_best_step_the_other_end_of_the_spectrum_decides():
    constants = TheoremConstants(mu=1.0, L=2.0)
    low, high = constants.step_window
    best = 2 / (1.0 + 2.0)
    for step in np.linspace(low, high, 50)[1:-1]:
        printed = 2 * (1 - step * constants.mu)
        if step <= best:
            assert constants.rate(step) == pytest.approx(printed)
        else:
            assert constants.rate(step) > printed


def test_4_the_printed_rate_is_violated_by_a_quadratic():
    """f = (μx² + Ly²)/2 with nothing to project: the second coordinate shrinks by |1 − τL|."""
    constants, step = TheoremConstants(mu=1.0, L=1.5), 0.95
    low, high = constants.step_window
    assert low < step < high
    printed, rho = 2 * (1 - step * constants.mu), constants.rate(step)
    y = 1.0
    for t in range(1, 20):
        y -= step * constants.L * y
        assert printed**t < abs(y) <= rho**t


# --- 5: convexity ------------------------------------------------------------------------------


def test_5_softplus_is_not_convex():
    grid = np.linspace(-10, 10, 2001)

    def h(a):
        return np.logaddexp(0, a) / math.log(2)

    assert h(0.0) == pytest.approx(1.0)
    y0 = curvature(lambda a: np.log1p(h(a)), grid)
    y1 = curvature(lambda a: np.log1p(h(a)) - np.log(h(a)), grid)
    assert min(y0.min(), y1.min()) == pytest.approx(-0.060, abs=1e-3)


def test_5_logistic_and_probit_are_convex_for_two_classes():
    grid = np.linspace(-6, 6, 601)
    for y in (-1, 1):
        for log_p in (lambda a: -np.logaddexp(0, -a), log_ndtr):
            assert curvature(lambda a, y=y, f=log_p: -f(y * a), grid).min() > 0


def test_5_probit_is_not_convex_for_three_classes():
    def loss(a, b):  # class 1 of {0, 1, 2}
        first, second = log_ndtr(a) - log_ndtr(-a), log_ndtr(b) - log_ndtr(-b)
        return np.logaddexp(np.logaddexp(0, first), second) - first

    a, b = np.meshgrid(np.linspace(-6, 6, 121), np.linspace(-6, 6, 121))
    h = 1e-3
    aa = curvature(lambda t: loss(t, b), a)
    bb = curvature(lambda t: loss(a, t), b)
    corners = [s * t * loss(a + s * h, b + t * h) for s in (1, -1) for t in (1, -1)]
    ab = sum(corners) / (4 * h * h)
    smallest = (aa + bb) / 2 - np.sqrt(((aa - bb) / 2) ** 2 + ab**2)
    assert smallest.min() < -0.9
    with pytest.raises(ValueError, match="two classes"):
        resolve_link("probit", 2)


# --- 6: the admissible weights -----------------------------------------------------------------


def test_6_the_second_region_starts_earlier():
    mu_star, L_star, xi, lam = 1.0, 10.0, 9.0, 3.0
    mu, L = min(2 * xi, 2 * lam + mu_star), max(2 * xi, 2 * lam + L_star)
    assert L / mu == pytest.approx(18 / 7, abs=1e-12)
    assert L / mu == pytest.approx(2.57, abs=2e-3)
    # The paper: ξ' < 3(L*−μ*)/4 or ξ' > 3(L*−μ*)/2. This ξ' is in neither.
    assert 3 * (L_star - mu_star) / 4 < xi < 3 * (L_star - mu_star) / 2
    second = admissible_pieces(mu_star, L_star)[1]
    assert second.xi.lower == 3 * (L_star - mu_star) / 4
    assert xi in second.xi
    assert lam in second.lam(xi)


def test_6_the_printed_regions_miss_weights_and_the_corrected_ones_do_not():
    missed = 0
    for xi in np.linspace(0.05, 20, 113):
        for lam in np.linspace(0.01, 30, 117):
            truth = max(2 * xi, 2 * lam + 10) < 3 * min(2 * xi, 2 * lam + 1)
            below = lam < (6 * xi - 10) / 2
            first = 9 / 4 < xi < 27 / 4 and lam > 7 / 4 and below
            printed = first or (xi > 27 / 2 and (2 * xi - 3) / 6 < lam and below)
            pieces = admissible_pieces(1.0, 10.0)
            assert any(xi in piece.xi and lam in piece.lam(xi) for piece in pieces) == truth
            assert truth or not printed
            missed += truth and not printed
    assert missed > 500


# --- 7: statistical estimation -----------------------------------------------------------------


@pytest.mark.parametrize("r", [1, 3])
def test_7_the_error_bound_for_the_feature_model_is_never_below_A_itself(r):
    """At the truth, without noise and with labels at their mean, ∇F = 2λ[A* ‖ 0] remains."""
    rng = np.random.default_rng(r)
    A = project(rng.standard_normal((20, 3)), r)
    size = np.linalg.norm(A)
    checked = 0
    for lam in (0.1, 1.0, 10.0, 1e3):
        for xi in lam * np.array([0.5, 0.9, 1.0, 1.5, 2.5]):
            constants = TheoremConstants(min(2 * xi, 2 * lam), max(2 * xi, 2 * lam + 0.5))
            # Theorem 2's bias λ/μ, with the gradient it comes from instead of O(1):
            assert 2 * lam * size / constants.mu >= size * (1 - 1e-12)
            if constants.step_window is None:
                continue
            for step in np.linspace(*constants.step_window, 7)[1:-1]:
                # The term of the general theorem (ii), of which Theorem 2 is a consequence.
                gradient = 2 * lam * np.linalg.norm(A, 2)
                error = step / (1 - constants.rate(step)) * math.sqrt(3 * r) * gradient
                assert error > size
                checked += 1
    assert checked > 20


def test_7_the_error_of_B_does_not_vanish_at_a_noise_variance_of_1_over_n():
    r, p, errors = 2, 10, []
    for n in (100, 1000, 10_000):
        rng = np.random.default_rng(n)
        W = np.linalg.qr(rng.standard_normal((p, r)))[0]
        B = rng.standard_normal((n, r)) @ W.T
        X = B + rng.standard_normal((n, p)) / math.sqrt(n)
        # The best rank-r fit, which F with ξ = 1/(2σ²) = n/2 and bounded λ tends to.
        errors.append(np.linalg.norm(project(X, r) - B))
    # σ²·r·(n + p − r) = r(1 + (p − r)/n): O(1), where O(log n/√n) was promised.
    np.testing.assert_allclose(errors, math.sqrt(r), rtol=0.15)
    assert errors[-1] > 3 * math.log(10_000) / math.sqrt(10_000)


# --- 8: the intercept --------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_8_an_unpenalised_intercept_leaves_no_strong_convexity(model):
    rng = np.random.default_rng(0)
    naive = random_problem(rng, model, 12, 3, 0, 1, 1.0, 1.0, 0.3, True)
    U = np.zeros((naive.J.shape[1], 1))
    U[-1] = 40.0  # all samples saturated
    assert np.linalg.eigvalsh(naive.hessian(U))[0] < 1e-14
    joint = theorem_constants(stated(naive))
    assert joint.mu == 0
    assert joint.step_window is None
    profiled = theorem_constants(stated(naive), profiled=True)
    assert profiled.mu == pytest.approx(2.0)
    assert profiled.step_window is not None


# --- 9: the experiments ------------------------------------------------------------------------


def test_9_the_papers_step_is_below_the_window_whatever_the_data():
    """μ ≤ 2ξ, so that the window starts at 1/(4ξ) or later; τ = 0.01 and ξ ≤ 20 do not meet."""
    for xi in (0.1, 1, 5, 10, 20):
        assert 1 / (2 * (2 * xi)) > 0.01
        for low in (0.0, 1.0, 1e6):
            constants = TheoremConstants(min(2 * xi, 4 + low), max(2 * xi, 4 + low))
            assert constants.rate(0.01) > 1


def test_9_a_step_far_above_2_over_L_lets_the_loss_rise():
    """Data made like the MNIST experiment's, smaller: pixels in [0, 1], L_A ≈ 1,600, 1/τ = 100."""
    rng = np.random.default_rng(0)
    pixels = rng.random((200, 2))
    X = rng.random((80, 2)) @ pixels.T + 0.5 * rng.standard_normal((80, 200))
    Y = (rng.random((80, 1)) < 1 / (1 + np.exp(-X @ (pixels @ [[1.0], [-1.0]])))) * 1.0
    naive = Naive("filter", X, Y, 1.0, 2.0, np.zeros((80, 0)))
    L = theorem_constants(stated(naive), profiled=True).L
    assert L > 500
    theta = project(naive.target, 2)
    start = (np.zeros((200, 1)), theta, np.zeros((0, 1)))
    runs = {}
    for step in (0.01, 1 / L):
        values = [naive.value(*start)]
        values += [naive.value(*Z) for Z in naive.algorithm_1(start, 2, step, 12)]
        runs[step] = np.diff(values)
    assert runs[0.01].max() > 1.0
    assert runs[1 / L].max() <= 1e-9


# --- 10: the released implementation -----------------------------------------------------------


@pytest.fixture
def released(monkeypatch):
    try:
        metadata.version("SupervisedMF")
    except metadata.PackageNotFoundError:
        pytest.skip("SupervisedMF, the paper's released implementation, is not installed")
    try:
        import tqdm  # noqa: F401
    except ModuleNotFoundError:
        monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(trange=range))
    import SMF

    return SMF


def released_model(released, kappa=1):
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((5, 12)), (rng.random((kappa, 12)) < 0.5).astype(float)]
    model = released.SMF_LPGD(X=X, n_components=2, xi=1.0)
    shapes = ((5, kappa), (5, 12), (kappa, 1))
    return model, [rng.standard_normal(shape) for shape in shapes]


def test_10_the_packaged_version_lacks_an_import(released):
    model, state = released_model(released)
    if hasattr(released, "TruncatedSVD"):
        pytest.skip("this version of SupervisedMF imports TruncatedSVD")
    with pytest.raises(NameError, match="TruncatedSVD"):
        model.step_SVP(*state, tau=0.1, nu=0.2)


def test_10_its_ridge_is_nu_over_two_and_on_the_intercept_too(released, monkeypatch):
    from sklearn.decomposition import TruncatedSVD

    monkeypatch.setattr(released, "TruncatedSVD", TruncatedSVD, raising=False)
    model, state = released_model(released)
    steps = {}
    for nu in (0.0, 0.2):
        steps[nu] = model.step_SVP(*(z.copy() for z in state), tau=0.1, nu=nu)[2]
    # τν·γ: the gradient of (ν/2)γ², so ν = 2λ; Algorithm 1 has no penalty on the intercept.
    np.testing.assert_allclose(steps[0.0] - steps[0.2], 0.1 * 0.2 * state[2])


def test_10_its_fit_ignores_the_ridge_it_is_given(released, monkeypatch):
    model, _ = released_model(released)
    seen = []

    def step(A, B, Beta1, **options):
        seen.append(options["nu"])
        return A, B, Beta1

    monkeypatch.setattr(model, "step_SVP", step)
    monkeypatch.setattr(model, "unfactored2factored", lambda *a, **k: (None, None))
    monkeypatch.setattr(model, "validation", lambda *a, **k: None)
    model.fit(iter=3, nu=5.0)
    if set(seen) == {5.0}:
        pytest.skip("this version of SupervisedMF passes nu on")
    assert set(seen) == {0}


def test_10_it_is_for_two_classes_only(released, monkeypatch):
    """The coefficients of the second class are taken for a code, as if A had one column."""
    from sklearn.decomposition import TruncatedSVD

    monkeypatch.setattr(released, "TruncatedSVD", TruncatedSVD, raising=False)
    model, (A, B, Beta1) = released_model(released, kappa=2)
    try:
        model.unfactored2factored(A, B, Beta1, rank=2)
    except ValueError as error:
        assert "dimension" in str(error)
    else:
        pytest.skip("this version of SupervisedMF takes several classes")
