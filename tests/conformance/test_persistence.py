"""Fitted estimators travel: clone, pickle, joblib, worker processes."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from tests.estimators.data import ESTIMATORS, MODELS, small

from superfactor import SMFClassifier
from superfactor.constraints import FrobeniusBall
from superfactor.losses import Probit


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pickle_and_joblib(estimator, model, tmp_path):
    X, y, Z = small()
    fitted = estimator(model=model).fit(X, y, covariates=Z)
    joblib.dump(fitted, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(copy.predict(X, Z), fitted.predict(X, Z))
        assert copy.certificate_.lower_bound == fitted.certificate_.lower_bound


def test_clone_keeps_objects_given_as_parameters():
    original = SMFClassifier(link=Probit(), constraint=FrobeniusBall(3.0), class_weight={0: 2.0})
    copy = clone(original)
    assert copy.get_params() == original.get_params()
    assert not hasattr(clone(copy), "components_")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_cross_validation_in_processes(estimator):
    X, y, _ = small(n=60)
    alone = cross_val_score(estimator(), X, y, cv=3)
    together = cross_val_score(estimator(), X, y, cv=3, n_jobs=2)
    np.testing.assert_allclose(alone, together)
