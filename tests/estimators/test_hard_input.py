"""Difficult but valid data: all fitted numbers and predictions are finite.

RuntimeWarnings of ours (overflow, division by zero) are errors in this suite, so that a finite
result by luck does not pass either.
"""

import warnings
from collections.abc import Mapping

import numpy as np
import pytest
import scipy.sparse as sp
from tests.estimators.data import ESTIMATORS, MODELS, outcome, small

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival

X, y, _ = small(n=24, p=8)
SEPARABLE = X + 8.0 * y[:, None]
HOLES = sp.random_array((24, 20), density=0.1, rng=np.random.default_rng(0), format="csr")
HOLES = sp.csr_array(HOLES.multiply((np.arange(24) > 5)[:, None]))
COPIES = np.repeat(X[:3], 8, axis=0)
ORDER = np.argsort(np.argsort(X[:, 0])) + 1.0

TABLES = {
    "constant and zero columns": (np.c_[X, np.full(24, 3.0), np.zeros(24)], {}),
    "all but one column constant": (np.c_[X[:, :1], np.full((24, 6), 3.0)], {}),
    "all zero": (np.zeros((24, 8)), {}),
    "all zero, full rank": (np.zeros((24, 8)), {"n_components": 8}),
    "scale 1e-75": (X * 1e-75, {}),
    "scale 1e50": (X * 1e50, {}),
    "separable, tiny lam": (SEPARABLE, {"lam": 1e-8, "search": "off"}),
    "separable, lam=0": (SEPARABLE, {"lam": 0, "search": "off"}),
    "duplicate rows": (COPIES, {}),
    "more components than rank": (COPIES, {"n_components": 6}),
    "sparse with empty rows": (HOLES, {}),
    "sparse csc": (sp.csc_array(HOLES), {}),
    "float32": (X.astype(np.float32), {}),
    "r = min(n, p)": (X, {"n_components": 8}),
    "wide, tiny lam": (np.tile(X, (1, 10)), {"lam": 1e-8, "search": "off"}),
    "one feature": (X[:, :1], {"n_components": 1}),
    "integers": (np.round(5 * X).astype(int), {}),
    "lists": (X.tolist(), {}),
}
OUTCOMES = {
    "a class of one sample": (SMFClassifier, (ORDER == 1).astype(int)),
    "tiny numbers": (SMFRegressor, 1e-60 * ORDER),
    "times in order": (SMFSurvival, np.column_stack([np.ones(24), ORDER])),
    "one event": (SMFSurvival, np.column_stack([ORDER == 1, ORDER])),
    "ties": (SMFSurvival, np.column_stack([np.ones(24), np.ceil(ORDER / 12)])),
}


def infinite(name, value):
    """Return names of values that are not finite, in a number, an array, a dictionary or a list."""
    if isinstance(value, Mapping):
        return [bad for key, part in value.items() for bad in infinite(f"{name}[{key}]", part)]
    if isinstance(value, list | tuple):
        return [bad for part in value for bad in infinite(f"{name}[…]", part)]
    kind = np.asarray(value).dtype.kind
    return [name] if kind in "fc" and not np.isfinite(value).all() else []


def check_finite(fitted, data):
    """Return all public attributes, and predictions."""
    names = [name for name in dir(fitted) if name.endswith("_") and not name.startswith("_")]
    found = {name: getattr(fitted, name) for name in names if hasattr(fitted, name)}
    assert {"components_", "objective_", "codes_", "coef_"} <= set(found) | {"coef_"}
    codes = fitted.transform(data)
    found |= {"transform": codes, "predict": fitted.predict(data), "back": fitted.inverse_transform(codes)}
    if isinstance(fitted, SMFClassifier):
        found |= {name: getattr(fitted, name)(data) for name in ("predict_log_proba", "decision_function")}
        probabilities = fitted.predict_proba(data)
        np.testing.assert_allclose(np.sum(probabilities, axis=1), 1, rtol=1e-5)
        assert np.all(probabilities >= 0)
    # A lower bound that is one, save for the rounding of F.
    certificate = fitted.certificate_
    found |= {"lower_bound": certificate.lower_bound, "gap": certificate.gap}
    slack = 1e-5 if fitted.components_.dtype == np.float32 else 1e-9
    assert certificate.lower_bound <= fitted.objective_ + slack * abs(fitted.objective_)
    assert not [bad for name, value in found.items() for bad in infinite(name, value)]


def fitted_to(estimator, data, target, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a tiny ridge is hard to prove and slow to reach
        return estimator(**{"max_iter": 60, **parameters}).fit(data, target)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("table", TABLES)
def test_tables(estimator, model, table):
    data, parameters = TABLES[table]
    fitted = fitted_to(estimator, data, outcome(estimator, y), model=model, **parameters)
    check_finite(fitted, data)
    r, p = fitted.n_components, np.shape(data)[1]
    assert fitted.components_.shape == (r, p)
    assert fitted.codes_.shape == (24, r)
    assert fitted.factor_coef_.shape == (1, r)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("given", OUTCOMES)
def test_outcomes(given, model):
    estimator, target = OUTCOMES[given]
    for lam in ("auto", 1e-8):
        fitted = fitted_to(estimator, X, target, model=model, lam=lam, search="off")
        check_finite(fitted, X)


@pytest.mark.parametrize("model", MODELS)
def test_labels(model):
    names = np.array(["ill", "well"], dtype=object)
    words = SMFClassifier(model=model).fit(X, names[y])
    assert list(words.classes_) == ["ill", "well"]
    np.testing.assert_array_equal(words.predict(X), names[SMFClassifier(model=model).fit(X, y).predict(X)])
    many = fitted_to(SMFClassifier, X, np.arange(24) % 12, model=model, max_iter=10)
    check_finite(many, X)
    assert many.predict_proba(X).shape == (24, 12)
    assert many.factor_coef_.shape == (12, 2)
    few = fitted_to(SMFClassifier, X[:3, :2], [0, 1, 1], model=model)
    check_finite(few, X[:3, :2])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("scale", "dtype", "rel"), [(1e-30, float, 1e-9), (1e30, float, 1e-9), (1e15, np.float32, 1e-5)]
)
def test_units_of_x_change_only_units_of_the_result(model, scale, dtype, rel):
    """X in other units, with ξ (and λ in the filter model) changed accordingly, is the same problem."""
    parameters = {"model": model, "xi": 0.5, "lam": 0.2}
    rescaled = dict(parameters, xi=0.5 / scale**2)
    if model == "filter":
        rescaled["lam"] = 0.2 * scale**2
    one = SMFClassifier(**parameters).fit(X, y)
    other = SMFClassifier(**rescaled).fit((X * scale).astype(dtype), y)
    assert other.objective_ == pytest.approx(one.objective_, rel=rel)
    if dtype is float:
        found = other.decision_function(X * scale)
        np.testing.assert_allclose(found, one.decision_function(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "scale", "allowed"),
    [
        (np.float64, 1e150, r"between 4e-116 and 3e\+138"),
        (np.float64, 1e-150, r"between 4e-116 and 3e\+138"),
        (np.float32, 1e20, r"between 6e-15 and 1e\+17"),
        (np.float32, 1e-25, r"between 6e-15 and 1e\+17"),
    ],
)
def test_units_beyond_the_type_of_x_are_refused(dtype, scale, allowed):
    size = r"\AX: the root of its sum of squares is [^\n]*"
    message = rf"{size}{allowed} is required, beyond which [^\n]*{dtype.__name__}\. R"
    with pytest.raises(ValueError, match=message):
        SMFClassifier(2).fit((scale * X).astype(dtype), y)
