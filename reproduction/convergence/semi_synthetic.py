"""The paper's semi-synthetic MNIST: two atoms made of digits, noisy mixtures of them, labels by two others.

    X = W_X·H + σ·noise,     y_i ~ Bernoulli(1/(1 + exp(−βᵀW_Yᵀx_i))),   β = (1, −1)

W_X comes from the digits 2 and 5, W_Y from 4 and 7, the codes H are uniform on [0, 1].

The paper draws ten images of each digit, but its W has one column a digit. An atom is the *mean* of its ten
images here. Their sum would leave the range of pixels and make activations ten times as large; with a single
image nearly all labels are alike in most draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reproduction.data import Images

__all__ = ["SemiSynthetic", "semi_synthetic"]

FEATURE_DIGITS, LABEL_DIGITS = (2, 5), (4, 7)
IMAGES_PER_ATOM = 10


@dataclass(frozen=True)
class SemiSynthetic:
    """Noisy mixtures of two images.

    Attributes
    ----------
    X : (n, 784)
    y : (n,) of 0.0 and 1.0
    atoms : W_X (784, 2)
    label_atoms : W_Y (784, 2)
    codes : Hᵀ (n, 2)
    """

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    atoms: NDArray[np.float64]
    label_atoms: NDArray[np.float64]
    codes: NDArray[np.float64]


def semi_synthetic(images: Images, *, n: int = 500, sigma: float = 0.5, seed: int = 0) -> SemiSynthetic:
    """Draw n samples with noise of standard deviation `sigma`."""
    rng = np.random.default_rng(seed)

    def atom(digit: int) -> NDArray[np.float64]:
        chosen = rng.choice(np.flatnonzero(images.digits == digit), IMAGES_PER_ATOM, replace=False)
        mean: NDArray[np.float64] = images.images[chosen].mean(axis=0)
        return mean

    atoms, label_atoms = (
        np.stack([atom(digit) for digit in digits], axis=1) for digits in (FEATURE_DIGITS, LABEL_DIGITS)
    )
    codes = rng.random((n, 2))
    X = codes @ atoms.T + sigma * rng.standard_normal((n, len(atoms)))
    odds = X @ label_atoms @ np.array([1.0, -1.0])
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(float)
    return SemiSynthetic(X, y, atoms, label_atoms, codes)
