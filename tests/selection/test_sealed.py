"""Folds are sealed: whatever finite numbers stand in test rows, training yields the same, bit for bit.

Test rows are replaced by huge ones, all but the first. What is compared: factors and coefficients of every
candidate in every fold, scores of the inner folds, the choice, and what is said of the test row that stayed.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from superfactor import SMFClassifierCV, SMFRegressorCV
from superfactor.selection import nested_scores
from superfactor.selection.evaluation.outer import SearchFold
from superfactor.selection.rows.coordinates import sealed

N = 48
SHAPES = {"wide": 150, "tall": 10, "between": 70}  # 70 is wide for some training parts only
HUGE = (1e7, np.finfo(float).max)
LISTS = {"xi": [0.001], "lam": [1.0, 30.0]}
TRAIN, TEST = np.arange(N)[np.arange(N) % 4 != 0], np.arange(0, N, 4)


def samples(p, seed=0):
    """X (N, p), two classes, numbers, two covariates and weights."""
    rng = np.random.default_rng(seed)
    labels = np.arange(N) // 2 % 2
    X = rng.standard_normal((N, p)) * rng.uniform(0.5, 2, p) + 1
    X[:, :5] += 1.2 * labels[:, None]
    covariates = np.column_stack([50 + 10 * rng.standard_normal(N), rng.integers(0, 2, N)])
    return X, labels, X[:, 0] + rng.standard_normal(N), covariates, rng.uniform(0.5, 2, N)


def blown_up(block, test, size):
    """With ±size in all test rows but the first; gaps stay gaps. 1e7 is a factor."""
    found, at = block.copy(), test[1:]
    signs = np.where(np.arange(block.shape[1]) % 2, -1.0, 1.0)
    found[at] = block[at] * size if size == 1e7 else size * signs + 0 * block[at]
    return found


class Witness:
    """A scorer that remembers what training yielded, and what is said of the first test row."""

    def __init__(self):
        self.seen = []

    def __call__(self, fit, X, y, sample_weight=None):
        first = fit.predict_proba(X[:1]) if hasattr(fit, "classes_") else fit.predict(X[:1])
        fitted = (fit.components_, fit.factor_coef_, fit.covariate_coef_, fit.intercept_)
        self.seen.append([*(np.array(values) for values in fitted), np.array(first)])
        return -float(np.mean(np.abs(fit.predict(X) - y)))


def same_bits(one, other):
    assert len(one) == len(other) > 0
    for before, after in zip(one, other, strict=True):
        for a, b in zip(before, after, strict=True):
            assert np.isfinite(a).all()
            np.testing.assert_array_equal(a, b)


def transformer():
    return make_pipeline(FunctionTransformer(np.arcsinh), StandardScaler())


PREPROCESSING = {"as it is": None, "center": "center", "standardize": "standardize", "own": transformer()}


def searched(search, X, y, covariates=None, weight=None):
    """What every candidate of a search learned at TRAIN; nothing may warn."""
    witness = Witness()
    search.set_params(cv=[(TRAIN, TEST)], scoring=witness, refit=False, **LISTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "X: .* values are missing")
        warnings.filterwarnings("ignore", "X: .* alone is as good as the outcome")
        search.fit(X, y, covariates=covariates, sample_weight=weight)
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    return witness.seen


# --- the folds of a search -----------------------------------------------------------------------------


@pytest.mark.parametrize("preprocess", PREPROCESSING.values(), ids=PREPROCESSING)
@pytest.mark.parametrize("p", SHAPES.values(), ids=SHAPES)
def test_a_search(p, preprocess):
    X, y, _, covariates, weight = samples(p)
    search = SMFClassifierCV(2, model=["filter", "feature"], preprocess=preprocess)
    before = searched(search, X, y, covariates, weight)
    for size in HUGE:
        after = searched(search, blown_up(X, TEST, size), y, blown_up(covariates, TEST, size), weight)
        same_bits(before, after)


@pytest.mark.parametrize("kind", [np.float32, sp.csr_array, sp.csc_array, pd.DataFrame])
@pytest.mark.parametrize(("p", "preprocess"), [(150, None), (70, "standardize")])
def test_kinds_of_arrays(p, preprocess, kind):
    X, y, *_ = samples(p)
    X[np.abs(X) < 0.8] = 0
    size = 1e30 if kind is np.float32 else 1e300
    search = SMFClassifierCV(2, preprocess=preprocess)
    found = [searched(search, kind(Z), y) for Z in (X, blown_up(X, TEST, size))]
    same_bits(*found)


@pytest.mark.parametrize(("p", "preprocess"), [(150, "center"), (10, "standardize")])
def test_numbers(p, preprocess, size=1e300):
    X, _, y, *_ = samples(p)
    Y = np.column_stack([y, X[:, 1]])
    search = SMFRegressorCV(2, preprocess=preprocess)
    before = searched(search, X, Y)
    # Targets of test samples are no part of training either.
    after = searched(search, blown_up(X, TEST, size), blown_up(Y, TEST, 1e7))
    same_bits(before, after)


@pytest.mark.parametrize("impute", ["lowrank", "mean"])
def test_completed_gaps(impute):
    X, y, *_ = samples(70)
    X[np.random.default_rng(1).uniform(size=X.shape) < 0.1] = np.nan
    X[TEST[1:]] = np.nan_to_num(X[TEST[1:]])
    found = [searched(SMFClassifierCV(2, impute=impute), Z, y) for Z in (X, blown_up(X, TEST, 1e300))]
    same_bits(*found)


def test_covariates_among_the_columns_and_without_a_label():
    X, y, _, covariates, _ = samples(120)
    y = y.astype(float)
    y[TRAIN[4:9]] = np.nan
    found = []
    for size in (1.0, 1e300):
        columns = np.column_stack([X, covariates])
        columns = columns if size == 1.0 else blown_up(columns, TEST, size)
        found.append(searched(SMFClassifierCV(2, covariate_columns=[120, 121]), columns, y))
    same_bits(*found)


def test_a_sum_that_overflows_is_no_gap():
    X, y, *_ = samples(40)
    huge = X.copy()
    huge[TEST[1], :] = np.finfo(float).max * np.where(np.arange(40) < 20, 1, -1)  # ∞ − ∞
    search = SMFClassifierCV(2, preprocess="center")
    same_bits(searched(search, X, y), searched(search, huge, y))


# --- nested ----------------------------------------------------------------------------------------------


def outer_fold(monkeypatch, search, X, y, covariates=None):
    """Of one outer fold: inner fits, scores and choice, the final model, and all methods on one test row."""
    witness, finals = Witness(), []
    asked = SMFClassifierCV.predict_proba

    def watched(self, X, *args, **options):
        finals.append(self)
        return asked(self, X, *args, **options)

    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "X: .* values are missing")
        patch.setattr(SMFClassifierCV, "predict_proba", watched)
        search.set_params(scoring=witness)
        work = SearchFold.of(search, X, y, covariates, None, baselines=True, seed=0)
        probabilities, chosen = work.rows(TRAIN, TEST, with_baselines=True)
    (final,) = finals
    results = final.cv_results_
    scores = [results[key] for key in results if key.endswith("_test_score")]
    weights = [results["param_xi"].data, results["param_lam"].data, [chosen["xi"], chosen["lam"]]]
    model = getattr(final.best_estimator_, "steps", [(None, final.best_estimator_)])[-1][1]
    fitted = [model.components_, model.factor_coef_, model.intercept_, [model.xi_, model.lam_]]
    of_first = [P[:1] for P in probabilities.values()]
    assert len(of_first) >= 4
    return [*witness.seen, scores, weights, fitted, of_first]


@pytest.mark.parametrize(
    ("p", "preprocess"), [(150, None), (10, "center"), (150, "standardize"), (10, "own")]
)
def test_an_outer_fold(p, preprocess, monkeypatch):
    X, y, _, covariates, _ = samples(p)
    search = SMFClassifierCV(2, **LISTS, preprocess=PREPROCESSING.get(preprocess, preprocess))
    before = outer_fold(monkeypatch, search, X, y, covariates)
    huge = [blown_up(block, TEST, HUGE[-1]) for block in (X, covariates)]
    same_bits(before, outer_fold(monkeypatch, search, huge[0], y, huge[1]))


@pytest.mark.parametrize("kind", ["sparse", "gaps", "feature"])
def test_an_outer_fold_of(kind, monkeypatch):
    X, y, *_ = samples(150)
    search = SMFClassifierCV(2, **LISTS, model="feature" if kind == "feature" else "filter")
    if kind == "gaps":
        X[TRAIN[::3], 7] = np.nan
    found = []
    for Z in (X, blown_up(X, TEST, 1e300)):
        data = sp.csr_array(np.where(np.abs(Z) < 0.8, 0, Z)) if kind == "sparse" else Z
        found.append(outer_fold(monkeypatch, search, data, y))
    same_bits(*found)


# --- rows that no fit could take -------------------------------------------------------------------------


def test_rows_that_cannot_be_squared_are_refused_in_training():
    X, y, *_ = samples(150)
    X[3] = 1e300
    for preprocess in (None, "center", "standardize"):
        search = SMFClassifierCV(2, **LISTS, preprocess=preprocess, cv=3)
        with pytest.raises(ValueError, match="squares leave the range"):
            search.fit(X, y)
        with pytest.raises(ValueError, match="squares leave the range"):
            nested_scores(search, X, y, n_repeats=1, baselines=False)


# --- coordinates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [1.0, 1e-9], ids=["by products", "by vectors"])
@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
def test_other_rows_keep_their_products_with_training_rows(kind, spread):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((20, 90)), rng.standard_normal((7, 90))
    A[0] *= spread  # a direction that the Gram matrix cannot tell from rounding
    inside, outside = sealed(kind(A), kind(B))
    assert inside.shape == (20, 20)
    assert outside.shape == (7, 20)
    sizes = np.linalg.norm(A, axis=1)
    np.testing.assert_allclose(
        inside @ inside.T / np.outer(sizes, sizes), A @ A.T / np.outer(sizes, sizes), atol=1e-7
    )
    np.testing.assert_allclose(outside @ inside.T / sizes, B @ A.T / sizes, atol=1e-6)
    inside, outside = sealed(A, B, A @ A.T, B @ A.T)
    np.testing.assert_allclose(outside @ inside.T / sizes, B @ A.T / sizes, atol=1e-6)
