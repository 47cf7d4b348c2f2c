"""scikit-learn's checks on every estimator, without exceptions."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from sklearn.utils.fixes import parse_version
from sklearn.utils.multiclass import type_of_target

from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor, SMFRegressorCV, SMFSurvival
from superfactor.estimators.inputs import as_numpy

BEFORE_1_9 = parse_version(sklearn.__version__) < parse_version("1.9")


class Survival(SMFSurvival):
    """Use scikit-learn's y, numbers or classes, as times; the largest values are censored."""

    def fit(self, X, y=None, covariates=None, sample_weight=None):
        return super().fit(X, _as_times(y), covariates=covariates, sample_weight=sample_weight)

    def fit_transform(self, X, y=None, covariates=None, sample_weight=None):
        return self.fit(X, y, covariates, sample_weight).transform(X, covariates=covariates)

    def score(self, X, y=None, **options):
        return super().score(X, _as_times(y), **options)


def _as_times(y):
    if y is None:
        return None
    time = np.asarray(as_numpy(y))
    type_of_target(time, raise_unknown=True)
    time = time.astype(float).reshape(len(time), -1)[:, 0]
    return np.column_stack([time < time.max(), time - time.min()])


# These checks are about the contract, not the optimum: one start, no certificate. The feature model
# regularises each sample: with λ = 1 its regressor shrinks too much for the R² of 0.5 that they ask for.
QUICK = {"search": "off", "certify": None}
# Two folds and one candidate: many of the checks have ten samples.
ONE = {"n_components": 2, "xi": 1.0, "lam": 1.0, "cv": 2, "search": "off"}
ESTIMATORS = [
    SMFClassifier(**QUICK),
    SMFRegressor(model="feature", lam=0.1, **QUICK),
    Survival(**QUICK),
    SMFClassifierCV(**ONE),
    SMFRegressorCV(**ONE),
]
IMPORTANT = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_estimator_sparse_array",
    "check_transformer_preserve_dtypes",
    "check_methods_subset_invariance",
    "check_fit_idempotent",
    "check_n_features_in_after_fitting",
    "check_estimators_nan_inf",
)


@pytest.fixture(autouse=True)
def array_api(monkeypatch):
    """Let the checks with PyTorch and array-api-strict run, as a user who enables them would."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@parametrize_with_checks(ESTIMATORS)
def test_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            check(estimator)
        except AssertionError as error:
            if BEFORE_1_9 and "'classes_' attribute is in wrong namespace" in str(error):
                pytest.xfail("classes_ may be words, so they are NumPy's: scikit-learn 1.9 agrees")
            raise


@pytest.mark.parametrize(
    ("estimator", "count", "important"),
    [
        (SMFClassifier(), 90, "check_class_weight_classifiers"),
        (SMFClassifier(), 90, "check_classifiers_multilabel_output_format_predict_proba"),
        (SMFRegressor(), 85, "check_regressor_multioutput"),
        (SMFSurvival(), 65, "check_transformer_general"),
    ],
)
def test_number_of_checks_is_complete(estimator, count, important):
    """Tags can disable checks: the number must be that of scikit-learn 1.9.1, with the important ones."""
    names = [getattr(check, "func", check).__name__ for _, check in estimator_checks_generator(estimator)]
    assert len(names) >= (50 if BEFORE_1_9 else count)
    assert {*IMPORTANT, important} <= set(names)
