"""Shares of blocks against sums over explicit matrices."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.interpretation.data import classifier, regressor, table

from superfactor import SMFClassifier
from superfactor.constraints import NonNegative
from superfactor.interpretation import block_shares, factor_view
from superfactor.preprocessing import Adjuster, BlockScaler

BLOCKS = {"one": [0, 3], "two": slice(4, 7)}  # columns 1 and 2 are in none
PARTS = {"one": [0, 3], "two": [4, 5, 6], "(no block)": [1, 2]}


def before(blocks=BLOCKS):
    return StandardScaler(), BlockScaler(blocks)


def predictions(estimator, X):
    """What is predicted of X (n, outputs), against the mean over classes; linear in X."""
    ask = getattr(estimator, "decision_function", estimator.predict)
    A = ask(X).reshape(len(X), -1)
    several = hasattr(estimator, "classes_") and A.shape[1] > 1
    return A - A.mean(axis=1, keepdims=True) if several else A


def only(X, columns):
    out = np.zeros_like(X)
    out[:, columns] = X[:, columns]
    return out


def of(shares, block, factor="all"):
    row = shares[(shares["block"] == block) & (shares["factor"] == factor)]
    assert len(row) == 1
    return row.iloc[0]


@pytest.mark.parametrize(
    ("model", "rotation", "kind", "classes"),
    [
        ("filter", "predictive", classifier, 2),
        ("feature", "varimax", classifier, 4),
        ("filter", "varimax", regressor, 2),
    ],
)
def test_shares_are_those_of_explicit_parts(model, rotation, kind, classes):
    X, y = table(n=50, classes=classes)
    y = X["gene1"] - X["gene3"] if kind is regressor else y
    fitted = make_pipeline(*before(), kind(model)).fit(X, y)
    X = X[:30] * 1.5  # other samples than those of the fit, of other spread
    shares, estimator = block_shares(fitted, X, rotation=rotation), fitted[-1]
    Z = fitted[:-1].transform(X)
    view = factor_view(fitted, rotation=rotation)
    t = view.scores_of(estimator.transform(Z))
    whole = predictions(estimator, Z)
    variance = whole.var(axis=0).sum()

    def compare(row, part, used, columns):
        """Of what a part of the scores predicts (n, outputs), and of features that go with those `used`."""
        centred = part - part.mean(axis=0)
        covariance = np.mean(centred * whole, axis=0).sum()
        assert row["share_of_prediction"] == pytest.approx(covariance / variance, abs=1e-9)
        alone = part.var(axis=0).sum() / variance
        assert row["prediction_alone"] == pytest.approx(alone, abs=1e-9)
        explained = LinearRegression().fit(t[:, used], Z).predict(t[:, used]).var(axis=0)
        own = explained[columns].sum()
        assert row["variance_explained"] == pytest.approx(own / Z[:, columns].var(axis=0).sum())
        assert row["share_of_factor"] == pytest.approx(own / explained.sum())

    for name, columns in PARTS.items():
        row = of(shares, name)
        assert row["features"] == len(columns)
        compare(row, predictions(estimator, only(Z, columns)), [0, 1, 2], columns)
        # One factor of one block alone: what the block adds to its score.
        added = only(Z, columns) @ view.weights.T
        effect = LinearRegression().fit(t, whole).coef_
        for j in range(3):
            part = np.outer(added[:, j], effect[:, j])
            compare(of(shares, name, j + 1), part, [j], columns)


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


def test_correlated_parts_are_counted_once_together():
    """Scores of supervised NMF are correlated: all factors together explain less than their sum."""
    X, y = table(n=50)
    X = (X - X.min()).to_numpy()
    fit = SMFClassifier(2, xi=0.1, lam=0.1, solver="bcd", constraint=NonNegative()).fit(X, y)
    shares = block_shares(fit, X, {"one": [0, 3], "two": slice(4, 7)})
    codes = fit.transform(X)
    explained = LinearRegression().fit(codes, X).predict(codes).var(axis=0)
    for name, columns in PARTS.items():
        own = explained[columns].sum()
        row = of(shares, name)
        assert row["variance_explained"] == pytest.approx(own / X[:, columns].var(axis=0).sum())
        assert row["share_of_factor"] == pytest.approx(own / explained.sum())
