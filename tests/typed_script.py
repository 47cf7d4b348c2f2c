"""A user's script, for type checkers only (`make types`): arrays, not Any, and an estimator's own class."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import superfactor
from superfactor import SMFClassifier, SMFClassifierCV, SMFRegressor, SMFRegressorCV, SMFSurvival
from superfactor.theory import Certificate


class Mine(SMFClassifier):
    pass


X, y = np.eye(4), np.array([0, 1, 0, 1])

model = SMFClassifier().fit(X, y)
assert_type(model, SMFClassifier)
assert_type(model.predict(X), NDArray[Any])
assert_type(model.predict_proba(X), NDArray[Any])
assert_type(model.decision_function(X), NDArray[Any])
assert_type(model.transform(X), NDArray[Any])
assert_type(model.fit_transform(X, y), NDArray[Any])
assert_type(model.inverse_transform(model.codes_), NDArray[Any])
assert_type(model.components_, NDArray[Any])
assert_type(model.codes_, NDArray[Any])
assert_type(model.coef_, NDArray[Any])
assert_type(model.intercept_, NDArray[Any])
assert_type(model.classes_, NDArray[Any])
assert_type(model.feature_importances_, NDArray[Any])
assert_type(model.component_names_, NDArray[Any])
assert_type(model.certificate_, Certificate | None)
assert_type(model.objective_, float)
assert_type(model.score(X, y), float)
assert_type(model.set_feature_names(["a"]).n_covariates_in_, int)
assert_type(Mine().fit(X, y), Mine)

numbers = SMFRegressor(1).fit(X, y, sample_weight=y)
assert_type(numbers, SMFRegressor)
assert_type(numbers.predict(X), NDArray[Any])
assert_type(numbers.components_, NDArray[Any])

search = SMFClassifierCV().on_progress(None).fit(X, y)
assert_type(search, SMFClassifierCV)
assert_type(search.predict(X), NDArray[Any])
assert_type(search.predict_proba(X), NDArray[Any])
assert_type(search.transform(X), NDArray[Any])
assert_type(search.components_, NDArray[Any])
assert_type(search.certificate_, Certificate | None)
assert_type(search.best_params_, dict[str, Any])
assert_type(search.best_score_, float)
assert_type(search.score(X, y), float)

assert_type(SMFRegressorCV().fit(X, y).predict(X), NDArray[Any])
survival = SMFSurvival(1).fit(X, np.column_stack([y, y + 1]))
assert_type(survival, SMFSurvival)
assert_type(survival.predict(X), NDArray[Any])
assert_type(survival.predict_survival_function(X, times=[1.0]), NDArray[Any])
assert_type(survival.baseline_, NDArray[Any])

assert_type(superfactor.SMFClassifier().fit(X, y), SMFClassifier)  # loaded on first use, and known before
assert_type(superfactor.__version__, str)

# Mistakes that a checker has to find: a comment that silences nothing is an error.
SMFClassifier().fit(X)  # type: ignore[call-arg]
superfactor.SMFClasifier  # type: ignore[attr-defined]  # noqa: B018
