"""Data that cannot be fitted: an error that names the argument, for both models and estimators."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.estimators.data import ESTIMATORS, MODELS, small

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor, SMFRegressorCV

X, y, Z = small()


def changed(array, index, value):
    array = np.array(array, dtype=float)
    array[index] = value
    return array


FIT = [
    (changed(X, (3, 2), np.nan), y, {}, ValueError, r"Input X contains NaN"),
    (changed(X, (3, 2), np.inf), y, {}, ValueError, r"Input X contains infinity"),
    (sp.csr_array(changed(X, (3, 2), np.nan)), y, {}, ValueError, r"Input X contains NaN"),
    (X.astype(str).astype(object) + "a", y, {}, ValueError, r"X: numbers are required.*convert"),
    (pd.DataFrame({"a": ["u"] * 40, "b": X[:, 0]}), y, {}, ValueError, r"X: numbers are required"),
    (X[:, 0], y, {}, ValueError, r"Expected 2D array, got 1D array"),
    (X[:0], y[:0], {}, ValueError, r"0 sample\(s\)"),
    (X[:, :0], y, {}, ValueError, r"0 feature\(s\)"),
    (X + 1j, y, {}, ValueError, r"Complex data not supported"),
    (X, y[:-1], {}, ValueError, r"y: 39 samples, but X has 40"),
    (X, None, {}, ValueError, r"y=None: SMF\w+ requires y to be passed"),
    (X, changed(y, 0, np.inf), {}, ValueError, r"Input y contains infinity"),
    (X, changed(y, 0, np.inf), {}, ValueError, r"Input y contains infinity"),
    (X, sp.csr_array(y[:, None]), {}, TypeError, r"y: Sparse data"),
    (X, y, {"covariates": Z[:-1]}, ValueError, r"covariates: 39 samples, but X has 40"),
    (X, y, {"covariates": changed(Z, 0, np.inf)}, ValueError, r"covariates contains infinity"),
    (X, y, {"covariates": Z[None]}, ValueError, r"dim 3"),
    (X, y, {"covariates": np.full((40, 1), "a")}, ValueError, r"covariates: column 0 is 'a' for every"),
    (X, y, {"sample_weight": np.ones(39)}, ValueError, r"sample_weight: 39 samples, but X has 40"),
    (X, y, {"sample_weight": changed(np.ones(40), 5, -1)}, ValueError, r"sample_weight: Negative"),
    (X, y, {"sample_weight": -1.0}, ValueError, r"sample_weight: Negative .*smallest -1\.0"),
    (X, y, {"sample_weight": np.zeros(40)}, ValueError, r"sample_weight: .*non-zero"),
    (X, y, {"sample_weight": changed(np.ones(40), 5, np.nan)}, ValueError, r"weight contains"),
    (X, y, {"sample_weight": np.ones((40, 2))}, ValueError, r"sample_weight: .*must be 1D"),
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("data", "target", "more", "kind", "message"), FIT, ids=[case[4][:30] for case in FIT]
)
def test_fit(estimator, model, data, target, more, kind, message):
    with pytest.raises(kind, match=message):
        estimator(model=model).fit(data, target, **more)


@pytest.mark.parametrize("model", MODELS)
def test_one_class_only(model):
    with pytest.raises(ValueError, match=r"y: SMFClassifier needs .* 2 classes .* one class only"):
        SMFClassifier(model=model).fit(X, np.ones(40))
    with pytest.raises(ValueError, match=r"one class only: 1$"):
        SMFClassifier(model=model).fit(X, y, sample_weight=y)


def test_labels_must_be_labels():
    with pytest.raises(ValueError, match="continuous"):
        SMFClassifier().fit(X, X[:, 0])
    with pytest.raises(TypeError, match=r"y: labels of one kind .* are required, got int, str; make"):
        SMFClassifier().fit(X, np.array(["a", 1] * 20, dtype=object))
    with pytest.raises(ValueError, match=r"y should be a 1d array"):
        SMFClassifier().fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match=r"y: one or two dimensions"):
        SMFRegressor().fit(X, y[:, None, None])
    with pytest.raises(ValueError, match="y: numbers are required"):
        SMFRegressor().fit(X, np.where(y, "a", "b"))


def methods(estimator):
    names = ["predict", "transform"]
    if isinstance(estimator, SMFClassifier):
        names += ["predict_proba", "predict_log_proba", "decision_function"]
    return names


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_prediction(estimator, model):
    fitted = estimator(model=model).fit(X, y)
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


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_covariates_at_fit_are_needed_at_prediction(estimator, model):
    fitted = estimator(model=model).fit(X, y, covariates=Z)
    for name in set(methods(fitted)) - {"transform"}:
        method = getattr(fitted, name)
        with pytest.raises(
            ValueError, match=rf"covariates=None: .*fitted with 2 covariate.*, so {name} needs"
        ):
            method(X)
        with pytest.raises(ValueError, match=r"covariates: 1 column\(s\), .* fitted with 2"):
            method(X, covariates=Z[:, :1])
        with pytest.raises(ValueError, match=r"covariates: 3 samples, but X has 40"):
            method(X, covariates=Z[:3])
    with pytest.raises(ValueError, match="covariates=None"):
        fitted.score(X, y)
    # Codes do not depend on covariates, so transform takes them or leaves them.
    np.testing.assert_array_equal(fitted.transform(X), fitted.transform(X, covariates=Z))
    with pytest.raises(ValueError, match=r"covariates: 1 column\(s\), .* fitted with 2"):
        fitted.transform(X, covariates=Z[:, 0])


def test_columns_by_name_must_exist_and_keep_their_names():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    with pytest.raises(ValueError, match=r"covariate_columns='age': X has no column 'age'"):
        SMFClassifier(covariate_columns="age").fit(frame, y)
    fitted = SMFClassifier(covariate_columns="b").fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame.rename(columns={"b": "B"}))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_covariates_keep_their_names(estimator):
    frame = pd.DataFrame(Z, columns=["age", "sex"])
    fitted = estimator().fit(X, y, covariates=frame)
    expected = fitted.predict(X, covariates=frame)
    # No names, no check.
    np.testing.assert_allclose(fitted.predict(X, covariates=Z), expected, rtol=1e-12)
    for other in (["sex", "age"], ["age", "size"]):
        for name in methods(fitted):
            with pytest.raises(
                ValueError, match=rf"covariates: columns \['{other[0]}', .* with \['age', 'sex'\]"
            ):
                getattr(fitted, name)(X, covariates=frame.set_axis(other, axis=1))
    fitted.fit(X, y, covariates=Z)  # names are forgotten with the fit that had them
    np.testing.assert_allclose(fitted.predict(X, covariates=frame), expected, rtol=1e-9)


def test_another_library_at_prediction():
    torch = pytest.importorskip("torch")
    fitted = SMFClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"SMFClassifier\.predict\(\) must use the same namespace"):
        fitted.predict(torch.asarray(X))


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
def test_bad_arrays_of_other_libraries(library):
    xp = pytest.importorskip(library)
    for bad, message in [
        (changed(X, 0, np.nan), "contains NaN or infinity"),
        (X[0], "Expected 2D array"),
        (X[:0], "at least 1 sample"),
        (X + 1j, "Complex data not supported"),
    ]:
        with pytest.raises(ValueError, match=message):
            SMFClassifier().fit(xp.asarray(bad), y)
    fitted = SMFClassifier().fit(xp.asarray(X), y)
    with pytest.raises(ValueError, match="X has 5 features"):
        fitted.predict(xp.asarray(X[:, :5]))


class Annotated:
    """What anndata.AnnData looks like from outside."""

    X = X
    obs = pd.DataFrame({"y": y})


@pytest.mark.parametrize("estimator", [*ESTIMATORS, SMFClassifierCV])
def test_annotated_data_are_refused_with_what_to_pass(estimator):
    expected = r"^X: Annotated holds .*; superfactor\.anndata\.tl\.smf\(.*, or pass adata\.X as X .* as y$"
    with pytest.raises(TypeError, match=expected):
        estimator().fit(Annotated(), "y")
    fitted = estimator(2, xi=1.0, lam=1.0).fit(Annotated.X, Annotated.obs["y"])
    with pytest.raises(TypeError, match=expected):
        fitted.predict(Annotated())


def test_a_table_may_have_columns_of_these_names():
    table = pd.DataFrame(X).set_axis(["X", "obs", *(f"x{j}" for j in range(X.shape[1] - 2))], axis=1)
    assert SMFClassifier().fit(table, y).n_features_in_ == X.shape[1]


@pytest.mark.parametrize("estimator", [*ESTIMATORS, SMFClassifierCV])
def test_the_name_of_a_column_is_no_target(estimator):
    with pytest.raises(ValueError, match=r"^y='status': one value a sample .*table\['status'\]\)$"):
        estimator().fit(pd.DataFrame(X), "status")


@pytest.mark.parametrize("estimator", [*ESTIMATORS, SMFClassifierCV, SMFRegressorCV])
def test_survival_times_are_for_another_estimator(estimator):
    times = np.array([(True, 1.5)] * 40, dtype=[("event", bool), ("time", float)])
    with pytest.raises(ValueError, match=r"one value a sample .*\['event', 'time'\].* SMFSurvival$"):
        estimator().fit(X, times)
