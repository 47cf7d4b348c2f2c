"""Values against scikit-learn, SciPy and many-digit arithmetic, also where naive formulas fail."""

import numpy as np
import pytest
from scipy import special
from sklearn.metrics import log_loss
from tests.losses.examples import CLOGLOG, SOFTPLUS, one_hot

from superfactor.losses import resolve_link
from superfactor.losses.classes.hazard import erfcx

# a, −log Φ(a), its first and second derivative, computed with mpmath in 700 digits.
PROBIT_ONE = np.array(
    [
        [-10000.0, 50000010.12927891, -10000.000099999997, 0.9999999900000006],
        [-1000.0, 500007.82669481216, -1000.000999998, 0.999999000006],
        [-40.0, 804.6084420137538, -40.02496884720726, 0.9993773316214086],
        [-10.0, 53.23128515051247, -10.098093233962512, 0.9905546221743438],
        [-5.5, 17.77937635262526, -5.671410313897305, 0.9721382221455538],
        [-5.0, 15.064998393988725, -5.186503967125842, 0.9673035653828878],
        [-4.5, 12.59241973571308, -4.704319844827732, 0.9611859007152245],
        [-1.0, 1.8410216450092636, -1.525135276160981, 0.8009023344296512],
        [0.5, 0.3689464152886564, -0.5091604338370335, 0.5138245643036329],
        [5.0, 2.866516129637636e-07, -1.4867199409049056e-06, 7.433601914860711e-06],
        [10.0, 7.619853024160525e-24, -7.694598626706419e-23, 7.694598626706419e-22],
        [30.0, 4.906713927148187e-198, -1.4736461348785476e-196, 4.420938404635642e-195],
        [37.0, 5.725571222524577e-300, -2.1200065515246056e-298, 7.84402424064104e-297],
    ]
)


@pytest.mark.parametrize(
    ("link", "kappa", "score"),
    [
        ("logistic", 1, np.exp),
        ("logistic", 3, np.exp),
        (SOFTPLUS, 3, lambda a: np.log1p(np.exp(a)) / np.log(2.0)),
    ],
)
def test_values_agree_with_scikit_learn(link, kappa, score):
    rng = np.random.default_rng(kappa)
    a, labels = 3.0 * rng.standard_normal((300, kappa)), rng.integers(0, kappa + 1, 300)
    scores = np.column_stack([np.ones(300), score(a)])
    probabilities = scores / scores.sum(axis=1, keepdims=True)
    loss = resolve_link(link, kappa)
    np.testing.assert_allclose(loss.probabilities(a), probabilities, rtol=1e-12)
    expected = log_loss(labels, probabilities, normalize=False)
    assert loss.value(a, one_hot(labels, kappa)).sum() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("link", ["logistic", "probit", CLOGLOG])
def test_probabilities_are_the_exponential_of_the_loss(link):
    a = np.linspace(-6.0, 4.0, 41)[:, None]
    loss = resolve_link(link, 1)
    probabilities = loss.probabilities(a)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-15)
    for label in (0, 1):
        value = loss.value(a, np.full_like(a, label))
        np.testing.assert_allclose(probabilities[:, label], np.exp(-value), rtol=1e-12)


def test_probit_keeps_its_digits_in_both_tails():
    loss, (a, value, slope, bend) = resolve_link("probit", 1), PROBIT_ONE.T[:, :, None]
    for label, sign in ((1.0, 1.0), (0.0, -1.0)):  # label 0 is the mirror image
        Y = np.full_like(a, label)
        np.testing.assert_allclose(loss.value(sign * a, Y), value[:, 0], rtol=3e-13)
        np.testing.assert_allclose(loss.residual(sign * a, Y), sign * slope, rtol=3e-13)
        np.testing.assert_allclose(loss.hessian(sign * a, Y)[:, 0], bend, rtol=3e-13)


def test_erfcx_agrees_with_scipy():
    z = np.concatenate([np.linspace(0.0, 12.0, 4001), np.logspace(1, 150, 1000)])
    np.testing.assert_allclose(erfcx(z), special.erfcx(z), rtol=3e-15)


@pytest.mark.parametrize("kappa", [1, 3])
@pytest.mark.parametrize("size", [1e4, 1e300])
def test_logistic_survives_huge_activations(kappa, size):
    loss = resolve_link("logistic", kappa)
    a = np.full((2, kappa), -size)
    a[:, 0] = [size, -size]
    own = one_hot([1, 0], kappa)  # the likely labels
    wrong = one_hot([0, 1], kappa)
    np.testing.assert_array_equal(loss.value(a, own), 0.0)
    np.testing.assert_array_equal(loss.residual(a, own), 0.0)
    np.testing.assert_allclose(loss.value(a, wrong), size, rtol=1e-15)
    expected = np.zeros_like(a)
    expected[:, 0] = [1.0, -1.0]
    np.testing.assert_array_equal(loss.residual(a, wrong), expected)
    assert np.isfinite(loss.hessian(a, wrong)).all()
    np.testing.assert_array_equal(loss.probabilities(a), np.eye(kappa + 1)[[1, 0]])


@pytest.mark.parametrize("size", [1e4, 1e150])
def test_probit_survives_huge_activations(size):
    loss = resolve_link("probit", 1)
    a = np.array([[-size], [size]])
    own, wrong = np.array([[0.0], [1.0]]), np.array([[1.0], [0.0]])
    np.testing.assert_array_equal(loss.value(a, own), 0.0)
    np.testing.assert_array_equal(loss.residual(a, own), 0.0)
    np.testing.assert_array_equal(loss.hessian(a, own), 0.0)
    np.testing.assert_allclose(loss.value(a, wrong), 0.5 * size**2, rtol=1e-6)
    np.testing.assert_allclose(loss.residual(a, wrong), a, rtol=2e-8)
    np.testing.assert_allclose(loss.hessian(a, wrong), 1.0, rtol=2e-8)


@pytest.mark.parametrize("kappa", [1, 2])
def test_a_loss_near_zero_keeps_its_digits(kappa):
    # ℓ ≈ e^{-30}: as a difference of two numbers near 30 it would have two digits.
    a = np.full((1, kappa), -50.0)
    a[0, 0] = 30.0
    Y = one_hot([1], kappa)
    loss = resolve_link("logistic", kappa)
    np.testing.assert_allclose(loss.value(a, Y), [np.exp(-30.0)], rtol=1e-12)
    np.testing.assert_allclose(loss.residual(a, Y)[:, 0], [-np.exp(-30.0)], rtol=1e-12)
