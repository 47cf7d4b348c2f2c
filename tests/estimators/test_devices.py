"""The parameter `device`: the same fit on another device, with results in the user's library."""

import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.estimators.data import outcome, small

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.estimators.inputs import devices

torch = pytest.importorskip("torch")
FITTED = (
    *("components_", "codes_", "factor_coef_", "intercept_", "covariate_coef_"),
    "explained_variance_ratio_",
)


@pytest.fixture
def through_torch(monkeypatch):
    """Let device="cpu" use the code path of a GPU, with PyTorch on the CPU."""
    monkeypatch.setattr(devices, "_stays_numpy", lambda X, device: False)


@pytest.mark.usefixtures("through_torch")
@pytest.mark.parametrize(
    ("estimator", "model", "kind"),
    [
        (SMFClassifier, "filter", np.asarray),
        (SMFClassifier, "feature", pd.DataFrame),
        (SMFRegressor, "feature", np.asarray),
        (SMFSurvival, "filter", pd.DataFrame),
    ],
)
def test_numpy_in_numpy_out(estimator, model, kind, monkeypatch):
    X, y, covariates = small(n=60)
    y = outcome(estimator, y)
    weight = np.ones(60)
    weight[7] = 0.0  # whose code is made by the fitted model
    columns = [f"x{j}" for j in range(6)]
    X = pd.DataFrame(X, columns=columns) if kind is pd.DataFrame else X
    given = {"covariates": covariates, "sample_weight": weight}
    here = estimator(model=model, lam=0.01).fit(X, y, **given)

    seen = []
    to_torch = devices._to_torch
    monkeypatch.setattr(devices, "_to_torch", lambda *a: seen.append(a) or to_torch(*a))
    there = clone(here).set_params(device="cpu").fit(X, y, **given)
    assert len(seen) == 1
    for name in FITTED:
        assert type(getattr(there, name)) is np.ndarray
        assert getattr(there, name).shape == getattr(here, name).shape
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-9)
    assert there.certificate_.is_global == here.certificate_.is_global
    for method in ("predict", "transform", *(["predict_proba"] * hasattr(here, "classes_"))):
        found, expected = (getattr(e, method)(X, covariates=covariates) for e in (there, here))
        assert type(found) is np.ndarray
        if method != "transform":  # whose signs and order are free
            np.testing.assert_allclose(found, expected, atol=1e-5)
    assert len(seen) == 1  # predicting has moved nothing
    np.testing.assert_array_equal(there.component_names_, here.component_names_)


@pytest.mark.usefixtures("through_torch")
def test_single_precision_is_kept():
    X, y, _ = small()
    fitted = SMFClassifier(device="cpu").fit(X.astype(np.float32), y)
    assert fitted.components_.dtype == fitted.predict_proba(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("solver", ["lpgd", "bcd"])
@pytest.mark.usefixtures("through_torch")
def test_every_solver(solver):
    X, y, _ = small()
    options = {"solver": solver, "max_iter": 60, "tol": 0}
    here = SMFRegressor(**options).fit(X, y)
    there = SMFRegressor(**options, device="cpu").fit(X, y)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-6)
    assert type(there.codes_) is np.ndarray


@pytest.mark.filterwarnings("error")
@pytest.mark.usefixtures("through_torch")
def test_any_layout_of_numpy():
    X, y, _ = small()
    frozen = X.copy()
    frozen.setflags(write=False)
    objectives = [
        SMFClassifier(device="cpu").fit(values, labels).objective_
        for values, labels in (
            (X, y),
            (frozen, y),
            (np.asfortranarray(X), y),
            (np.repeat(X, 2, axis=1)[:, ::2], y),
            (X[::-1, :], y[::-1]),
            (X[:, ::-1], y),
        )
    ]
    np.testing.assert_allclose(objectives, objectives[0], rtol=1e-9)


@pytest.mark.parametrize("device", [None, "cpu", torch.device("cpu")], ids=repr)
@pytest.mark.parametrize("values", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_numpy_on_the_cpu_is_unchanged(values, device):
    X = values(small()[0])
    assert devices.moved(X, device) is X


def test_pytorch_in_pytorch_out():
    X, y, _ = small()
    tensor = torch.asarray(X)
    here = SMFClassifier().fit(tensor, y)
    there = SMFClassifier(device="cpu").fit(tensor, y)
    assert isinstance(there.components_, torch.Tensor)
    assert there.objective_ == here.objective_
    assert isinstance(there.predict_proba(tensor), torch.Tensor)


@pytest.mark.parametrize("device", ["abacus", "cuda:99", "meta", ["cpu"]])
def test_invalid_devices(device):
    X, y, _ = small()
    message = r"\Adevice=[^\n]*: None, 'cpu' or a device that PyTorch can compute on[^\n]*\Z"
    with pytest.raises(ValueError, match=message):
        SMFClassifier(device=device).fit(X, y)


def test_without_pytorch(monkeypatch):
    X, y, _ = small()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"\Adevice='cuda': PyTorch is required: pip install"):
        SMFClassifier(device="cuda").fit(X, y)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix], ids=["csr", "csc"])
def test_sparse_stays_on_the_cpu(kind):
    X, y, _ = small()
    message = r"\Adevice='cuda': dense NumPy and PyTorch arrays can be moved, but not scipy\.sparse"
    with pytest.raises(ValueError, match=message):
        SMFClassifier(device="cuda").fit(kind(X), y)
    assert SMFClassifier(device="cpu").fit(kind(X), y).n_iter_ > 0


def test_arrays_of_other_libraries_are_refused():
    strict = pytest.importorskip("array_api_strict")
    X, y, _ = small()
    with pytest.raises(ValueError, match=r"device='cpu': .* array_api_strict"):
        SMFClassifier(device="cpu").fit(strict.asarray(X), y)
