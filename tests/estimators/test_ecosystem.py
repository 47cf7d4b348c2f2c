"""scikit-learn protocols: metadata routing, output containers, printing."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.estimators.data import ESTIMATORS, MODELS, outcome, small

from superfactor import SMFClassifier, SMFRegressor

X, y, Z = small(n=60)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def requested(estimator):
    estimator.set_fit_request(covariates=True, sample_weight=True)
    estimator.set_predict_request(covariates=True)
    estimator.set_score_request(covariates=True, sample_weight=True)
    estimator.set_transform_request(covariates=True)
    return estimator


@pytest.mark.usefixtures("routing")
def test_cross_validation_routes_covariates():
    weight = np.linspace(0.5, 1.5, 60)
    parameters = {"covariates": Z, "sample_weight": weight}
    result = cross_validate(requested(SMFClassifier(lam=0.1)), X, y, cv=3, params=parameters)
    # The same by hand, on the first fold.
    train, test = next(StratifiedKFold(3).split(X, y))
    by_hand = SMFClassifier(lam=0.1).fit(X[train], y[train], Z[train], weight[train])
    score = by_hand.score(X[test], y[test], sample_weight=weight[test], covariates=Z[test])
    assert result["test_score"][0] == pytest.approx(score)
    model = SMFClassifier().set_predict_proba_request(covariates=True)
    model.set_decision_function_request(covariates=True).set_predict_log_proba_request(covariates=True)
    assert model.get_metadata_routing().predict_proba.requests["covariates"] is True


@pytest.mark.usefixtures("routing")
def test_pipelines_route_covariates():
    direct = SMFClassifier().fit(StandardScaler().fit_transform(X), y, covariates=Z)
    pipe = make_pipeline(StandardScaler(), requested(SMFClassifier()))
    pipe.fit(X, y, covariates=Z)
    np.testing.assert_array_equal(
        pipe.predict(X, covariates=Z), direct.predict(StandardScaler().fit_transform(X), covariates=Z)
    )
    assert pipe.score(X, y, covariates=Z) > 0.6
    # As a transformer in the middle.
    features = make_pipeline(requested(SMFClassifier(3)), SMFRegressor(2).set_fit_request(covariates=False))
    features.fit(X, y, covariates=Z)
    assert features[1].n_features_in_ == 3


def test_grid_search_over_a_pipeline():
    pipe = make_pipeline(StandardScaler(), SMFClassifier(lam=0.1))
    grid = {"smfclassifier__n_components": [1, 2], "smfclassifier__model": list(MODELS)}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ > 0.6


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_output_containers_and_verbose(estimator, capsys):
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(60) + 100)
    target = outcome(estimator, y)
    fitted = estimator(3).set_output(transform="pandas").fit(frame, target)
    codes = fitted.transform(frame)
    name = estimator.__name__.lower()
    assert list(codes.columns) == list(fitted.get_feature_names_out()) == [f"{name}{k}" for k in range(3)]
    assert list(codes.index) == list(frame.index)
    assert isinstance(clone(fitted).fit_transform(frame, target), pd.DataFrame)
    assert capsys.readouterr().out == ""
    fitted = estimator(verbose=1).fit(X, target)
    summary = capsys.readouterr().out.splitlines()
    assert "filter model, 60 samples x 6 features, 2 components" in summary[0]
    assert f"{fitted.n_iter_} iterations in" in summary[1]
    assert summary[-1].endswith(fitted.certificate_.statement)
    estimator(verbose=2).fit(X, target)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(summary) + fitted.n_iter_
    assert all(line.startswith(f"[{estimator.__name__}] ") for line in lines)
    assert "iteration    1  objective " in lines[1]
