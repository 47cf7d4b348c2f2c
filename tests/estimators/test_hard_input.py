"""Awkward data that must work: every fitted number and every prediction stays finite.

RuntimeWarnings of ours (overflow, division by zero) are errors in this suite, so that a finite
result by luck does not pass either.
"""

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from tests.estimators.data import ESTIMATORS, MODELS, small

from superfactor import SMFClassifier

X, y, _ = small(n=30, p=8)
SEPARABLE = X + 8.0 * y[:, None]
HOLES = sp.random_array((40, 20), density=0.1, rng=np.random.default_rng(0), format="csr")
HOLES = sp.csr_array(HOLES.multiply((np.arange(40) > 5)[:, None]))
HALF = np.arange(40) % 2

CASES = {
    "constant and zero columns": (np.c_[X, np.full(30, 3.0), np.zeros(30)], y, {}),
    "all zero": (np.zeros((30, 8)), y, {}),
    "all zero, full rank": (np.zeros((30, 8)), y, {"n_components": 8}),
    "scale 1e-100": (X * 1e-100, y, {}),
    "scale 1e50": (X * 1e50, y, {}),
    "separable, tiny lam": (SEPARABLE, y, {"lam": 1e-8}),
    "lam=0": (X, y, {"lam": 0}),
    "separable, lam=0": (SEPARABLE, y, {"lam": 0}),
    "p=2, n=3": (X[:3, :2], np.array([0, 1, 1]), {}),
    "duplicate rows": (np.repeat(X[:3], 10, axis=0), np.repeat([0, 1, 1], 10), {}),
    "more components than rank": (
        np.repeat(X[:3], 10, axis=0),
        np.repeat([0, 1, 1], 10),
        {"n_components": 6},
    ),
    "sparse with empty rows": (HOLES, HALF, {}),
    "sparse csc": (sp.csc_array(HOLES), HALF, {}),
    "float32": (X.astype(np.float32), y, {}),
    "r = min(n, p), tall": (X, y, {"n_components": 8}),
    "r = min(n, p), wide": (X.T.copy(), y[:8], {"n_components": 8}),
    "wide": (np.ascontiguousarray(np.tile(X, (1, 10))), y, {}),
    "Fortran order": (np.asfortranarray(X), y, {}),
    "one feature": (X[:, :1], y, {"n_components": 1}),
    "integers": (np.round(5 * X).astype(int), y, {}),
    "lists": (X.tolist(), y.tolist(), {}),
}


def check_finite(fitted, data):
    arrays = [fitted.components_, fitted.codes_, fitted.factor_coef_, fitted.intercept_]
    arrays += [fitted.covariate_coef_, fitted.predict(data), fitted.transform(data)]
    arrays += [fitted.inverse_transform(fitted.transform(data))]
    if isinstance(fitted, SMFClassifier):
        probabilities = fitted.predict_proba(data)
        arrays += [probabilities, fitted.decision_function(data), fitted.predict_log_proba(data)]
        np.testing.assert_allclose(np.sum(probabilities, axis=1), 1, rtol=1e-5)
        assert np.all(probabilities >= 0)
    for array in arrays:
        assert np.all(np.isfinite(np.asarray(array)))
    assert math.isfinite(fitted.objective_)
    # A lower bound that is one, save for the rounding of F.
    certificate = fitted.certificate_
    slack = 1e-5 if fitted.components_.dtype == np.float32 else 1e-9
    assert certificate.lower_bound <= fitted.objective_ + slack * abs(fitted.objective_)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("case", CASES)
def test_stays_finite(estimator, model, case):
    data, target, parameters = CASES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = estimator(**{"model": model, "max_iter": 60, **parameters}).fit(data, target)
    check_finite(fitted, data)
    r, p = fitted.n_components, np.shape(data)[1]
    assert fitted.components_.shape == (r, p)
    assert fitted.codes_.shape == (np.shape(data)[0], r)
    assert fitted.factor_coef_.shape == (1, r)


@pytest.mark.parametrize("model", MODELS)
def test_string_labels(model):
    names = np.array(["ill", "well"], dtype=object)[y]
    fitted = SMFClassifier(model=model).fit(X, names)
    predicted = fitted.predict(X)
    assert list(fitted.classes_) == ["ill", "well"]
    assert set(predicted) <= {"ill", "well"}
    by_number = SMFClassifier(model=model).fit(X, y)
    np.testing.assert_array_equal(predicted, names_of(by_number.predict(X)))


def names_of(labels):
    return np.array(["ill", "well"], dtype=object)[labels]


@pytest.mark.parametrize("model", MODELS)
def test_twenty_classes_on_forty_samples(model):
    data = np.random.default_rng(1).standard_normal((40, 10))
    target = np.arange(40) % 20
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = SMFClassifier(model=model, max_iter=10).fit(data, target)
    check_finite(fitted, data)
    assert fitted.predict_proba(data).shape == (40, 20)
    assert fitted.factor_coef_.shape == (20, 2)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_units_of_x_only_change_the_units_of_the_answer(model, scale):
    """X in other units with ξ (and in the filter model λ) to match is the same problem."""
    parameters = {"model": model, "xi": 0.5, "lam": 0.2}
    rescaled = dict(parameters, xi=0.5 / scale**2)
    if model == "filter":
        rescaled["lam"] = 0.2 * scale**2
    one = SMFClassifier(**parameters).fit(X, y)
    other = SMFClassifier(**rescaled).fit(X * scale, y)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-9)
    np.testing.assert_allclose(
        other.decision_function(X * scale), one.decision_function(X), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("dtype", "scale", "allowed"),
    [
        (np.float64, 1e150, r"between 4e-116 and 3e\+138"),
        (np.float64, 1e-150, r"between 4e-116 and 3e\+138"),
        (np.float32, 1e20, r"between 6e-15 and 1e\+17"),
        (np.float32, 1e-25, r"between 6e-15 and 1e\+17"),
    ],
    ids=["large", "small", "large in single precision", "small in single precision"],
)
def test_units_beyond_the_type_of_x_are_refused(model, dtype, scale, allowed):
    X, y, _ = small()
    size = r"\AX: the root of its sum of squares is [^\n]*"
    message = rf"{size}{allowed} is required, beyond which [^\n]*{dtype.__name__}\. R"
    with pytest.raises(ValueError, match=message):
        SMFClassifier(2, model=model).fit((scale * X).astype(dtype), y)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("scale", [1e-15, 1e15], ids=str)
def test_units_that_single_precision_can_hold(model, scale):
    X, y, _ = small()
    lam = 10.0 * scale**2 if model == "filter" else 0.1
    make = {"n_components": 2, "model": model, "lam": lam, "xi": 1 / scale**2}
    expected = SMFClassifier(**make).fit(scale * X, y)
    found = SMFClassifier(**make).fit((scale * X).astype(np.float32), y)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-5)
    assert np.isfinite(found.components_).all()
    assert np.isfinite(found.factor_coef_).all()
