"""Persistence of fitted estimators: clone, pickle, joblib, skops, worker processes."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from tests.estimators.data import ESTIMATORS, outcome, small

from superfactor import SMFClassifier
from superfactor.constraints import FrobeniusBall
from superfactor.losses import Probit


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_files(estimator, tmp_path):
    X, y, Z = small()
    fitted = estimator(model="feature").fit(X, outcome(estimator, y), covariates=Z)
    joblib.dump(fitted, tmp_path / "model.joblib")
    copies = [pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "model.joblib")]
    skops = pytest.importorskip("skops.io")
    written = skops.dumps(fitted)
    kinds = skops.get_untrusted_types(data=written)
    assert all(kind.startswith("superfactor.") for kind in kinds)
    for copy in (*copies, skops.loads(written, trusted=kinds)):
        np.testing.assert_array_equal(copy.predict(X, Z), fitted.predict(X, Z))
        assert copy.certificate_.lower_bound == fitted.certificate_.lower_bound


def test_clone_keeps_objects_given_as_parameters():
    original = SMFClassifier(link=Probit(), constraint=FrobeniusBall(3.0), class_weight={0: 2.0})
    copy = clone(original)
    assert copy.get_params() == original.get_params()
    assert not hasattr(clone(copy), "components_")


def test_cross_validation_in_processes():
    X, y, _ = small(n=60)
    alone, together = (cross_val_score(SMFClassifier(), X, y, cv=3, n_jobs=jobs) for jobs in (None, 2))
    np.testing.assert_allclose(alone, together)
