"""How much of a factor a confounder explains, against scikit-learn's R²."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.interpretation.data import classifier, regressor, table

from superfactor.interpretation import confounding, covariate_effects, factor_view
from superfactor.preprocessing import Adjuster, BlockScaler


def confounded(n=60, seed=0, **options):
    """X with a batch that moves some features, and an age that moves one."""
    X, y = table(n=n, seed=seed, **options)
    rng = np.random.default_rng(seed + 1)
    X["batch"], X["age"] = rng.choice(["A", "B", "C"], n), rng.normal(60, 8, n)
    X.loc[X["batch"] == "B", ["gene0", "gene4"]] += 9
    X["gene5"] += X["age"] / 4
    return X, y


def r2(Z, scores):
    return [LinearRegression().fit(Z, h).score(Z, h) for h in scores.T]


def indicators(X):
    return {"batch": pd.get_dummies(X["batch"]).to_numpy(float), "age": X[["age"]].to_numpy()}


@pytest.mark.parametrize(
    ("model", "kind", "classes"),
    [("feature", classifier, 2), ("filter", classifier, 4), ("filter", regressor, 2)],
)
def test_shares_are_r2_of_regressions(model, kind, classes):
    X, y = confounded(classes=classes)
    y = X["gene1"] - X["gene3"] if kind is regressor else y
    adjuster, scaler = Adjuster(["batch", "age"]), StandardScaler()
    fitted = make_pipeline(adjuster, scaler, kind(model)).fit(X, y)
    turn = factor_view(fitted).turn
    new, _ = confounded(n=40, seed=5)
    for T in (X, new):
        found = confounding(fitted, T).set_index(["confounder", "factor"])
        genes = T.filter(like="gene").to_numpy()
        scores = {
            "before": fitted[-1].transform(scaler.transform(genes)) @ turn,
            "after": fitted[-1].transform(fitted[:-1].transform(T)) @ turn,
        }
        parts = indicators(T)
        parts["all"] = np.hstack(list(parts.values()))
        for name, Z in parts.items():
            for when, codes in scores.items():
                np.testing.assert_allclose(found.loc[name, when], r2(Z, codes), atol=1e-9)
        assert found.loc["batch", "chance"].tolist() == pytest.approx([2 / (len(T) - 1)] * 3)
    training = confounding(fitted, X)
    np.testing.assert_allclose(training["after"], 0, atol=1e-9)
    assert training["before"].max() > 0.2


def test_confounders_without_adjustment():
    X, y = confounded()
    plain = make_pipeline(StandardScaler(), classifier()).fit(X.filter(like="gene"), y)
    genes = X.filter(like="gene")
    for given in (X["batch"], X[["batch"]], X["batch"].to_numpy()):
        found = confounding(plain, genes, given)
        np.testing.assert_allclose(found["before"], found["after"])
        codes = plain[-1].transform(plain[:-1].transform(genes)) @ factor_view(plain).turn
        np.testing.assert_allclose(found["before"], r2(indicators(X)["batch"], codes))
    adjusted = make_pipeline(Adjuster("batch", keep="age"), StandardScaler(), classifier()).fit(X, y)
    other = confounding(adjusted, X, X[["age"]])
    assert other["confounder"].tolist() == ["age"] * 3
    assert (other["after"] > 0).any()


def test_samples_with_missing_confounders_are_left_out():
    X, y = confounded()
    fitted = make_pipeline(Adjuster("batch"), StandardScaler(), classifier()).fit(X, y)
    more = pd.concat([X, X[:5].assign(batch="D"), X[5:8].assign(batch=None)], ignore_index=True)
    with pytest.warns(UserWarning, match="'batch' in 8 of 68"):
        found = confounding(fitted, more)
    pd.testing.assert_frame_equal(found, confounding(fitted, X))


@pytest.mark.parametrize("scaled_first", [False, True])
def test_covariates_keep_their_unit_behind_an_adjuster_and_a_block_scaler(scaled_first):
    """Odds ratios per year, whatever stands before the model: the same model without the extra steps."""
    X, y = confounded()
    X = X[["age", "batch", *X.columns[:7]]]
    X["batch"] = (X["batch"] == "B") * 1.0  # a number, so that a scaler may stand before the Adjuster
    blocks = BlockScaler({"one": slice(1, 4), "two": slice(4, 8)})
    adjust = Adjuster([1], keep=[0])
    steps = [StandardScaler(), adjust] if scaled_first else [adjust, StandardScaler()]
    smf = classifier(covariate_columns=[0])
    fitted = make_pipeline(*steps, blocks, smf).fit(X, y)
    found = covariate_effects(fitted, X, y)
    assert found["covariate"].tolist() == ["age (per unit)"]
    seen = fitted[:-1].transform(X)
    own = covariate_effects(fitted[-1], seen, y)
    for name in ("coef", "standard_error"):
        np.testing.assert_allclose(found[name], own[name] / X["age"].std(ddof=0))
    np.testing.assert_allclose(found["sd"], X["age"].std(ddof=0))


def test_errors():
    X, y = confounded()
    genes = X.filter(like="gene")
    fitted = classifier().fit(genes, y)
    with pytest.raises(ValueError, match="the model has no Adjuster"):
        confounding(fitted, genes)
    with pytest.raises(ValueError, match=r"n_samples=60, got \(59, 1\)"):
        confounding(fitted, genes, X["batch"][1:])
