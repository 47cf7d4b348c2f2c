"""Ctrl-C in a fit: it ends after the current step with the best model so far; a second one ends at once."""

import math
import signal

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

from superfactor import SMFClassifier, SMFRegressor, row_blocks, solution
from superfactor.options import Options
from superfactor.problem import Problem

N, P = 600, 80
LAM = {"filter": 100.0, "feature": 0.5}


def numbers():
    """X (N, P) with predictive small columns, and four classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) * np.linspace(3, 0.5, P)
    return X, np.argmax(X[:, -4:] + 0.5 * rng.standard_normal((N, 4)), axis=1)


def kept(X, place):
    return row_blocks(X) if place == "source" else X


def make(estimator, model, **parameters):
    return estimator(3, model=model, lam=LAM[model], xi=0.2, **parameters)


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def default_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with sklearn.config_context(working_memory=0.5):
        yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def at_iteration(monkeypatch):
    """Runs an action during an iteration of the solver."""
    record = solution.Monitor.record

    def plan(number, act):
        def recording(self, *args):
            if len(self.history) + 1 == number:
                act()
            record(self, *args)

        monkeypatch.setattr(solution.Monitor, "record", recording)

    return plan


@pytest.mark.parametrize(
    ("estimator", "model", "place"),
    [
        (SMFClassifier, "filter", "source"),
        (SMFClassifier, "feature", "array"),
        (SMFRegressor, "filter", "array"),
    ],
)
def test_the_best_model_so_far_is_kept(estimator, model, place, at_iteration, capsys):
    X, y = numbers()
    data = kept(X, place)
    whole = make(estimator, model).fit(data, y)
    at_iteration(4, ctrl_c)
    fit = make(estimator, model)
    with pytest.raises(KeyboardInterrupt, match=f"{estimator.__name__}: the best model so far"):
        fit.fit(data, y)
    assert capsys.readouterr().err.count("Ctrl-C") == 1
    assert fit.n_iter_ < whole.n_iter_
    assert math.isfinite(fit.objective_)
    assert fit.objective_ >= whole.objective_ * (1 - 1e-12)
    assert fit.objective_ == pytest.approx(whole.objective_, rel=0.1)
    assert fit.certificate_ is None
    assert fit.predict(data).shape == y.shape
    assert fit.transform(data).shape == fit.codes_.shape == (N, 3)
    assert fit.score(data, y) > 0.2 * whole.score(data, y)


def test_a_second_interrupt_ends_at_once(at_iteration):
    X, y = numbers()

    def twice():
        ctrl_c()
        ctrl_c()
        pytest.fail("the second one has not raised")

    at_iteration(2, twice)
    fit = make(SMFClassifier, "filter")
    with pytest.raises(KeyboardInterrupt) as raised:
        fit.fit(X, y)
    assert str(raised.value) == ""
    assert not hasattr(fit, "components_")


def test_an_interrupted_fit_has_a_checkpoint(at_iteration, monkeypatch, tmp_path):
    X, y = numbers()
    whole = make(SMFClassifier, "feature").fit(X, y)
    fit = make(SMFClassifier, "feature", checkpoint=tmp_path / "fit.npz")
    at_iteration(whole.n_iter_ - 5, ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        fit.fit(X, y)
    monkeypatch.undo()
    again = clone(fit).fit(X, y)  # a fit like any other: nothing is left of the request
    assert again.certificate_.is_global
    assert again.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert again.n_iter_ < whole.n_iter_


def test_interrupt_during_the_fit_of_a_subsample(at_iteration, monkeypatch):
    """The current step of the subsample ends, and one step on all samples follows."""
    X, y = numbers()
    monkeypatch.setattr(SMFClassifier, "options", Options(fewest_subsample=50))
    begun = []
    draw = Problem.subsampled
    monkeypatch.setattr(Problem, "subsampled", lambda *of: begun.append(1) or draw(*of))
    at_iteration(2, ctrl_c)
    fit = make(SMFClassifier, "filter")
    with pytest.raises(KeyboardInterrupt, match="best model so far"):
        fit.fit(row_blocks(X), y)
    assert begun
    assert fit.n_iter_ <= 2
    assert math.isfinite(fit.objective_)


@pytest.mark.parametrize("solver", ["lpgd", "bcd"])
def test_other_solvers(solver, at_iteration):
    X, y = numbers()
    at_iteration(3, ctrl_c)
    fit = SMFClassifier(3, lam=100.0, xi=0.2, solver=solver)
    with pytest.raises(KeyboardInterrupt, match="best model so far"):
        fit.fit(X, y)
    assert fit.n_iter_ == 3
    assert fit.certificate_ is None
    assert fit.predict(X).shape == y.shape
