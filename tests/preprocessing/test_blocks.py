"""Block scaling compared with NumPy's singular values, and the rules of a transformer."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from superfactor.preprocessing import BlockScaler, blocks

BLOCKS = {"genes": slice(0, 6), "blood": [8, 7]}


def data(n=12, p=9):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, p)) * np.linspace(1, 20, p)


@parametrize_with_checks([BlockScaler({"a": [0]})])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("gram_side", [2000, 1], ids=["gram", "lanczos"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("scaling, order", [("mfa", 2), ("frobenius", "fro")])
def test_scales_are_inverse_norms_and_other_columns_stay(scaling, order, kind, gram_side, monkeypatch):
    monkeypatch.setattr(blocks, "_GRAM_SIDE", gram_side)
    X = data()
    scaler = BlockScaler(BLOCKS, scaling=scaling)
    out = scaler.fit_transform(kind(X))
    assert sp.issparse(out) == sp.issparse(kind(X))
    out = out.toarray() if sp.issparse(out) else out
    for name, columns in {"genes": range(6), "blood": [8, 7]}.items():
        norm = np.linalg.norm(X[:, columns], order)
        np.testing.assert_allclose(scaler.scales_[name], 1 / norm, rtol=1e-10)
        np.testing.assert_allclose(np.linalg.norm(out[:, columns], order), 1)
    np.testing.assert_array_equal(out[:, 6], X[:, 6])
    np.testing.assert_allclose(scaler.inverse_transform(out), X)


def test_no_scaling_and_a_block_of_zeros():
    X = data()
    np.testing.assert_array_equal(BlockScaler(BLOCKS, scaling=None).fit_transform(X), X)
    X[:, 7:] = 0
    scaler = BlockScaler(BLOCKS).fit(X[:8])
    np.testing.assert_allclose(scaler.transform(X)[9, :6], X[9, :6] / np.linalg.norm(X[:8, :6], 2))
    assert scaler.scales_["blood"] == 1
    assert np.isfinite(scaler.transform(X)).all()


def test_names_masks_and_positions_are_equivalent():
    X = pd.DataFrame(data(), columns=list("abcdefghi"))
    mask = np.arange(9) < 6
    ways = [BLOCKS, {"genes": list("abcdef"), "blood": ["i", "h"]}, {"genes": mask, "blood": [-1, 7]}]
    outs = [BlockScaler(way).fit_transform(X) for way in ways]
    np.testing.assert_array_equal(outs[0], outs[1])
    np.testing.assert_array_equal(outs[0], outs[2])


def test_frames_float32_clones_and_pickles():
    X = pd.DataFrame(data(), columns=list("abcdefghi")).astype(np.float32)
    scaler = BlockScaler(BLOCKS).set_output(transform="pandas")
    out = scaler.fit_transform(X)
    assert list(out.columns) == list("abcdefghi") and set(out.dtypes) == {np.dtype(np.float32)}
    copy = pickle.loads(pickle.dumps(scaler))
    pd.testing.assert_frame_equal(copy.transform(X), out)
    assert clone(scaler).get_params() == scaler.get_params()


def test_names_after_a_step_that_drops_them():
    X = pd.DataFrame(data(), columns=list("abcdefghi"))
    named = BlockScaler({"genes": list("abc")})
    with pytest.raises(ValueError, match=r"use positions, or .*set_output\(transform='pandas'\)"):
        make_pipeline(StandardScaler(), named).fit(X)
    kept = make_pipeline(StandardScaler().set_output(transform="pandas"), named).fit_transform(X)
    np.testing.assert_allclose(np.linalg.norm(kept[:, :3], 2), 1)


def test_missing_values_are_refused_in_blocks_only():
    X = pd.DataFrame(data(), columns=list("abcdefghi"))
    X.loc[3, "g"] = np.nan
    assert np.isnan(BlockScaler(BLOCKS).fit_transform(X)[3, 6])
    X.loc[3, "h"] = np.nan
    with pytest.raises(ValueError, match=r"'h' contains NaN.*block 'blood'.*LowRankImputer"):
        BlockScaler(BLOCKS).fit(X)
    X.loc[3, "h"] = np.inf
    with pytest.raises(ValueError, match="'h' contains infinity"):
        BlockScaler(BLOCKS).fit(X)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"a": [0, 1], "b": [1]}, "'x1' is in 'a' and in 'b'"),
        ({"a": []}, "no columns"),
        ({"a": slice(0, 99)}, "X has 9 columns only"),
        ({"a": [9]}, "9 is not a column of X"),
        ({"a": ["g"]}, "use positions"),
    ],
)
def test_invalid_blocks(wrong, message):
    with pytest.raises(ValueError, match=message):
        BlockScaler(wrong).fit(data())


def test_invalid_parameters():
    for wrong in ([0, 1], {}, "genes"):
        with pytest.raises(TypeError, match="a dict from the name"):
            BlockScaler(wrong).fit(data())
    with pytest.raises(ValueError, match="scaling='pca': 'mfa', 'frobenius' or None"):
        BlockScaler(scaling="pca").fit(data())


def test_a_small_block_influences_the_factors():
    """Two columns separate the classes and 300 do not; the first factors use the two only after scaling."""
    rng = np.random.default_rng(0)
    n = 60
    y = np.arange(n) % 2
    noise = rng.standard_normal((n, 4)) @ rng.standard_normal((4, 300)) + rng.standard_normal((n, 300))
    X = np.hstack([noise, rng.standard_normal((n, 2)) + 1.5 * y[:, None]])
    parts = {"noise": slice(0, 300), "signal": [300, 301]}

    def share(*scaler):
        steps = make_pipeline(StandardScaler(), *scaler)
        Vt = np.linalg.svd(steps.fit_transform(X), full_matrices=False)[2]
        return np.sum(Vt[:2, 300:] ** 2) / 2

    assert share() < 0.05
    assert share(BlockScaler(parts)) > 0.2


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_values_whose_squares_are_out_of_range(form):
    X = data()
    X[2, 7], X[3, 7] = 1e200, -1e200
    with pytest.raises(ValueError, match=r"column 'x7' holds values of size 1e\+200; .* Rescale X"):
        BlockScaler(BLOCKS).fit(form(X))
