"""Semi-synthetic MNIST has the paper's recipe."""

import numpy as np
import pytest

from reproduction.convergence.semi_synthetic import semi_synthetic
from reproduction.data import Images


@pytest.fixture(scope="module")
def images():
    """Twelve images of each digit, blank but for one pixel from number 70·digit on."""
    rng = np.random.default_rng(0)
    digits = np.repeat(np.arange(10), 12)
    pictures = np.zeros((120, 784))
    pictures[np.arange(120), 70 * digits + np.tile(np.arange(12), 10)] = rng.uniform(0.5, 1, 120)
    return Images(pictures, digits, "made up")


def test_atoms_are_means_of_ten_images_of_their_digits(images):
    made = semi_synthetic(images)
    for atom, digit in zip(
        np.concatenate([made.atoms, made.label_atoms], axis=1).T, (2, 5, 4, 7), strict=True
    ):
        (ink,) = np.nonzero(atom)
        assert len(ink) == 10
        assert set(ink // 70) == {digit}
        np.testing.assert_allclose(atom[ink], images.images[:, ink].max(axis=0) / 10)


def test_samples_are_noisy_mixtures(images):
    made = semi_synthetic(images, n=2000, sigma=0.5)
    assert made.X.shape == (2000, 784)
    assert made.codes.min() >= 0
    assert made.codes.max() <= 1
    assert made.codes.mean() == pytest.approx(0.5, abs=0.02)
    noise = made.X - made.codes @ made.atoms.T
    assert noise.mean() == pytest.approx(0, abs=0.002)
    assert noise.std() == pytest.approx(0.5, abs=0.002)


def test_labels_follow_the_logistic_model(images):
    made = semi_synthetic(images, n=10_000, sigma=5.0, seed=1)
    odds = made.X @ made.label_atoms @ [1.0, -1.0]
    assert set(made.y) == {0.0, 1.0}
    for low, high in ((-2, -1), (-0.5, 0.5), (1, 2)):
        here = (odds > low) & (odds < high)
        expected = np.mean(1 / (1 + np.exp(-odds[here])))
        spread = np.sqrt(expected * (1 - expected) / here.sum())
        assert made.y[here].mean() == pytest.approx(expected, abs=4 * spread)


def test_a_seed_gives_the_same_data(images):
    one, two, other = (semi_synthetic(images, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)
    assert not np.array_equal(one.X, other.X)
