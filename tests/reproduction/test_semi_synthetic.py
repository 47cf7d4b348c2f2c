"""Semi-synthetic MNIST has the paper's recipe."""

import numpy as np
import pytest

from reproduction.convergence.semi_synthetic import semi_synthetic
from reproduction.data import Images


@pytest.fixture(scope="module")
def images():
    """Twelve images of each digit, blank except for one pixel from number 70·digit on."""
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
