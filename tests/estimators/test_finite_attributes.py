"""Whatever finite numbers a fit is given, its public attributes hold no infinity and no NaN."""

import warnings
from collections.abc import Mapping

import numpy as np
import pytest
from tests.estimators.data import MODELS

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival

RNG = np.random.default_rng(0)
PLAIN = RNG.standard_normal((24, 7))
ORDER = np.argsort(np.argsort(PLAIN[:, 0])) + 1.0
HIGH = ORDER > 12

TABLES = {
    "ordinary": PLAIN,
    "wide": np.hstack([PLAIN, RNG.standard_normal((24, 40))]),
    "large": 1e75 * PLAIN,
    "small": 1e-75 * PLAIN,
    "all but one column constant": np.hstack([PLAIN[:, :1], np.full((24, 6), 3.0)]),
    "copies of three samples": PLAIN[np.arange(24) % 3],
}
OUTCOMES = {
    "separable classes": (SMFClassifier, HIGH.astype(int)),
    "a class of one sample": (SMFClassifier, (ORDER == 1).astype(int)),
    "separable numbers": (SMFRegressor, HIGH.astype(float)),
    "tiny numbers": (SMFRegressor, 1e-60 * ORDER),
    "times in order": (SMFSurvival, np.column_stack([np.ones(24), ORDER])),
    "one event": (SMFSurvival, np.column_stack([ORDER == 1, ORDER])),
    "ties": (SMFSurvival, np.column_stack([np.ones(24), np.ceil(ORDER / 12)])),
}


def infinite(name, value):
    """Names of what is not finite in a number, an array, or a dictionary or list of them."""
    if isinstance(value, Mapping):
        return [bad for key, part in value.items() for bad in infinite(f"{name}[{key}]", part)]
    if isinstance(value, list | tuple):
        return [bad for part in value for bad in infinite(f"{name}[…]", part)]
    kind = np.asarray(value).dtype.kind
    return [name] if kind in "fc" and not np.isfinite(value).all() else []


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("lam", ["auto", 1e-8])
@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("table", TABLES)
def test_attributes_are_finite(table, outcome, lam, model):
    (estimator, y), X = OUTCOMES[outcome], TABLES[table]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a tiny ridge is hard to prove and slow to reach
        fitted = estimator(2, model=model, lam=lam).fit(X, y)
    names = [name for name in dir(fitted) if name.endswith("_") and not name.startswith("_")]
    names = [name for name in names if hasattr(fitted, name)]
    assert "components_" in names and "objective_" in names
    bad = [each for name in names for each in infinite(name, getattr(fitted, name))]
    certificate = fitted.certificate_
    bad += infinite("lower_bound", certificate.lower_bound) + infinite("gap", certificate.gap)
    bad += infinite("predict", fitted.predict(X)) + infinite("transform", fitted.transform(X))
    assert not bad
