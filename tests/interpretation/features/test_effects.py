"""`feature_effects` against scipy, scikit-learn, scikit-survival and loops."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from tests.interpretation.data import classifier, pipeline, regressor, table

from superfactor import SMFSurvival
from superfactor.interpretation import factor_view, feature_effects
from superfactor.outcomes.reading import univariate


def with_ties(classes=2, n=60, p=9, seed=1):
    """X with ties, a constant, and many zeros; labels that depend on two columns."""
    X, y = table(n=n, p=p, classes=classes, seed=seed)
    X["gene2"] = X["gene2"].round()
    X["gene4"] = 5.0
    X["gene5"] = np.maximum(X["gene5"] - 6, 0)
    return X, y


def by_class(found, name):
    return found[found["class"] == name].reset_index(drop=True)


# --- classes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 4])
def test_each_class_against_the_rest(classes):
    X, y = with_ties(classes)
    found = feature_effects(classifier(rank=3).fit(X, y), X, y)
    names = np.unique(y) if classes > 2 else found["class"].unique()
    assert len(found) == len(names) * X.shape[1]
    for name in names:
        rows, own = by_class(found, name), y == name
        assert rows["feature"].tolist() == list(X.columns)
        for row, (_, x) in zip(rows.itertuples(), X.items(), strict=True):
            a, b = x[own], x[~own]
            np.testing.assert_allclose([row.mean, row.mean_rest], [a.mean(), b.mean()])
            np.testing.assert_allclose(row.auc, roc_auc_score(own, x))
            pooled = ((len(a) - 1) * a.var() + (len(b) - 1) * b.var()) / (len(y) - 2)
            d = (a.mean() - b.mean()) / np.sqrt(pooled) if pooled > 1e-20 else 0
            np.testing.assert_allclose(row.difference_in_sd, d, atol=1e-10)
            p = 1.0
            if x.std() > 0:
                p = stats.mannwhitneyu(a, b, method="asymptotic").pvalue
            np.testing.assert_allclose(row.p, p)
        np.testing.assert_allclose(rows["q"], stats.false_discovery_control(rows["p"]))


def test_two_classes_have_one_row_a_feature_and_a_choice():
    X, y = table(n=45)
    y[:3] = "normal"  # fewer tumoral
    model = classifier(rank=2).fit(X, y)
    found, other = (feature_effects(model, X, y, positive=name) for name in (None, "normal"))
    assert set(found["class"]) == {"tumoral"}
    assert set(other["class"]) == {"normal"}
    np.testing.assert_allclose(found["auc"], 1 - other["auc"])
    np.testing.assert_allclose(found["p"], other["p"])
    for name in ("difference_in_sd", "correlation", "factor_correlation", "coef_per_sd"):
        np.testing.assert_allclose(found[name], -other[name], atol=1e-12)
    with pytest.raises(ValueError, match="positive='other': one of the classes"):
        feature_effects(model, X, y, positive="other")


@pytest.mark.parametrize(("model", "classes"), [("filter", 3), ("feature", 2)])
def test_correlations_are_those_with_the_predictions(model, classes):
    X, y = table(n=60, classes=classes)
    fit = classifier(model, rank=3).fit(X, y)
    found, view = feature_effects(fit, X, y), factor_view(fit)

    def decision(X):
        """As shown: of the class that is up, or of each against their mean."""
        a = fit.decision_function(X)
        if classes == 2:
            return a[:, None] * (1 if view.outputs[0] == fit.classes_[1] else -1)
        return a - a.mean(axis=1, keepdims=True)

    activations = decision(X)
    for k, name in enumerate(view.outputs):
        rows = by_class(found, name)
        expected = [np.corrcoef(x, activations[:, k])[0, 1] for x in X.to_numpy().T]
        np.testing.assert_allclose(rows["correlation"], expected, atol=1e-6)
        # One standard deviation more of one feature.
        for j, column in enumerate(X.columns):
            more = X.copy()
            more[column] += X[column].std(ddof=0)
            change = (decision(more) - activations)[0, k]
            np.testing.assert_allclose(rows["coef_per_sd"][j], change, atol=1e-8)


def test_the_factor_is_the_most_correlated_one():
    X, y = table(n=60, classes=3)
    fit = classifier(rank=3).fit(X, y)
    view, found = factor_view(fit), by_class(feature_effects(fit, X, y), "normal")
    carries = np.flatnonzero(np.any(view.coef != 0, axis=0))
    assert list(carries) == [0, 1]  # three classes are told apart in two dimensions
    for j, row in enumerate(found.itertuples()):
        best = max(carries, key=lambda k, j=j: abs(view.correlations[k, j]))
        assert row.factor == best + 1
        assert row.factor_correlation == view.correlations[best, j]


def test_no_coefficient_where_predictions_are_not_linear():
    X, y = table()
    exact = classifier("feature", rank=2).set_params(prediction="exact").fit(X, y)
    assert feature_effects(exact, X, y)["coef_per_sd"].isna().all()
    probit = classifier(rank=2, link="probit").fit(X, y)
    assert feature_effects(probit, X, y)["coef_per_sd"].isna().all()
    assert feature_effects(probit, X, y)["correlation"].notna().all()


def test_covariates_are_not_features_and_are_optional():
    X, y = table(n=60)
    X["sex"] = np.where(np.arange(60) % 3, "f", "m")
    extra = np.random.default_rng(3).standard_normal((60, 1))
    fit = classifier(rank=2, covariate_columns=["gene2", "sex"]).fit(X, y, covariates=extra)
    found = feature_effects(fit, X, y)
    assert found["feature"].tolist() == [f"gene{j}" for j in range(7) if j != 2]
    assert found["coef_per_sd"].notna().all()
    pd.testing.assert_frame_equal(found, feature_effects(fit, X, y, covariates=extra))
    with pytest.raises(ValueError, match="covariates: 59 samples"):
        feature_effects(fit, X, y, covariates=extra[1:])


def test_means_are_in_the_units_before_the_scalers():
    X, y = table(n=50)
    X = X - X.min() + 0.1
    logs = FunctionTransformer(np.log, feature_names_out="one-to-one")
    bare = feature_effects(classifier(rank=2).fit(X, y), X, y)
    scaled = feature_effects(
        make_pipeline(StandardScaler(), MinMaxScaler(), classifier(rank=2)).fit(X, y), X, y
    )
    logged = feature_effects(make_pipeline(logs, *pipeline(rank=2)).fit(X, y), X, y)
    alike = ["feature", "mean", "mean_rest", "difference_in_sd", "auc", "p", "q"]
    pd.testing.assert_frame_equal(bare[alike], scaled[alike])
    other = feature_effects(classifier(rank=2).fit(np.log(X), y), np.log(X), y)
    np.testing.assert_allclose(logged["mean"], other["mean"])
    np.testing.assert_allclose(logged["auc"], bare["auc"])


def test_sparse_in_blocks_and_unlabelled_left_out(monkeypatch):
    X, y = with_ties()
    X = X.to_numpy()
    fit = classifier(rank=2).fit(X, y)
    whole = feature_effects(fit, X, y)
    monkeypatch.setattr(univariate, "_ENTRIES", 150)  # two columns a block
    for kind in (sp.csr_array, sp.csc_matrix, np.asarray):
        pd.testing.assert_frame_equal(feature_effects(fit, kind(X), y), whole)
    part = y.astype(object)
    part[::7] = None
    known = np.arange(len(y)) % 7 != 0
    found = feature_effects(fit, sp.csr_array(X), part)
    pd.testing.assert_frame_equal(found, feature_effects(fit, X[known], y[known]))


# --- numbers ------------------------------------------------------------------------------------------


def test_correlations_with_numbers():
    X, _ = with_ties()
    rng = np.random.default_rng(5)
    Y = X[["gene0", "gene1"]].to_numpy() @ [[1, 0.2], [0, 1]] + rng.standard_normal((60, 2))
    one, two = regressor(rank=2).fit(X, Y[:, 0]), regressor(rank=2).fit(X, Y)
    assert feature_effects(one, X, Y[:, 0])["target"].unique().tolist() == ["y"]
    found = feature_effects(two, X, Y)
    assert found["target"].unique().tolist() == ["y0", "y1"]
    for k in range(2):
        rows = found[found["target"] == f"y{k}"].reset_index(drop=True)
        for row, (_, x) in zip(rows.itertuples(), X.items(), strict=True):
            expected = stats.pearsonr(x, Y[:, k]) if x.std() > 0 else (0, 1)
            np.testing.assert_allclose((row.outcome_correlation, row.p), expected, atol=1e-12)
            np.testing.assert_allclose(row.mean, x.mean())
        np.testing.assert_allclose(rows["q"], stats.false_discovery_control(rows["p"]))
        predicted = two.predict(X)[:, k]
        expected = [np.corrcoef(x, predicted)[0, 1] if x.std() > 0 else 0 for x in X.to_numpy().T]
        np.testing.assert_allclose(rows["correlation"], expected, atol=1e-6)
        np.testing.assert_allclose(rows["coef_per_sd"], two.coef_[k] * X.std(ddof=0), atol=1e-12)
    found = feature_effects(one, X, X["gene1"])  # the target itself
    assert found["outcome_correlation"][1] == pytest.approx(1) and found["p"][1] < 1e-50


# --- times --------------------------------------------------------------------------------------------


def survival(n=70, seed=0, ties=True):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5)) + 30
    X[:, 1] = X[:, 1] > 30
    X[:, 3] = 2
    time = rng.exponential(np.exp(-(X[:, 0] - 30)))
    time = np.ceil(4 * time) if ties else time
    return X, rng.uniform(size=n) < 0.7, time


def test_score_test_of_cox_with_ties():
    X, event, time = survival()
    y = np.column_stack([event, time])
    found = feature_effects(SMFSurvival(2).fit(X, y), X, y)
    for row, x in zip(found.itertuples(), X.T, strict=True):
        score = variance = 0.0
        for i in np.flatnonzero(event):
            at_risk = x[time >= time[i]]
            score += x[i] - at_risk.mean()
            variance += at_risk.var()
        z = score / np.sqrt(variance) if variance > 0 else 0
        np.testing.assert_allclose(row.z, z, atol=1e-9)
        np.testing.assert_allclose(row.p, 2 * stats.norm.sf(abs(z)))
    assert found["z"][0] > 4
    assert "class" not in found and "target" not in found
    np.testing.assert_allclose(found["q"], stats.false_discovery_control(found["p"]))


# --- bad input ----------------------------------------------------------------------------------------


def test_bad_input():
    X, y = table(classes=3)
    fit = classifier(rank=2).fit(X, y)
    with pytest.raises(ValueError, match="y: 'strange' is no class of the model"):
        feature_effects(fit, X, np.where(y == "normal", "strange", y))
    with pytest.raises(ValueError, match="y: no sample of class 'normal'"):
        feature_effects(fit, X[y != "normal"], y[y != "normal"])
    with pytest.raises(ValueError, match="y: none of the 40 samples has a label"):
        feature_effects(fit, X, np.full(40, None))
    with pytest.raises(ValueError, match="y: 39 samples, but X has 40"):
        feature_effects(fit, X, y[1:])
    with pytest.raises(TypeError, match="model=FactorView"):
        feature_effects(factor_view(fit), X, y)
