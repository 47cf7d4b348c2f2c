"""`simulate` draws from the documented model."""

import numpy as np
import pytest

from superfactor.datasets import simulate
from superfactor.losses import CustomLink


@pytest.mark.parametrize("model", ["filter", "feature"])
@pytest.mark.parametrize("kappa", [1, 3])
@pytest.mark.parametrize("q", [0, 2])
def test_shapes_ranks_and_equations(model, kappa, q):
    n, p, r = 40, 15, 4
    d = simulate(model, n, p, r, n_classes=kappa + 1, n_covariates=q, random_state=0)
    assert d.X.shape == d.B.shape == (n, p)
    assert d.y.shape == (n,)
    assert set(np.unique(d.y)) <= set(range(kappa + 1))
    assert (d.W.shape, d.H.shape, d.beta.shape) == ((p, r), (n, r), (r, kappa))
    assert d.gamma.shape == (q, kappa)
    assert (d.covariates is None) == (q == 0)
    np.testing.assert_allclose(d.W.T @ d.W, np.eye(r), atol=1e-12)
    np.testing.assert_allclose(d.B, d.H @ d.W.T)
    if model == "filter":
        lifted, a = np.hstack([d.A, d.B.T]), d.X @ d.A
        assert d.A.shape == (p, kappa)
    else:
        lifted, a = np.hstack([d.A, d.B]), d.A
        assert d.A.shape == (n, kappa)
    assert np.linalg.matrix_rank(lifted) == r
    if q:
        a = a + d.covariates @ d.gamma
    np.testing.assert_allclose(d.activations, a)
    scores = np.exp(np.hstack([np.zeros((n, 1)), a]))
    np.testing.assert_allclose(d.probabilities, scores / scores.sum(axis=1, keepdims=True))


def test_noise_has_the_given_size_and_the_data_unit_variance():
    d = simulate("filter", 2000, 50, 3, n_covariates=20, noise=0.3, covariate_noise=2.0,
                 random_state=1)  # fmt: skip
    assert np.std(d.X - d.B) == pytest.approx(0.3, rel=0.02)
    assert np.mean(d.X - d.B) == pytest.approx(0.0, abs=0.005)
    assert np.mean(d.B**2) == pytest.approx(1.0, rel=0.1)
    assert np.var(d.covariates) == pytest.approx(1.0 + 4.0, rel=0.05)
    assert d.xi == pytest.approx(1 / (2 * 0.09))


def test_data_equal_B_without_noise():
    d = simulate("feature", 30, 10, 2, noise=0.0, random_state=1)
    assert np.array_equal(d.X, d.B)
    assert d.xi == np.inf


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_labels_have_the_given_probabilities(model):
    d = simulate(model, 40_000, 6, 2, n_classes=3, n_covariates=1, random_state=2)
    hits = np.eye(3)[d.y]
    # Overall, and among samples of similar probability: within five standard errors.
    for c in range(3):
        p = d.probabilities[:, c]
        for low, high in ((0, 1), (0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1)):
            group = (p >= low) & (p <= high)
            error = np.sqrt(np.sum(p[group] * (1 - p[group])))
            assert abs(np.sum(hits[group, c] - p[group])) < 5 * error


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_signal_is_the_standard_deviation_of_the_activations(model):
    d = simulate(model, 5000, 30, 3, n_classes=4, noise=0.01, signal=1.5, random_state=3)
    np.testing.assert_allclose(np.std(d.activations, axis=0), 1.5, rtol=0.05)
    chance = simulate(model, 50, 30, 3, n_classes=4, signal=0.0, random_state=3)
    np.testing.assert_allclose(chance.probabilities, 0.25)


def test_same_seed_gives_the_same_data():
    a, b, other = (simulate("filter", 20, 5, 2, random_state=seed) for seed in (7, 7, 8))
    assert np.array_equal(a.X, b.X)
    assert np.array_equal(a.y, b.y)
    assert not np.array_equal(a.X, other.X)
    generators = [np.random.default_rng(7), np.random.RandomState(7)]
    for generator in generators:
        first = simulate("filter", 20, 5, 2, random_state=generator)
        second = simulate("filter", 20, 5, 2, random_state=generator)
        assert not np.array_equal(first.X, second.X)


def test_probabilities_use_the_given_link():
    from scipy.stats import norm

    d = simulate("feature", 50, 5, 2, link="probit", random_state=4)
    np.testing.assert_allclose(d.probabilities[:, 1], norm.cdf(d.activations[:, 0]), rtol=1e-8)
    link = CustomLink(lambda a: 2 * a, lambda a: 0 * a + 2, lambda a: 0 * a)
    d = simulate("feature", 50, 5, 2, link=link, random_state=4)
    np.testing.assert_allclose(d.probabilities[:, 1], 1 / (1 + np.exp(-2 * d.activations[:, 0])), rtol=1e-10)


@pytest.mark.parametrize(
    "bad",
    [
        {"model": "both"},
        {"n_samples": 0},
        {"n_samples": 10.5},
        {"n_features": -1},
        {"rank": 0},
        {"rank": 6},
        {"n_classes": 1},
        {"n_classes": True},
        {"n_covariates": -1},
        {"noise": -0.1},
        {"noise": float("nan")},
        {"noise": "large"},
        {"covariate_noise": float("inf")},
        {"signal": -1.0},
        {"link": "cauchit"},
        {"link": "probit", "n_classes": 3},
    ],
)
def test_bad_arguments_are_refused_with_the_allowed_values(bad):
    name, value = next(iter(bad.items()))
    with pytest.raises(ValueError, match=rf"{name}={value!r}.*(required|allow|at most)"):
        simulate(**{"n_samples": 20, "n_features": 5, "rank": 2} | bad)
