"""scikit-learn's own checks on every estimator, model and solver, without a single exception."""

import warnings

import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from sklearn.utils.fixes import parse_version

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor, SMFRegressorCV

BEFORE_1_9 = parse_version(sklearn.__version__) < parse_version("1.9")
# The feature model regularises each sample: with λ = 1 its regressor shrinks predictions too much
# for the R² of 0.5 that scikit-learn's checks ask for.
ESTIMATORS = [
    SMFClassifier(),
    SMFClassifier(model="feature"),
    SMFRegressor(),
    SMFRegressor(model="feature", lam=0.1),
]
# Two folds and one candidate: many of the checks have ten samples.
SEARCHES = [SMFClassifierCV(2, xi=0.1, lam=1.0, cv=2), SMFRegressorCV(2, xi=0.1, lam=1.0, cv=2)]
# Few iterations and no certificates: these checks are about the contract, not the optimum. An
# intercept slows Algorithm 1 down (its step is 1/L, and L then grows with the number of samples),
# and in the filter model it is too slow for the accuracy that scikit-learn asks of regressors.
QUICK = {"max_iter": 60, "certify": None}
OTHER_SOLVERS = [
    SMFClassifier(solver="lpgd", **QUICK),
    SMFRegressor(solver="lpgd", model="feature", lam=0.1, fit_intercept=False, **QUICK),
    SMFRegressor(solver="bcd", **QUICK),
]


@pytest.fixture(autouse=True)
def array_api(monkeypatch):
    """Let the checks with PyTorch and array-api-strict run, as a user who enables them would."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


def run(check, estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            check(estimator)
        except AssertionError as error:
            if BEFORE_1_9 and "'classes_' attribute is in wrong namespace" in str(error):
                pytest.xfail("classes_ may be words, so they are NumPy's: scikit-learn 1.9 agrees")
            raise


@parametrize_with_checks(ESTIMATORS)
def test_default_solver(estimator, check):
    run(check, estimator)


@parametrize_with_checks(SEARCHES)
def test_search(estimator, check):
    check(estimator)


@parametrize_with_checks(OTHER_SOLVERS)
def test_other_solvers(estimator, check):
    run(check, estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_no_check_has_gone_missing(estimator):
    """Tags can switch checks off: as many as scikit-learn 1.9.1 has for these, and the telling ones."""
    names = [getattr(check, "func", check).__name__ for _, check in estimator_checks_generator(estimator)]
    assert len(names) >= (50 if BEFORE_1_9 else 85)
    for expected in (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_estimator_sparse_array",
        "check_transformer_preserve_dtypes",
        "check_methods_subset_invariance",
        "check_fit_idempotent",
        "check_n_features_in_after_fitting",
        "check_estimators_nan_inf",
    ):
        assert expected in names
    if isinstance(estimator, SMFClassifier):
        assert "check_decision_proba_consistency" in names
        assert "check_class_weight_classifiers" in names
    else:
        assert "check_regressor_multioutput" in names
