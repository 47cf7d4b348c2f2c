"""Properties of both models: adjoint products, conversion of units, results in the user's units."""

import numpy as np
import pytest
from tests.problems import MODELS, example, lifted
from tests.samples.cutting import cut

from superfactor.losses import SquaredError
from superfactor.models import Factors, model_named
from superfactor.samples import Along, Block, Design

every_model = pytest.mark.parametrize("model", MODELS)
every_shape = pytest.mark.parametrize(("n", "p"), [(9, 6), (6, 9)])
weights = pytest.mark.parametrize("weighted", [False, True])


# --- products -----------------------------------------------------------------------------------------------


@every_model
@every_shape
@pytest.mark.parametrize(("weighted", "sparse"), [(False, True), (True, False)])
def test_products_are_those_of_the_weighted_matrix(model, n, p, weighted, sparse):
    problem, reference = example(model, n, p, 2, weighted=weighted, sparse=sparse)
    M, rng, data, known = problem.model, np.random.default_rng(0), problem.whole.data, problem.whole.known
    root = np.sqrt(reference.weight)[:, None]
    X = reference.X.T * root / problem.scale
    from_side = X if model == "filter" else X.T  # (other, N)
    Phi = (X if model == "filter" else np.eye(n)) / root  # (n, N)
    T, E = rng.standard_normal((M.side((n, p)), 3)), rng.standard_normal((n, 3))
    Z = from_side @ T
    np.testing.assert_allclose(M.image(data, T), Z, atol=1e-13)
    np.testing.assert_allclose(M.back(data, Z), from_side.T @ Z, atol=1e-12)
    np.testing.assert_allclose(M.features(known, T, Z), Phi @ T, atol=1e-13)
    np.testing.assert_allclose(M.activations(data, known, T), Phi @ T, atol=1e-13)
    np.testing.assert_allclose(M.pull(data, known, E), Phi.T @ E, atol=1e-13)
    bound = M.feature_bound(problem.squared_norm)
    assert np.linalg.norm(Phi * root, 2) ** 2 <= bound * (1 + 1e-12)


@every_model
def test_two_sides(model):
    M = model_named(model)
    assert {M.side((9, 6)), M.other_side((9, 6))} == {6, 9}
    assert M.side((9, 6)) == (6 if model == "filter" else 9)
    # The Gram matrix of the smaller side is that of the search side.
    assert M.on_smaller_side((9, 6)) == (M.side((9, 6)) == 6)
    assert M.on_smaller_side((6, 9)) == (M.side((6, 9)) == 6)
    B = np.arange(54.0).reshape(M.side((9, 6)), M.other_side((9, 6)))
    assert M.by_samples(B).shape == (9, 6)
    np.testing.assert_array_equal(M.by_samples(M.by_samples(B)), B)
    assert M.phi(lambda: "data", lambda: "identity") == ("data" if model == "filter" else "identity")
    atoms, codes = M.atoms_and_codes(B[:, :2], B.T[:, :2])
    assert (atoms.shape, codes.shape) == ((6, 2), (9, 2))
    np.testing.assert_array_equal(M.atoms_and_codes(atoms, codes)[0], B[:, :2])


def test_an_unknown_model_raises():
    with pytest.raises(ValueError, match=r"model='both': allowed are 'filter' and 'feature'"):
        model_named("both")


# --- units --------------------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("scale", [2.0**-40, 0.5, 1.0, 2.0**60])
def test_own_and_users_weights_are_inverse(model, scale):
    M = model_named(model)
    for xi, lam in ((0.7, 0.3), (1e-9, 1e9), (2.0, 0.0)):
        assert M.users_weights(*M.own_weights(xi, lam, scale), scale) == (xi, lam)
        assert M.own_weights(*M.users_weights(xi, lam, scale), scale) == (xi, lam)


@every_model
def test_ridge_of_some_samples_keeps_the_optimum(model):
    """Every sample twice is the same problem: half of the samples must have the same optimum."""
    M, rng = model_named(model), np.random.default_rng(2)
    X, y = rng.standard_normal((30, 4)), rng.standard_normal((30, 1))
    lam = 0.4
    # Regression on the whole search side, in closed form: filters see XᵀX + λI, samples 1 + λ each.
    if model == "filter":
        twice = np.linalg.solve(2 * X.T @ X + lam * np.eye(4), 2 * X.T @ y)
        once = np.linalg.solve(X.T @ X + M.subsampled_ridge(lam, 0.5) * np.eye(4), X.T @ y)
    else:
        twice, once = y / (1 + lam), y / (1 + M.subsampled_ridge(lam, 0.5))
    np.testing.assert_allclose(once, twice, rtol=1e-12)


# --- the search side, as sums over samples -----------------------------------------------------------------


@every_model
@pytest.mark.parametrize(("blocks", "weighted"), [(1, False), (3, True)])
def test_products_of_new_vectors(model, blocks, weighted):
    problem, _ = example(model, 11, 7, 2, weighted=weighted)
    arrays, M = problem.arrays(), problem.model
    problem = cut(problem, blocks)
    side, rng = problem.side, np.random.default_rng(3)
    loadings = rng.standard_normal((7, 3))
    T = M.from_loadings(side, loadings)
    S = M.random(side, rng, 2)
    t, s = T.array(), S.array()
    assert t.shape == (arrays.side, 3)
    root = np.ones((11, 1)) if arrays.root_weight is None else arrays.root_weight

    def features(v):
        return root * arrays.features(v, arrays.image(v))

    def loaded(v):
        return v if model == "filter" else arrays.image(v)

    kept = problem.samples.keep(Block.given, features(s))
    design = Design(kept.place)
    coef, directions = rng.standard_normal((5, 2)), rng.standard_normal((3, 2))
    for along in (None, Along(design, coef, directions)):
        grown = M.grown(side, kept, loaded(s), T, along)
        np.testing.assert_allclose(grown.features.array(), features(t), atol=1e-12)
        np.testing.assert_allclose(grown.loadings, loaded(t), atol=1e-12)
        G = arrays.back(arrays.image(t))
        np.testing.assert_allclose(grown.powers.array(), G, atol=1e-12)
        np.testing.assert_allclose(grown.cross, s.T @ G, atol=1e-11)
        np.testing.assert_allclose(grown.corner, t.T @ G, atol=1e-11)
    assert M.grown(side, kept, loaded(s), T, None).bent is None
    # Φᵀ(h∘ΦT), h_ij = b_jᵀ(ω_i∇²ℓ_i)b_j.
    a = np.hstack([features(s) / root, arrays.covariates]) @ coef
    H = arrays.loss.hessian(a, arrays.targets) * arrays.loss_weight[:, :, None]
    h = np.einsum("jc,ncd,jd->nj", directions, H, directions)
    expected = arrays.pull(h * features(t) / root)
    np.testing.assert_allclose(grown.bent.array(), expected, atol=1e-12)
    # And the gradient of the loss there.
    _, E = arrays.loss_terms(a)
    pulled = M.pulled(side, design, coef)
    np.testing.assert_allclose(pulled.array(), arrays.pull(E), atol=1e-12)


@every_model
def test_empty_random_and_resumed_vectors(model):
    problem, _ = example(model, 11, 7, 2)
    arrays, M = problem.arrays(), problem.model
    side = cut(problem, 3).side
    N, rng = arrays.side, np.random.default_rng(4)
    assert M.no_vectors(side).array().shape == (N, 0)
    loadings = rng.standard_normal((7, 3))
    images = M.from_loadings(side, loadings).array()
    expected = loadings if model == "filter" else arrays.data.times(loadings)
    np.testing.assert_allclose(images, expected, atol=1e-13)
    grown, held = M.resumed(side, loadings, None)
    np.testing.assert_allclose(grown[-1].array(), expected, atol=1e-13)
    assert (held is None) == (model == "feature")
    tall = rng.standard_normal((11, 2))
    grown, held = M.resumed(side, loadings, tall)
    np.testing.assert_array_equal(held.array(), loadings if model == "filter" else tall)
    np.testing.assert_allclose(grown[-1].array(), expected, atol=1e-13)


# --- results -----------------------------------------------------------------------


def random_factors(seed=5):
    rng = np.random.default_rng(seed)
    return Factors(*(rng.standard_normal(s) for s in ((6, 2), (9, 2), (2, 3), (1, 3))))


@every_model
def test_normalised_atoms_are_the_same_point(model):
    M, f = model_named(model), random_factors()
    norms = np.array([3.0, 0.25])
    other = Factors(f.components / norms, f.codes * norms, M.normalised(f, norms), f.gamma)
    for a, b in zip(lifted(model, other), lifted(model, f), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)
    A = lifted(model, f)[0]
    np.testing.assert_allclose(M.lifted(f), A if model == "filter" else A.T, rtol=1e-13)


@every_model
def test_codings_code_new_samples(model):
    M, f = model_named(model), random_factors()
    x = np.random.default_rng(7).standard_normal((4, 6))
    codes = M.coding(f, np.ones(2), 1.0, 0.5).codes(x)
    expected = x @ f.components if model == "filter" else x @ np.linalg.pinv(f.components).T
    np.testing.assert_allclose(codes, expected, atol=1e-12)


@every_model
def test_loss_curvature_bounds_the_curvature_in_A(model):
    """The eigenvalues of the loss's Hessian in [A, γ], without the ridge, lie within the bounds."""
    rng = np.random.default_rng(8)
    n, p, q = 12, 4, 2
    X, C = rng.standard_normal((n, p)), rng.standard_normal((n, q))
    alpha = SquaredError().curvature_bounds(1)
    Phi = np.hstack([X if model == "filter" else np.eye(n), C])
    values = 2 * np.linalg.eigvalsh(Phi.T @ Phi)
    extremes = np.linalg.eigvalsh(np.hstack([X, C]).T @ np.hstack([X, C]))[[0, -1]]
    factor = np.linalg.norm(C, 2) ** 2
    low, high = model_named(model).loss_curvature(alpha, tuple(extremes), factor)
    assert low <= values[0] * (1 + 1e-12) + 1e-12
    assert values[-1] <= high * (1 + 1e-12)
