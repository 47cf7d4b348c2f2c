"""The parameter `search`: other starts without a proof, the certificate, and fits without a minimum."""

import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests import naive
from tests.estimators.data import MODELS, small
from tests.solvers.restarts import best_of

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor

SEARCHES = ("off", "auto", "thorough")
SENTENCE = re.compile(r" (\d+) other starts? ended no lower(?:, (\d+) at the same value)?\.$")


def rugged(seed=4):
    """Few samples and a small ridge: many local minima, and a first solution that is not the best."""
    rng = np.random.default_rng(seed)
    X = 3 * rng.standard_normal((12, 6))
    return X, np.arange(12) % 3, {"n_components": 1, "xi": 0.02, "lam": 3e-4}


def starts_of(estimator):
    """Return the numbers of other starts and of those that agreed, from the certificate, or None."""
    found = SENTENCE.search(estimator.certificate_.statement)
    return None if found is None else tuple(int(number or 0) for number in found.groups())


@pytest.mark.parametrize("model", MODELS)
def test_more_search_is_never_worse(model):
    lower = 0
    for seed in (0, 4):
        X, y, given = rugged(seed)
        P = naive.state(model, X, np.eye(3)[y][:, 1:], given["xi"], given["lam"])
        best = best_of(P, 1, 8, seed, max_iter=60)
        off, auto, thorough = (
            SMFClassifier(model=model, search=search, **given).fit(X, y).objective_ for search in SEARCHES
        )
        assert thorough <= min(off, auto) * (1 + 1e-9)
        assert auto <= off * (1 + 1e-9)
        assert thorough <= best + 1e-6 * (1 + abs(best))
        lower += thorough < off * (1 - 1e-3)
    assert lower >= 1  # these data can tell


def test_certificate_reports_the_number_of_starts():
    X, y, given = rugged()
    off, auto, thorough = (SMFClassifier(search=search, **given).fit(X, y) for search in SEARCHES)
    assert not auto.certificate_.is_global
    assert starts_of(off) is None and "other starts" not in off.certificate_.statement
    assert 2 <= starts_of(auto)[0] <= 48
    assert starts_of(thorough)[0] == starts_of(auto)[0] + 384  # begins with those of "auto"
    for each in (auto, thorough):
        starts, agreed = starts_of(each)
        assert 0 <= agreed <= starts


@pytest.mark.parametrize("model", MODELS)
def test_proven_solutions_need_no_search(model):
    X, y, _ = small(classes=3)
    off, thorough = (
        SMFClassifier(2, model=model, lam=50.0, search=search).fit(X, y) for search in ("off", "thorough")
    )
    assert off.certificate_.is_global
    assert "other starts" not in thorough.certificate_.statement
    assert thorough.n_iter_ == off.n_iter_
    assert thorough.objective_ == off.objective_


def test_regressions_search_too():
    rng = np.random.default_rng(1)
    X, Y = 3 * rng.standard_normal((12, 6)), rng.standard_normal((12, 2))
    given = {"n_components": 1, "model": "feature", "xi": 0.02, "lam": 3e-4}
    P = naive.state("feature", X, Y, given["xi"], given["lam"], loss="squared")
    off, thorough = (SMFRegressor(search=search, **given).fit(X, Y) for search in SEARCHES[::2])
    best = best_of(P, 1, 8, max_iter=60)
    assert thorough.objective_ <= min(off.objective_, best) + 1e-6 * (1 + abs(best))
    assert thorough.certificate_.is_global or starts_of(thorough)[0] >= 384


@pytest.mark.parametrize("solver", ["lpgd", "bcd"])
def test_other_solvers_ignore_search(solver):
    X, y, _ = small()
    off, thorough = (
        SMFClassifier(solver=solver, search=search, tol=0, max_iter=20, random_state=0).fit(X, y)
        for search in SEARCHES[::2]
    )
    assert off.objective_ == thorough.objective_
    assert "other starts" not in thorough.certificate_.statement


def test_rank_search_passes_the_parameter_on():
    X, y, _ = small(n=30, classes=3)
    grid = {"n_components": [1], "xi": [0.02], "lam": [1e-3], "cv": 2, "preprocess": None}
    off, auto = (SMFClassifierCV(search=search, **grid).fit(X, y) for search in SEARCHES[:2])
    assert off.best_estimator_.search == "off" and auto.best_estimator_.search == "auto"
    assert starts_of(off.best_estimator_) is None
    assert starts_of(auto.best_estimator_) is not None
    for key in ("mean_test_score", "std_test_score"):  # folds are none of its business
        np.testing.assert_array_equal(off.cv_results_[key], auto.cv_results_[key])
    alone = SMFClassifier(1, xi=0.02, lam=1e-3).fit(X, y)
    assert auto.best_estimator_.objective_ == pytest.approx(alone.objective_, rel=1e-9)


# --- histories ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("search", "classes"), [("off", 3), ("auto", 2), ("thorough", 2)])
def test_history_never_increases(model, classes, search):
    X, y, Z = small(n=24, p=8, classes=classes)
    fitted = SMFClassifier(2, model=model, xi=0.05, lam=1e-2, search=search)
    fitted.fit(X, y, covariates=Z)
    values = np.asarray(fitted.history_["objective"])
    assert len(values) == fitted.n_iter_
    assert np.all(np.diff(values) <= 0)
    assert fitted.objective_ <= values[-1] * (1 + 1e-12)


# --- without a minimum ----------------------------------------------------------------------------------


def test_warning_without_ridge_and_minimum():
    """Free codes separate any classes, so β grows without bound."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((30, 4)), (rng.random(30) < 0.5).astype(int)
    fit = SMFClassifier(1, model="feature", xi=0.5, lam=0.0)
    with pytest.warns(ConvergenceWarning, match="SMFClassifier has not converged: with lam=0 ") as seen:
        fit.fit(X, y)
    (message,) = [str(w.message) for w in seen if w.category is ConvergenceWarning]
    assert "there is no minimum; use lam > 0" in message
    assert "max_iter" not in message  # more iterations are no help
    assert fit.n_iter_ < 100
    assert np.isfinite(fit.objective_)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        SMFClassifier(1, model="feature", xi=0.5, lam=1e-3).fit(X, y)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("classes", [2, 4])
def test_separable_classes_without_a_ridge_end_early(model, classes):
    """The loss tends to 0; the rest is reconstruction, which needs few steps."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % classes
    X = rng.standard_normal((40, 6)) + 10 * np.eye(6)[y]
    fit = SMFClassifier(4, model=model, xi=0.1, lam=0.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        fit.fit(X, y)
    assert fit.n_iter_ <= 200
    told = [str(w.message) for w in caught if w.category is ConvergenceWarning]
    assert all("no minimum" in message for message in told)
    sigma = np.linalg.svd(X, compute_uv=False)
    floor = 0.1 * np.sum(sigma[4:] ** 2)
    assert floor * (1 - 1e-9) <= fit.objective_ <= floor + 0.1 * len(y) * np.log(classes)
    assert fit.score(X, y) == 1.0
