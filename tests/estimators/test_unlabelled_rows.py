"""Samples without a label in data that is read in passes, against the same numbers in memory."""

import numpy as np
import pytest
import sklearn
from tests.estimators.data import MODELS

from superfactor import SMFClassifier, SMFRegressor

N, P = 1500, 6
RNG = np.random.default_rng(0)
HIDDEN = RNG.standard_normal((N, 3))
X = HIDDEN @ RNG.standard_normal((3, P)) + RNG.standard_normal((N, P))
LABELS = np.array(["ash", "birch", "cedar"], dtype=object)[HIDDEN.argmax(axis=1)]
# The first blocks have no label at all, later ones a few.
KNOWN = (np.arange(N) > 600) & (np.arange(N) % 7 == 0)
WEIGHTS = RNG.integers(0, 3, N).astype(float)
EASY = {"filter": {"xi": 0.3, "lam": 5.0}, "feature": {"xi": 1.0, "lam": 0.5}}


@pytest.fixture(autouse=True)
def small_blocks():
    """Blocks of the least height there is, 256 rows."""
    with sklearn.config_context(working_memory=0.01):
        yield


def memmap(folder):
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


def assert_same(found, expected):
    assert found.n_labeled_ == expected.n_labeled_
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-7)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-4)
    np.testing.assert_allclose(found.codes_, expected.codes_, atol=1e-4)
    bounds = found.certificate_.lower_bound, expected.certificate_.lower_bound
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_labels_with_gaps(model, tmp_path):
    y = np.where(KNOWN, LABELS, None)
    options = {"n_components": 3, "model": model, **EASY[model]}
    expected = SMFClassifier(**options).fit(X, y)
    assert expected.n_labeled_ == KNOWN.sum()
    assert_same(SMFClassifier(**options).fit(memmap(tmp_path), y), expected)


@pytest.mark.parametrize("model", MODELS)
def test_weights_in_units_of_the_data(model, tmp_path):
    """ξ and λ by themselves: both count the labelled samples."""
    y = np.where(KNOWN, LABELS, None)
    fit = SMFClassifier(2, model=model)
    xi, lam = fit.state(X, y).problem.users_weights
    found = fit.state(memmap(tmp_path), y, in_passes=True).problem.users_weights
    assert found == pytest.approx((xi, lam), rel=1e-2)  # σ₁² nearly
    unit = KNOWN.sum() * np.log(3) / np.sum(X**2)
    assert xi == pytest.approx({"filter": 0.1, "feature": 10.0}[model] * unit)
    if model == "filter":
        assert lam == pytest.approx(1e-3 * np.linalg.norm(X, 2) ** 2 * KNOWN.mean(), rel=1e-2)


@pytest.mark.parametrize("model", MODELS)
def test_beside_samples_of_weight_zero(model, tmp_path):
    codes = np.where(KNOWN, HIDDEN.argmax(axis=1), -1)
    options = {"n_components": 3, "model": model, "unlabeled": -1, "class_weight": "balanced"}
    options |= EASY[model]
    expected = SMFClassifier(**options).fit(X, codes, sample_weight=WEIGHTS)
    assert expected.n_labeled_ == (KNOWN & (WEIGHTS > 0)).sum()
    found = SMFClassifier(**options).fit(memmap(tmp_path), codes, sample_weight=WEIGHTS)
    assert_same(found, expected)
    kept = WEIGHTS > 0
    without = SMFClassifier(**options).fit(X[kept], codes[kept], sample_weight=WEIGHTS[kept])
    assert expected.objective_ == pytest.approx(without.objective_, rel=1e-7)


@pytest.mark.parametrize("model", MODELS)
def test_targets_with_gaps(model, tmp_path):
    y = HIDDEN[:, :2].copy()
    y[~KNOWN] = np.nan
    options = {"n_components": 3, "model": model, **EASY[model]}
    expected = SMFRegressor(**options).fit(X, y)
    assert_same(SMFRegressor(**options).fit(memmap(tmp_path), y), expected)
