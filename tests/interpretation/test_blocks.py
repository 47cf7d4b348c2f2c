"""Shares of blocks against sums over explicit matrices."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.interpretation.data import MODELS, classifier, regressor, table

from superfactor.interpretation import block_shares, factor_view, supervised_factors
from superfactor.preprocessing import Adjuster, BlockScaler

BLOCKS = {"one": [0, 3], "two": slice(4, 7)}  # columns 1 and 2 are in none
PARTS = {"one": [0, 3], "two": [4, 5, 6], "(no block)": [1, 2]}


def before(blocks=BLOCKS):
    return StandardScaler(), BlockScaler(blocks)


def activations(estimator, X):
    """Predictions of the estimator without its intercept, against their mean over classes; linear in X."""
    A = np.asarray(estimator.transform(X)) @ estimator.coef_.T
    if hasattr(estimator, "classes_") and len(estimator.classes_) > 2:
        A = np.hstack([np.zeros((len(A), 1)), A])
        A = A - A.mean(axis=1, keepdims=True)
    return A


def only(X, columns):
    out = np.zeros_like(X)
    out[:, columns] = X[:, columns]
    return out


def of(shares, block, factor="all"):
    row = shares[(shares["block"] == block) & (shares["factor"] == factor)]
    assert len(row) == 1
    return row.iloc[0]


@pytest.mark.parametrize("kind, classes", [(classifier, 2), (classifier, 4), (regressor, 2)])
@pytest.mark.parametrize("model", MODELS)
def test_shares_are_those_of_explicit_parts(model, kind, classes):
    X, y = table(n=50, classes=classes)
    y = X["gene1"] - X["gene3"] if kind is regressor else y
    fitted = make_pipeline(*before(), kind(model)).fit(X, y)
    shares, estimator = block_shares(fitted, X), fitted[-1]
    Z = fitted[:-1].transform(X)
    view = factor_view(fitted)
    codes = Z @ np.linalg.pinv(view.weights)
    whole = activations(estimator, Z)
    variance = whole.var(axis=0).sum()
    for name, columns in PARTS.items():
        own = of(shares, name)
        assert own["features"] == len(columns)
        part = activations(estimator, only(Z, columns))
        covariance = np.mean((part - part.mean(0)) * (whole - whole.mean(0)), axis=0).sum()
        assert own["share_of_prediction"] == pytest.approx(covariance / variance)
        assert own["prediction_alone"] == pytest.approx(part.var(axis=0).sum() / variance)
        fit = codes @ view.weights
        rest = np.sum((Z - fit)[:, columns] ** 2) / np.sum(Z[:, columns] ** 2)
        assert own["variance_explained"] == pytest.approx(1 - rest)
        share = np.sum(fit[:, columns] ** 2) / np.sum(fit**2)
        assert own["share_of_factor"] == pytest.approx(share)
        for j in range(3):
            row = of(shares, name, j + 1)
            fit = np.outer(codes[:, j], view.weights[j])
            rest = np.sum((Z - fit)[:, columns] ** 2) / np.sum(Z[:, columns] ** 2)
            assert row["variance_explained"] == pytest.approx(1 - rest)
            share = np.sum(fit[:, columns] ** 2) / np.sum(fit**2)
            assert row["share_of_factor"] == pytest.approx(share)
            # One factor of one block alone: the codes of the others are set to zero.
            turned = np.asarray(estimator.transform(only(Z, columns))) @ view.turn
            turned[:, np.arange(3) != j] = 0
            coef = turned @ np.linalg.inv(view.turn) @ estimator.coef_.T
            if whole.shape[1] > coef.shape[1]:
                coef = np.hstack([np.zeros((len(Z), 1)), coef])
                coef = coef - coef.mean(axis=1, keepdims=True)
            covariance = np.mean((coef - coef.mean(0)) * (whole - whole.mean(0)), axis=0).sum()
            assert row["share_of_prediction"] == pytest.approx(covariance / variance, abs=1e-9)
            alone = coef.var(axis=0).sum() / variance
            assert row["prediction_alone"] == pytest.approx(alone, abs=1e-9)


@pytest.mark.parametrize("rotation", ["predictive", "variance", "varimax"])
@pytest.mark.parametrize("model", MODELS)
def test_what_adds_up(model, rotation):
    X, y = table(n=50, classes=3)
    fitted = make_pipeline(*before(), classifier(model)).fit(X, y)
    shares = block_shares(fitted, X, rotation=rotation)
    sums = shares.groupby("factor")["share_of_factor"].sum()
    np.testing.assert_allclose(sums, 1)
    total = shares[shares["factor"] == "all"]
    single = shares[shares["factor"] != "all"]
    assert total["share_of_prediction"].sum() == pytest.approx(1)
    by_block = single.groupby("block")["share_of_prediction"].sum()
    np.testing.assert_allclose(by_block[total["block"]], total["share_of_prediction"])
    by_factor = single.groupby("factor")["share_of_prediction"].sum()
    background = supervised_factors(fitted, rotation=rotation)["role"] == "background"
    assert (by_factor[background.to_numpy()] == 0).all()


def test_of_the_filter_model_variance_adds_up_to_that_of_the_factor():
    X, y = table(n=50)
    fitted = make_pipeline(*before(), classifier()).fit(X, y)
    Z = fitted[:-1].transform(X)
    size = pd.Series({name: np.sum(Z[:, c] ** 2) for name, c in PARTS.items()}) / np.sum(Z**2)
    single = block_shares(fitted, X).query("factor != 'all'")
    weighted = single["variance_explained"] * single["block"].map(size)
    found = weighted.groupby(single["factor"]).sum()
    np.testing.assert_allclose(found, supervised_factors(fitted)["share_of_variance"])


def test_blocks_may_be_given_by_name():
    X, y = table()
    own = make_pipeline(*before(), classifier()).fit(X, y)
    named = {"one": ["gene0", "gene3"], "two": ["gene4", "gene5", "gene6"]}
    pd.testing.assert_frame_equal(block_shares(own, X, named), block_shares(own, X))
    bare = classifier().fit(X, y)
    assert set(block_shares(bare, X, named)["block"]) == {"one", "two", "(no block)"}
    with pytest.raises(ValueError, match="no BlockScaler; a dict"):
        block_shares(bare, X)
    with pytest.raises(ValueError, match="X has no column 'gene9'"):
        block_shares(bare, X, {"one": ["gene9"]})


def test_pipelines_within_pipelines_and_searches():
    X, y = table()
    flat = make_pipeline(*before(), classifier()).fit(X, y)
    nested = Pipeline([("before", make_pipeline(*before())), ("smf", classifier())]).fit(X, y)
    pd.testing.assert_frame_equal(block_shares(nested, X), block_shares(flat, X))
    search = GridSearchCV(flat, {"smfclassifier__n_components": [3]}, cv=2).fit(X, y)
    pd.testing.assert_frame_equal(block_shares(search, X), block_shares(flat, X))


def test_covariate_columns_and_confounders_are_in_no_block():
    X, y = table(n=60)
    batch = np.where(np.arange(60) % 3 == 0, "A", "B")
    blocks = {"one": slice(0, 4), "two": slice(4, 7)}
    steps = Adjuster("batch", keep="gene6"), *before(blocks)
    mixed = X.assign(batch=batch)
    fitted = make_pipeline(*steps, classifier(covariate_columns=[6])).fit(mixed, y)
    shares = block_shares(fitted, mixed)
    assert of(shares, "two")["features"] == 2
    assert shares.query("factor == 'all'")["share_of_prediction"].sum() == pytest.approx(1)


def test_sparse_tables():
    X, y = table()
    X = np.where(X > 2, X, 0)
    dense = make_pipeline(BlockScaler(BLOCKS), classifier()).fit(X, y)
    pd.testing.assert_frame_equal(block_shares(dense, sp.csr_array(X)), block_shares(dense, X))
    sparse = make_pipeline(BlockScaler(BLOCKS), classifier()).fit(sp.csr_array(X), y)
    left, right = block_shares(sparse, sp.csr_array(X)), block_shares(dense, X)
    np.testing.assert_allclose(left.iloc[:, 3:], right.iloc[:, 3:], atol=1e-6)


def test_a_model_that_predicts_nothing():
    X = table()[0]
    fitted = make_pipeline(*before(), regressor(lam=1e12)).fit(X, np.ones(len(X)))
    shares = block_shares(fitted, X)
    assert shares["share_of_prediction"].isna().all()
    assert shares["share_of_factor"].notna().all()


def test_a_step_that_changes_columns_after_the_scaler():
    X, y = table()
    fitted = make_pipeline(BlockScaler(BLOCKS), Adjuster([6]), classifier()).fit(X, y)
    with pytest.raises(ValueError, match="a step after the BlockScaler changes the columns"):
        block_shares(fitted, X)
