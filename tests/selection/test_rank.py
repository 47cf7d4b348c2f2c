"""The scree against a full SVD, and the elbow where a rank was planted."""

import numpy as np
import pytest
import scipy.sparse as sp

from superfactor.selection import elbow, rank, scree


def planted(n=60, p=300, r=4, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    strong = rng.standard_normal((n, r)) @ rng.standard_normal((r, p))
    return strong + noise * rng.standard_normal((n, p)) + 3.0


@pytest.mark.parametrize("center", [True, False], ids=["centred", "as it is"])
@pytest.mark.parametrize("kind", ["wide", "tall", "sparse", "float32", "large"])
def test_scree_is_that_of_the_svd(kind, center, monkeypatch):
    X = planted()
    X = {"tall": X.T, "float32": X.astype(np.float32)}.get(kind, X)
    if kind == "large":  # the branch for sides too large to decompose
        monkeypatch.setattr(rank, "_FULL_SIDE", 10)
    if kind == "sparse":
        X = X * (np.abs(X) > 4)
    reference = np.asarray(X, dtype=float) - (X.mean(axis=0) if center else 0)
    sigma = np.linalg.svd(reference, compute_uv=False)
    found = scree(sp.csr_matrix(X) if kind == "sparse" else X, n_values=12, center=center)
    tol = 1e-4 if kind == "float32" else 1e-8
    np.testing.assert_allclose(found.singular_values, sigma[:12], rtol=tol)
    np.testing.assert_allclose(found.total, (sigma**2).sum(), rtol=tol)
    np.testing.assert_allclose(found.share, sigma[:12] ** 2 / (sigma**2).sum(), rtol=2 * tol)


@pytest.mark.parametrize("r", [1, 2, 4, 9])
def test_elbow_finds_a_planted_rank(r):
    assert scree(planted(r=r)).elbow == r


def test_elbow_does_not_depend_on_units():
    X = planted()
    assert scree(X).elbow == scree(1e5 * X).elbow


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0], 1), ([2.0, 1.0], 1), ([1.0, 1.0, 1.0], 1), ([0.0, 0.0, 0.0, 0.0], 1)],
    ids=["one", "two", "flat", "zero"],
)
def test_elbow_of_curves_without_one(values, expected):
    assert elbow(values) == expected


def test_no_values_is_an_error():
    with pytest.raises(ValueError, match="n_values=0: a number from 1 to 60"):
        scree(planted(), n_values=0)
