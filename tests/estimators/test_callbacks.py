"""scikit-learn's callbacks, if the installed version has them."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from tests.estimators.data import ESTIMATORS, outcome, small

from superfactor import SMFClassifier

X, y, _ = small(n=60)
callback = pytest.importorskip("sklearn.callback", reason="scikit-learn without callbacks")


class Recorder:
    """Records its calls; stops after `stop_at` iterations."""

    def __init__(self, stop_at=None):
        self.stop_at = stop_at
        self.begun, self.ended, self.objectives = [], [], []
        self.set_up = self.torn_down = 0
        self.final = None

    def setup(self, estimator, context):
        self.set_up += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.ended.append(context.task_name)
        if context.task_name == "iteration":
            self.objectives.append(estimator.objective_)
        elif context.task_name == "fit":
            self.final = fitted_estimator
        return self.stop_at is not None and len(self.objectives) >= self.stop_at

    def teardown(self, estimator, context):
        self.torn_down += 1


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_callbacks_are_called_at_every_iteration(estimator):
    recorder = Recorder()
    fitted = estimator(lam=0.01).set_callbacks(recorder).fit(X, outcome(estimator, y))
    assert recorder.objectives == fitted.history_["objective"]
    assert recorder.begun[0] == recorder.ended[-1] == "fit"
    for inner in (recorder.begun[1:], recorder.ended[:-1]):
        assert inner.count("iteration") == fitted.n_iter_
        assert set(inner) <= {"iteration", "restart"}
    assert recorder.set_up == recorder.torn_down == 1
    np.testing.assert_array_equal(recorder.final.predict(X), fitted.predict(X))


@pytest.mark.parametrize("solver", ["lifted-newton", "lpgd", "bcd"])
@pytest.mark.filterwarnings("error")  # stopping on request is no failure to converge
def test_callbacks_stop_early(solver):
    full = SMFClassifier(lam=1e-4).fit(X, y)
    stopped = SMFClassifier(solver=solver, lam=1e-4).set_callbacks(Recorder(stop_at=1)).fit(X, y)
    assert stopped.n_iter_ == 1 < full.n_iter_
    assert stopped.objective_ >= full.objective_ * (1 - 1e-9)
    assert np.all(np.isfinite(stopped.predict_proba(X)))


def test_callbacks_end_if_a_fit_fails():
    recorder = Recorder()
    with pytest.raises(ZeroDivisionError):
        SMFClassifier().set_callbacks(recorder, Failing()).fit(X, y)
    assert recorder.torn_down == 1


class Failing(Recorder):
    def on_fit_task_end(self, estimator, context):
        raise ZeroDivisionError


def test_progress_bars_pass_through_a_search(capsys):
    pytest.importorskip("rich")
    search = GridSearchCV(SMFClassifier(), {"xi": [0.5, 1.0]}, cv=2)
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(X, y)
    assert "SMFClassifier" in capsys.readouterr().out


def test_scores_can_be_monitored():
    monitor = callback.ScoringMonitor(scoring="accuracy")
    clf = SMFClassifier().set_callbacks(monitor).fit(X, y)
    assert clf.score(X, y) in monitor.get_logs().data_as_pandas["accuracy"].to_list()
