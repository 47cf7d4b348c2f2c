"""PyTorch and CuPy arrays on a GPU: same objective as NumPy, results of the same library, no transfers.

All of these are skipped where there is no GPU.
"""

import numpy as np
import pytest
from sklearn.base import clone
from tests.estimators.data import MODELS

from superfactor import SMFClassifier, SMFRegressor, solution
from superfactor.estimators.base import SupervisedFactorization
from superfactor.options import Options

N, P, RANK = 3000, 70, 3
# Its optimum is proven: no time goes into other starts.
LAM = {"filter": 300.0, "feature": 0.5}
FITTED = ("components_", "codes_", "factor_coef_", "covariate_coef_", "intercept_")


def torch_cuda(X):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA here")
    return torch.asarray(X, device="cuda")


def cupy_array(X):
    cupy = pytest.importorskip("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        pytest.skip("no CUDA here")
    return cupy.asarray(X)


def host(x):
    """Convert an array of any library to NumPy."""
    return x.get() if hasattr(x, "get") else x.cpu().numpy() if hasattr(x, "cpu") else x


def on_gpu(x):
    return bool(getattr(x, "is_cuda", False)) or type(x).__module__.startswith("cupy")


every_kind = pytest.mark.parametrize("gpu", [torch_cuda, cupy_array], ids=["torch", "cupy"])
every_model = pytest.mark.parametrize("model", MODELS)
every_estimator = pytest.mark.parametrize("estimator", [SMFClassifier, SMFRegressor])


def numbers(n=N, p=P, dtype=float):
    """X (n, p) with predictive small columns, four classes, and other arguments of a fit."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) * np.linspace(3, 0.5, p)
    y = np.argmax(X[:, -4:] + 0.5 * rng.standard_normal((n, 4)), axis=1)
    weight = rng.uniform(0.5, 2, n)
    weight[::7] = 0
    return X.astype(dtype), y, {"covariates": rng.standard_normal((n, 2)), "sample_weight": weight}


def make(estimator, model, **parameters):
    lam = LAM[model] * (30 if estimator is SMFRegressor else 1)
    return estimator(RANK, model=model, lam=lam, xi=0.2, **parameters)


def choose(monkeypatch, **options):
    """Run all estimators with these options."""
    monkeypatch.setattr(SupervisedFactorization, "options", Options(**options))


@pytest.fixture(params=["exact", "basis"])
def route(request, monkeypatch):
    """Small data with a decomposed Gram matrix, and data represented by a basis only."""
    if request.param == "basis":
        choose(monkeypatch, exact_side=0, whole_range=0)
    return request.param


# --- the same optimum --------------------------------------------------------------------------------------


@every_kind
@every_model
@every_estimator
@pytest.mark.parametrize("extra", ["plain", "everything"])
def test_optimum_equals_numpy_and_results_stay_on_the_device(extra, estimator, model, gpu, route):
    X, y, given = numbers()
    there = gpu(X)
    given = given if extra == "everything" else {}
    columns = [2] if extra == "everything" else None
    expected = make(estimator, model, covariate_columns=columns).fit(X, y, **given)
    moved = {name: gpu(value) for name, value in given.items()}
    found = make(estimator, model, covariate_columns=columns).fit(there, gpu(y), **moved)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    for name in FITTED:
        value, truth = getattr(found, name), getattr(expected, name)
        assert type(value) is type(there)
        assert on_gpu(value)
        np.testing.assert_allclose(host(value), truth, atol=1e-4 * (1 + np.abs(truth).max(initial=0)))
    proof, truth = found.certificate_, expected.certificate_
    assert proof.is_global == truth.is_global
    assert proof.lower_bound <= expected.objective_ * (1 + 1e-12)
    given.pop("sample_weight", None)
    for method in ("predict_proba", "transform", "predict"):
        if hasattr(found, method):
            value = getattr(found, method)(there, **given)
            assert type(value) is type(there)
            assert on_gpu(value)
            np.testing.assert_allclose(
                host(value), getattr(expected, method)(X, **given), atol=1e-3, rtol=1e-4
            )
    assert found.score(there, y, **given) == pytest.approx(expected.score(X, y, **given), abs=1e-3)


@every_kind
@every_model
def test_single_precision(model, gpu, route):
    X, y, given = numbers()
    expected = make(SMFClassifier, model).fit(X, y, **given)
    there = gpu(X.astype(np.float32))
    found = make(SMFClassifier, model).fit(there, y, **given)
    assert found.components_.dtype == found.codes_.dtype == there.dtype
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-4)


@every_kind
@every_model
def test_start_with_a_subsample(model, gpu, monkeypatch):
    X, y, given = numbers()
    there = gpu(X)
    expected = make(SMFClassifier, model).fit(X, y, **given)
    choose(monkeypatch, fewest_subsample=100)
    found = make(SMFClassifier, model).fit(there, y, **given)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-8)


@every_kind
def test_a_cpu_checkpoint_is_resumed_on_the_gpu(gpu, route, tmp_path):
    X, y, given = numbers()
    there = gpu(X)
    whole = make(SMFClassifier, "feature").fit(X, y, **given)
    fit = make(SMFClassifier, "feature", checkpoint=tmp_path / "fit.npz", certify=None)
    with pytest.warns(UserWarning, match="has not converged"):
        clone(fit).set_params(max_iter=whole.n_iter_ - 4).fit(X, y, **given)
    found = fit.fit(there, y, **given)
    assert found.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert found.n_iter_ < whole.n_iter_


# --- device= -----------------------------------------------------------------------------------------


@every_model
@every_estimator
@pytest.mark.parametrize("kind", ["array", "memmap"])
def test_device_moves_numpy_and_returns_numpy(kind, estimator, model, route, tmp_path):
    X, y, given = numbers()
    torch_cuda(X[:1])
    expected = make(estimator, model).fit(X, y, **given)
    data = X
    if kind == "memmap":
        np.save(tmp_path / "x.npy", X)
        data = np.load(tmp_path / "x.npy", mmap_mode="r")
    found = make(estimator, model, device="cuda").fit(data, y, **given)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    for name in FITTED:
        assert type(getattr(found, name)) is np.ndarray
    assert type(found.predict(data, covariates=given["covariates"])) is np.ndarray


# --- what travels ------------------------------------------------------------------------------------


def transfers():
    """A dispatch mode that records the sizes of tensors that move between devices."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Transfers(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.sizes, self.watching = [], False

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            out = function(*args, **(kwargs or {}))
            if self.watching and function.overloadpacket.__name__ in ("_to_copy", "copy_"):
                source = args[1] if function.overloadpacket.__name__ == "copy_" else args[0]
                if source.device != out.device:
                    self.sizes.append(source.numel())
            return out

    return Transfers()


@every_model
@every_estimator
@pytest.mark.parametrize("share", [False, True], ids=["all", "a share first"])
def test_no_large_array_moves_during_the_search(share, estimator, model, route, monkeypatch):
    n = 20_000  # more than any matrix of features by features has entries
    X, y, _ = numbers(n=n)
    there = torch_cuda(X)
    if share:
        choose(monkeypatch, exact_side=0, whole_range=0, fewest_subsample=100)
    seen = transfers()
    record = solution.Monitor.record

    def recording(self, *args):
        seen.watching = True
        record(self, *args)

    monkeypatch.setattr(solution.Monitor, "record", recording)
    with seen:
        fit = make(estimator, model).fit(there, y)
    assert fit.n_iter_ > 2
    assert seen.watching
    assert max(seen.sizes, default=0) < n


def test_results_of_pytorch_arrays_stay_on_the_device():
    device = "cuda"
    X, y, _ = numbers()
    tensor = torch_cuda(X).cpu()
    fitted = make(SMFClassifier, "filter", device=device).fit(tensor, y)
    assert fitted.components_.device.type == device
    for result in (fitted.predict_proba(tensor), fitted.transform(tensor.to(device))):
        assert result.device.type == device
    back = make(SMFClassifier, "filter", device="cpu").fit(tensor.to(device), y)
    assert back.components_.device.type == "cpu"
    assert back.objective_ == pytest.approx(fitted.objective_, rel=1e-9)
