"""Data that cannot be fitted: an error that names the argument, for every estimator."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.estimators.data import ESTIMATORS, outcome, small
from tests.libraries import LIBRARIES

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor, SMFRegressorCV

X, y, Z = small()


def changed(array, index, value):
    array = np.array(array, dtype=float)
    array[index] = value
    return array


# Other X, other arguments of fit, and what is said of them.
FIT = [
    (changed(X, (3, 2), np.nan), {}, r"Input X contains NaN"),
    (changed(X, (3, 2), np.inf), {}, r"Input X contains infinity"),
    (sp.csr_array(changed(X, (3, 2), np.nan)), {}, r"Input X contains NaN"),
    (X.astype(str).astype(object) + "a", {}, r"X: numbers are required.*convert"),
    (pd.DataFrame({"a": ["u"] * 40, "b": X[:, 0]}), {}, r"X: numbers are required"),
    (X[:, 0], {}, r"Expected 2D array, got 1D array"),
    (X[:, :0], {}, r"0 feature\(s\)"),
    (X + 1j, {}, r"^(?!X: numbers).*Complex data not supported"),
    (X[:-1], {}, r"y: 40 samples, but X has 39"),
    (X, {"covariates": Z[:-1]}, r"covariates: 39 samples, but X has 40"),
    (X, {"covariates": changed(Z, 0, np.inf)}, r"covariates contains infinity"),
    (X, {"covariates": Z[None]}, r"dim 3"),
    (X, {"covariates": np.full((40, 1), "a")}, r"covariates: column 0 is 'a' for every"),
    (X, {"sample_weight": np.ones(39)}, r"sample_weight: 39 samples, but X has 40"),
    (X, {"sample_weight": changed(np.ones(40), 5, -1)}, r"sample_weight: Negative"),
    (X, {"sample_weight": -1.0}, r"sample_weight: Negative .*smallest -1\.0"),
    (X, {"sample_weight": np.zeros(40)}, r"sample_weight: .*non-zero"),
    (X, {"sample_weight": changed(np.ones(40), 5, np.nan)}, r"weight contains"),
    (X, {"sample_weight": np.full(40, "a")}, r"sample_weight: numbers are required"),
    (X, {"sample_weight": np.ones((40, 2))}, r"sample_weight: .*must be 1D"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fit(estimator):
    for data, more, message in FIT:
        with pytest.raises(ValueError, match=message):
            estimator().fit(data, outcome(estimator, y), **more)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        estimator().fit(X[:0], outcome(estimator, y)[:0])
    with pytest.raises(ValueError, match=r"y=None: SMF\w+ requires y to be passed"):
        estimator().fit(X, None)
    with pytest.raises(TypeError, match="y: Sparse data"):
        estimator().fit(X, sp.csr_array(y[:, None]))


def test_labels_must_be_labels_and_targets_numbers():
    with pytest.raises(ValueError, match=r"y: SMFClassifier needs .* 2 classes .* one class only"):
        SMFClassifier().fit(X, np.ones(40))
    with pytest.raises(ValueError, match=r"one class only: 1$"):
        SMFClassifier().fit(X, y, sample_weight=y)
    with pytest.raises(ValueError, match="continuous"):
        SMFClassifier().fit(X, X[:, 0])
    with pytest.raises(
        TypeError, match=r"y: labels of one sortable type are required, got int, str; convert"
    ):
        SMFClassifier().fit(X, np.array(["a", 1] * 20, dtype=object))
    with pytest.raises(
        ValueError, match=r"y: 2(\.0)? in column 1; each of several columns is a yes/no label"
    ):
        SMFClassifier().fit(X, np.c_[y, 2 * y])
    with pytest.raises(ValueError, match="dim 3"):
        SMFClassifier().fit(X, np.zeros((40, 2, 2)))
    for estimator in (SMFClassifier, SMFRegressor):
        with pytest.raises(ValueError, match="Input y contains infinity"):
            estimator().fit(X, changed(y, 0, np.inf))
    with pytest.raises(ValueError, match=r"y: one or two dimensions"):
        SMFRegressor().fit(X, y[:, None, None])
    with pytest.raises(ValueError, match="y: numbers are required"):
        SMFRegressor().fit(X, np.where(y, "a", "b"))


def methods(estimator):
    more = ["predict_proba", "predict_log_proba", "decision_function"]
    return ["predict", "transform", *(more if isinstance(estimator, SMFClassifier) else [])]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_prediction(estimator):
    fitted = estimator().fit(X, outcome(estimator, y))
    for name in methods(fitted):
        method = getattr(fitted, name)
        with pytest.raises(ValueError, match=r"X has 5 features, but SMF\w+ is expecting 6"):
            method(X[:, :5])
        with pytest.raises(ValueError, match="contains NaN"):
            method(changed(X, (0, 0), np.nan))
        with pytest.raises(ValueError, match="Expected 2D array"):
            method(X[0])
        with pytest.raises(ValueError, match=r"covariates: 2 column\(s\), .* fitted with 0"):
            method(X, covariates=Z)
    with pytest.raises(ValueError, match=r"codes: 3 column\(s\), but the model has 2"):
        fitted.inverse_transform(np.ones((4, 3)))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_covariates_at_fit_are_needed_at_prediction(estimator):
    target = outcome(estimator, y)
    fitted = estimator().fit(X, target, covariates=Z)
    for name in set(methods(fitted)) - {"transform"}:
        method = getattr(fitted, name)
        with pytest.raises(ValueError, match=rf"covariates=None: .*fitted with 2 .*, so {name} needs"):
            method(X)
        with pytest.raises(ValueError, match=r"covariates: 1 column\(s\), .* fitted with 2"):
            method(X, covariates=Z[:, :1])
        with pytest.raises(ValueError, match=r"covariates: 3 samples, but X has 40"):
            method(X, covariates=Z[:3])
    with pytest.raises(ValueError, match="covariates=None"):
        fitted.score(X, target)
    # Codes do not depend on covariates, so transform takes them or leaves them.
    np.testing.assert_array_equal(fitted.transform(X), fitted.transform(X, covariates=Z))
    with pytest.raises(ValueError, match=r"covariates: 1 column\(s\), .* fitted with 2"):
        fitted.transform(X, covariates=Z[:, 0])


def test_columns_and_covariates_keep_their_names():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    with pytest.raises(ValueError, match=r"covariate_columns='age': X has no column 'age'"):
        SMFClassifier(covariate_columns="age").fit(frame, y)
    fitted = SMFClassifier(covariate_columns="b").fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame.rename(columns={"b": "B"}))
    beside = pd.DataFrame(Z, columns=["age", "sex"])
    fitted = SMFClassifier().fit(X, y, covariates=beside)
    expected = fitted.predict_proba(X, covariates=beside)
    # No names, no check.
    np.testing.assert_allclose(fitted.predict_proba(X, covariates=Z), expected, rtol=1e-12)
    said = r"covariates: columns \['sex', 'age'\], .* with \['age', 'sex'\]"
    for name in methods(fitted):
        with pytest.raises(ValueError, match=said):
            getattr(fitted, name)(X, covariates=beside.set_axis(["sex", "age"], axis=1))
    fitted.fit(X, y, covariates=Z)  # names are forgotten with the fit that had them
    np.testing.assert_allclose(fitted.predict_proba(X, covariates=beside), expected, rtol=1e-9)


@pytest.mark.parametrize("asarray", LIBRARIES)
def test_invalid_arrays_of_other_libraries(asarray):
    for bad, message in [
        (changed(X, 0, np.nan), "contains NaN or infinity"),
        (X[0], "Expected 2D array"),
        (X[:0], "at least 1 sample"),
        (X + 1j, "Complex data not supported"),
    ]:
        with pytest.raises(ValueError, match=message):
            SMFClassifier().fit(asarray(bad), y)
    fitted = SMFClassifier().fit(asarray(X), y)
    with pytest.raises(ValueError, match="X has 5 features"):
        fitted.predict(asarray(X[:, :5]))
    with pytest.raises(ValueError, match=r"SMFClassifier\.predict\(\) must use the same namespace"):
        SMFClassifier().fit(X, y).predict(asarray(X))


class Annotated:
    """An object with the attributes of anndata.AnnData."""

    X = X
    obs = pd.DataFrame({"y": y})


@pytest.mark.parametrize("estimator", [*ESTIMATORS, SMFClassifierCV])
def test_error_for_anndata_names_what_to_pass(estimator):
    expected = r"^X: Annotated holds .*; superfactor\.anndata\.tl\.smf\(.*, or pass adata\.X as X .* as y$"
    with pytest.raises(TypeError, match=expected):
        estimator().fit(Annotated(), "y")
    fitted = estimator(2, xi=1.0, lam=1.0).fit(X, outcome(estimator, y))
    with pytest.raises(TypeError, match=expected):
        fitted.predict(Annotated())


def test_a_table_may_have_columns_named_obs_and_X():
    table = pd.DataFrame(X).set_axis(["X", "obs", *(f"x{j}" for j in range(X.shape[1] - 2))], axis=1)
    assert SMFClassifier().fit(table, y).n_features_in_ == X.shape[1]


@pytest.mark.parametrize("estimator", [SMFClassifier, SMFRegressor, SMFClassifierCV, SMFRegressorCV])
def test_invalid_targets(estimator):
    with pytest.raises(ValueError, match=r"^y='status': one value per sample .*table\['status'\]\)$"):
        estimator().fit(pd.DataFrame(X), "status")
    times = np.array([(True, 1.5)] * 40, dtype=[("event", bool), ("time", float)])
    with pytest.raises(ValueError, match=r"one value per sample .*\['event', 'time'\].* SMFSurvival$"):
        estimator().fit(X, times)
