"""Outcomes of every kind from obs, compared with the estimators on plain arrays, also from a file."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor, SMFSurvival

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

import superfactor.anndata as sfa  # noqa: E402

N, P = 200, 30


@pytest.fixture
def adata():
    rng = np.random.default_rng(0)
    rate = rng.gamma(2.0, size=(N, 2)) @ rng.gamma(0.5, size=(2, P))
    X = np.log1p(rng.poisson(rate))
    signal = X[:, :5].mean(axis=1) - X[:, :5].mean()
    time = rng.exponential(np.exp(-2 * signal))
    obs = pd.DataFrame(
        {
            "age": 50 + 10 * signal + rng.normal(size=N),
            "bmi": 25 - 3 * signal + rng.normal(size=N),
            "visits": rng.poisson(np.exp(signal + 1)),
            "ill": signal + 0.3 * rng.normal(size=N) > 0,
            "male": rng.integers(0, 2, N),
            "time": np.minimum(time, 1.5),
            "status": np.where(time < 1.5, "dead", "alive"),
            "sex": rng.choice(["f", "m"], N),
        },
        index=[f"cell{i}" for i in range(N)],
    )
    obs["dead"] = obs["status"] == "dead"
    return anndata.AnnData(sp.csr_matrix(X), obs=obs, var=pd.DataFrame(index=[f"gene{j}" for j in range(P)]))


def kinds():
    return {
        "numbers": ({"label": "age"}, SMFRegressor, lambda o: o["age"], ["smf_predicted"]),
        "gaps": ({"label": "some"}, SMFRegressor, lambda o: o["some"], ["smf_predicted"]),
        "several": (
            {"label": ["age", "bmi"]},
            SMFRegressor,
            lambda o: o[["age", "bmi"]],
            ["smf_predicted_age", "smf_predicted_bmi"],
        ),
        "times": (
            {"time": "time", "event": "dead"},
            SMFSurvival,
            lambda o: np.column_stack([o["dead"], o["time"]]).astype(float),
            ["smf_risk"],
        ),
        "flags": (
            {"label": ["ill", "male"]},
            SMFClassifier,
            lambda o: o[["ill", "male"]].astype(float),
            ["smf_probability_ill", "smf_probability_male"],
        ),
    }


def said_by(model, X, table):
    """Predictions (n, k) of the estimator: probabilities if there are any."""
    method = getattr(model, "predict_proba", model.predict)
    found = np.asarray(method(X, covariates=table))
    return found.reshape(len(found), -1)


@pytest.mark.parametrize("covariates", [(), ("sex",)])
@pytest.mark.parametrize("kind", list(kinds()))
def test_written_values_equal_the_estimator(adata, kind, covariates, tmp_path):
    asked, estimator, y, columns = kinds()[kind]
    adata.obs["some"] = adata.obs["age"].where(np.arange(N) % 4 > 0)
    sfa.tl.smf(adata, **asked, n_components=2, covariates=covariates)
    table = adata.obs[list(covariates)] if covariates else None
    plain = estimator(2).fit(adata.X, y(adata.obs), covariates=table)
    expected = said_by(plain, adata.X, table)
    np.testing.assert_allclose(adata.obs[columns].to_numpy(dtype=float), expected, rtol=1e-5, atol=1e-5)
    assert adata.uns["smf"]["objective"] == pytest.approx(plain.objective_, rel=1e-6)
    assert adata.uns["smf"]["n_labeled"] == plain.n_labeled_ == N - (N // 4) * (kind == "gaps")
    adata.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    new = adata[::-1].copy()
    new.obs = new.obs[["sex"]]
    sfa.tl.project(new, read)
    found = new.obs[columns].to_numpy(dtype=float)[::-1]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    view = sfa.pl.factor_view(read)
    np.testing.assert_allclose(view.coef, read.uns["smf"]["effects"]["coef"], atol=1e-5)
    np.testing.assert_allclose(view.scores, adata.obsm["X_smf"])


def test_counts_equal_poisson_regression(adata):
    sfa.tl.smf(adata, "visits", task="counts", n_components=2)
    plain = SMFRegressor(2, loss="poisson").fit(adata.X, adata.obs["visits"])
    np.testing.assert_allclose(adata.obs["smf_predicted"], plain.predict(adata.X), rtol=1e-4)
    assert (adata.obs["smf_predicted"] > 0).all()
    sfa.tl.project(adata, adata, key_added="again")
    np.testing.assert_allclose(adata.obs["again_predicted"], adata.obs["smf_predicted"], rtol=1e-5)


def test_few_whole_numbers_are_classes_with_a_warning(adata):
    message = r"column 'visits' holds integers .* classes without an order: task='regression' .*task='counts'"
    with pytest.warns(UserWarning, match=message):
        sfa.tl.smf(adata, "visits", n_components=2, certify=None)
    assert adata.uns["smf"]["kind"] == "classes"
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        sfa.tl.smf(adata, "visits", task="regression", n_components=2)
        assert adata.uns["smf"]["kind"] == "numbers"
        sfa.tl.smf(adata, "male", n_components=2)
    assert adata.uns["smf"]["kind"] == "classes"


def test_classes_that_look_like_counts_are_named_once(adata):
    adata.obs["n"] = np.random.default_rng(0).poisson(3, adata.n_obs)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sfa.tl.smf(adata, label="n", n_components=1, max_iter=1)
    assert len([warning for warning in caught if "counts" in str(warning.message)]) == 1


def test_event_words_and_swapped_columns(adata):
    sfa.tl.smf(adata, time="time", event="dead", n_components=2)
    expected = adata.obs["smf_risk"]
    adata.obs["status"] = adata.obs["status"].astype("category")
    sfa.tl.smf(adata, time="time", event="status", event_word="dead", n_components=2, key_added="word")
    np.testing.assert_allclose(adata.obs["word_risk"], expected, rtol=1e-6)
    with pytest.warns(UserWarning, match="the other way round"):
        sfa.tl.smf(adata, time="dead", event="time", n_components=2, key_added="swapped")
    np.testing.assert_allclose(adata.obs["swapped_risk"], expected, rtol=1e-6)


def test_search_chooses_the_rank(adata, tmp_path):
    weights = {"xi": 1.0, "lam": 1.0}
    sfa.tl.smf(adata, "ill", n_components="auto", **weights)
    y = adata.obs["ill"].to_numpy()
    search = SMFClassifierCV(preprocess=None, impute=None, **weights).fit(adata.X, y)
    chosen = adata.uns["smf"]["search"]
    assert chosen["best"] == search.best_params_
    assert chosen["best_score"] == pytest.approx(search.best_score_)
    assert adata.obsm["X_smf"].shape[1] == search.best_params_["n_components"]
    np.testing.assert_allclose(adata.obsm["smf_probabilities"], search.predict_proba(adata.X), atol=1e-5)
    adata.write_h5ad(tmp_path / "chosen.h5ad")
    read = anndata.read_h5ad(tmp_path / "chosen.h5ad").uns["smf"]["search"]
    np.testing.assert_allclose(
        read["candidates"]["mean_test_score"], search.cv_results_["mean_test_score"], rtol=1e-6
    )
    sfa.tl.smf(adata, "age", n_components=[1, 3], xi=1.0, lam=1.0, cv=3)
    assert set(adata.uns["smf"]["search"]["candidates"]["n_components"]) == {1, 3}


def test_invalid_input(adata):
    cases = [
        ({}, "label: a column of adata.obs is required, or several, or time= and event="),
        ({"time": "time"}, "event=None: time= requires it"),
        ({"label": "age", "time": "time", "event": "dead"}, "label: with time= and event= it must be None"),
        ({"label": "age", "task": "numbers"}, "task='numbers': one of 'classes', 'regression'"),
        ({"label": "age", "event_word": "dead"}, "event_word: it is for survival times"),
        (
            {"label": ["age", "sex"]},
            "adata.obs: label: numbers in 'age', words in 'sex'; columns of one kind",
        ),
        ({"label": ["age", "bmi"], "task": "counts"}, "task='counts': one column is required"),
        ({"label": ["age", "bmi"], "task": "labels"}, "column 'age' holds .*; 0/1, no/yes or FALSE/TRUE"),
        ({"label": "age", "class_weight": "balanced"}, "class_weight: no parameter of .* SMFRegressor"),
        ({"label": "sex", "task": "regression"}, "column 'sex': '[fm]' is not a number, at sample cell0"),
        ({"time": "time", "event": "gone"}, "event='gone': no such column"),
    ]
    for given, message in cases:
        with pytest.raises((ValueError, TypeError), match=message) as raised:
            sfa.tl.smf(adata, **given)
        assert "\n" not in str(raised.value)
    sfa.tl.smf(adata, "age", n_components=2)
    with pytest.raises(ValueError, match="predicts 'age', but classes are required to rank markers"):
        sfa.tl.rank_genes_smf(adata)
