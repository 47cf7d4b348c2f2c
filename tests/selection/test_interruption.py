"""Ctrl-C in a search: what is scored is kept, and the best of it fitted; again, at once."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.processes import INTERRUPTIBLE
from tests.selection.searches import CANDIDATES, SCORES, make, numbers, splits_of

from superfactor import SMFClassifier, solution

X, y = numbers()


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


def twice():
    ctrl_c()
    ctrl_c()
    pytest.fail("the second one has not raised")


def interrupt():
    raise KeyboardInterrupt


class Scorer:
    """Accuracy; does something at one of its calls, before it has an answer."""

    def __init__(self, number, act):
        self.number, self.act, self.calls = number, act, 0

    def __call__(self, fit, X, y):
        self.calls += 1
        if self.calls == self.number:
            self.act()
        return float(fit.score(X, y))


@pytest.fixture(autouse=True)
def default_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def whole():
    """The scores (splits, candidates) of a search that is not stopped."""
    return splits_of(make(scoring="accuracy").fit(X, y))


@pytest.mark.parametrize("number", [1, CANDIDATES, 2 * CANDIDATES + 1])
def test_the_best_so_far_is_chosen_and_fitted(number, capsys):
    preprocess = None if number == 1 else "center"
    whole = splits_of(make(scoring="accuracy", preprocess=preprocess).fit(X, y))
    search = make(scoring=Scorer(number, ctrl_c), preprocess=preprocess)
    with pytest.raises(
        KeyboardInterrupt, match=f"SMFClassifierCV: the best candidate after {number} of {SCORES}"
    ):
        search.fit(X, y)
    assert capsys.readouterr().err.count("Ctrl-C") == 1
    scores = splits_of(search)
    done = ~np.isnan(scores)
    assert done.sum() == number
    np.testing.assert_array_equal(scores[done], whole[done])
    finished = done.all(axis=1)
    mean = scores[finished].mean(axis=0) if finished.any() else scores[0]
    assert search.best_score_ == np.nanmax(mean)
    alone = SMFClassifier(**search.best_params_)
    data = X - X.mean(axis=0) if preprocess else X
    np.testing.assert_allclose(search.predict_proba(X), alone.fit(data, y).predict_proba(data))
    smf = search.best_estimator_ if preprocess is None else search.best_estimator_[-1]
    assert smf.certificate_ is not None  # a fit like any other


@pytest.mark.parametrize("act", [twice, interrupt], ids=["twice", "from elsewhere"])
def test_at_once_the_scores_are_kept_and_nothing_is_fitted(act, whole):
    search = make(scoring=Scorer(CANDIDATES + 2, act))
    search.best_estimator_ = "of an earlier fit"
    with pytest.raises(KeyboardInterrupt) as raised:
        search.fit(X, y)
    assert str(raised.value) == ""
    assert np.count_nonzero(~np.isnan(splits_of(search))) == CANDIDATES + 1
    assert search.best_score_ == whole[0].max()
    with pytest.raises(NotFittedError, match="interrupted before its choice was fitted"):
        search.predict(X)


def test_with_nothing_scored_nothing_is_kept():
    """Nor is an earlier search."""
    search = make(scoring=Scorer(SCORES + 1, interrupt)).fit(X, y)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    with pytest.raises(NotFittedError):
        search.predict(X)


def test_without_a_refit():
    search = make(scoring=Scorer(6, ctrl_c), refit=False)
    with pytest.raises(KeyboardInterrupt, match="the best candidate after 6"):
        search.fit(X, y)
    assert search.best_params_ in search.cv_results_["params"]


@pytest.mark.parametrize("first", [True, False], ids=["the second", "the first"])
def test_in_the_refit_it_is_as_in_a_fit(first, monkeypatch):
    """The best model so far: one step of it, in `best_estimator_`."""
    fit = SMFClassifier.fit

    def interrupted(self, *args, **given):
        record = solution.Monitor.record

        def recording(monitor, *of):
            if len(monitor.history) == 0:
                ctrl_c()
            record(monitor, *of)

        with monkeypatch.context() as patch:
            patch.setattr(solution.Monitor, "record", recording)
            return fit(self, *args, **given)

    monkeypatch.setattr(SMFClassifier, "fit", interrupted)
    search = make(scoring=Scorer(6 if first else 0, ctrl_c))
    with pytest.raises(KeyboardInterrupt, match="SMFClassifier: the best model so far is kept"):
        search.fit(X, y)
    assert search.best_estimator_[-1].certificate_ is None
    assert search.predict(X).shape == y.shape


def test_nothing_is_left_of_the_request(whole):
    scorer = Scorer(3, ctrl_c)
    search = make(scoring=scorer)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    np.testing.assert_array_equal(splits_of(search.fit(X, y)), whole)


# --- several processes -------------------------------------------------------------------------------------

PROGRAM = """
import sys, time
import numpy as np
from tests.selection.searches import make, numbers, splits_of

def slowly(fit, X, y):
    time.sleep(0.5)
    return float(fit.score(X, y))

X, y = numbers()
search = make(n_jobs=int(sys.argv[1]), scoring=slowly)
search.on_progress(lambda done, total: done == 2 and print("scoring", flush=True))
try:
    search.fit(X, y)
except KeyboardInterrupt as error:
    print(error, np.count_nonzero(~np.isnan(splits_of(search))), search.predict(X).shape)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_jobs", "group"), [(2, False), (3, True)], ids=["one process, all busy", "terminal, some idle"]
)
def test_other_processes_end_after_their_candidate(n_jobs, group):
    """A terminal sends the signal to all processes, `kill` to one."""
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE + PROGRAM, str(n_jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as process:
        try:
            assert process.stdout.readline() == "scoring\n"
            if group:
                os.killpg(process.pid, signal.SIGINT)
            else:
                process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, err
    words = out.split()
    assert out.startswith("SMFClassifierCV: the best candidate after ")
    assert 2 <= int(words[5]) == int(words[-2]) < SCORES
    assert words[-1] == "(40,)"
    assert err.count("Ctrl-C") == 1
