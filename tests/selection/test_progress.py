"""What a search tells while it runs, and who can stop it."""

import pickle
import re
import threading

import numpy as np
import pytest
from sklearn import get_config
from sklearn.base import clone
from tests.estimators.test_progress import Screen
from tests.selection.searches import CANDIDATES, SCORES, SPLITS, make, numbers, splits_of

from superfactor.estimators import progress as drawing
from superfactor.selection.search import progress as module

X, y = numbers()
jobs = pytest.mark.parametrize("n_jobs", [None, 2], ids=["here", "processes"])


def test_results_do_not_depend_on_who_watches():
    alone = make().fit(X, y)
    watched = make(verbose=0).on_progress(lambda done, total: None).fit(X, y)
    np.testing.assert_array_equal(splits_of(alone), splits_of(watched))
    assert alone.best_params_ == watched.best_params_
    np.testing.assert_array_equal(alone.predict_proba(X), watched.predict_proba(X))


# --- on_progress -------------------------------------------------------------------------------------------


@jobs
def test_every_score_is_told_in_turn(n_jobs):
    calls = []
    search = make(n_jobs=n_jobs)
    search.on_progress(lambda done, total: calls.append((done, total))).fit(X, y)
    assert calls == [(done, SCORES + 1) for done in range(SCORES + 2)]
    pickle.loads(pickle.dumps(search)).fit(X, y)  # who listens stays behind
    clone(search).fit(X, y)
    search.on_progress(None).fit(X, y)
    assert len(calls) == SCORES + 2


def test_the_search_can_be_read_as_it_would_end_now():
    seen = []
    search = make()

    def listener(done, total):
        if 0 < done < total:
            seen.append((np.count_nonzero(~np.isnan(splits_of(search))), search.best_score_))

    search.on_progress(listener).fit(X, y)
    assert [number for number, _ in seen] == list(range(1, SCORES + 1))
    first = splits_of(search)[0]
    assert seen[CANDIDATES - 1][1] == first.max()  # of the first split, once that is over
    assert seen[-1][1] == search.best_score_


@pytest.mark.parametrize("stop_at", [1, CANDIDATES, 2 * CANDIDATES + 3])
@pytest.mark.filterwarnings("error")  # stopping on request is no reason to warn
def test_a_listener_stops_the_search_which_goes_on_to_its_choice(stop_at):
    whole = splits_of(make().fit(X, y))
    calls = []
    search = make().on_progress(lambda done, total: calls.append(done) or done == stop_at)
    scores = splits_of(search.fit(X, y))
    done = ~np.isnan(scores)
    assert done.sum() == stop_at
    np.testing.assert_array_equal(scores[done], whole[done])
    assert calls == [*range(stop_at + 1), SCORES + 1]
    finished = done.all(axis=1)
    expected = whole[finished].mean(axis=0) if finished.any() else scores[0]
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], expected)
    assert search.best_index_ == np.nanargmax(expected)
    assert search.best_estimator_[-1].n_components == search.best_params_["n_components"]
    assert search.predict(X).shape == y.shape


def test_the_standard_error_is_that_of_the_splits_that_count():
    """Means 0.6 and 0.75, deviation 0.25: within the error of two splits, not of four."""
    calls = []

    def scorer(fit, X, y):
        calls.append(1)
        second = len(calls) > CANDIDATES
        return {1: 0.7, 2: 1.0}[fit.n_components] if second else 0.5

    search = make(cv=4, scoring=scorer, rule="one_standard_error")
    search.on_progress(lambda done, total: done == 2 * CANDIDATES).fit(X, y)
    assert search.best_params_["n_components"] == 1


def test_nobody_stops_what_has_not_begun():
    search = make().on_progress(lambda done, total: done == 0).fit(X, y)
    assert not np.isnan(splits_of(search)).any()


def slowly(fit, X, y):
    threading.Event().wait(0.3)
    return float(fit.score(X, y))


def test_processes_are_stopped_too():
    search = make(n_jobs=2, scoring=slowly).on_progress(lambda done, total: done >= 1)
    done = ~np.isnan(splits_of(search.fit(X, y)))
    assert 1 <= done.sum() < SCORES
    assert np.isfinite(search.best_score_)
    assert search.predict(X).shape == y.shape


@jobs
def test_an_error_of_the_listener_comes_out(n_jobs):
    def listener(done, total):
        if done == 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make(n_jobs=n_jobs).on_progress(listener).fit(X, y)


@jobs
def test_listeners_live_under_the_users_settings(n_jobs):
    seen = []
    make(n_jobs=n_jobs).on_progress(lambda done, total: seen.append(get_config())).fit(X, y)
    assert all(settings == get_config() for settings in seen)


# --- callbacks of scikit-learn -----------------------------------------------------------------------------


class Recorder:
    """Writes down what it is told; stops after `stop_at` scores."""

    def __init__(self, stop_at=None):
        self.stop_at = stop_at
        self.begun, self.ended, self.scores = [], [], []
        self.set_up = self.torn_down = 0
        self.total = self.final = None

    def setup(self, estimator, context):
        self.set_up += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.ended.append(context.task_name)
        if context.task_name == "score":
            self.scores.append(estimator.best_score_)
            self.total = context.parent.max_subtasks
        elif context.task_name == "fit":
            self.final = fitted_estimator
        return self.stop_at is not None and len(self.scores) >= self.stop_at

    def teardown(self, estimator, context):
        self.torn_down += 1


@pytest.fixture
def callback():
    return pytest.importorskip("sklearn.callback", reason="scikit-learn without callbacks")


@jobs
@pytest.mark.parametrize("refit", [True, False])
def test_callbacks_see_every_score_and_the_refit(callback, n_jobs, refit):
    recorder = Recorder()
    search = make(n_jobs=n_jobs, refit=refit).set_callbacks(recorder).fit(X, y)
    inner = ["score"] * SCORES + ["refit"] * refit
    assert recorder.begun == ["fit", *inner]
    assert recorder.ended == [*inner, "fit"]
    assert recorder.total == SCORES + refit
    assert recorder.scores[-1] == search.best_score_
    assert recorder.set_up == recorder.torn_down == 1
    assert recorder.final.best_params_ == search.best_params_


@pytest.mark.filterwarnings("error")
def test_callbacks_stop_the_search(callback):
    recorder = Recorder(stop_at=5)
    search = make().set_callbacks(recorder).fit(X, y)
    assert recorder.ended == ["score"] * 5 + ["refit", "fit"]
    assert np.count_nonzero(~np.isnan(splits_of(search))) == 5
    assert search.predict(X).shape == y.shape


def test_callbacks_are_torn_down_when_a_search_fails(callback):
    recorder = Recorder()
    with pytest.raises(ZeroDivisionError):
        make(scoring=lambda *_: 1 / 0).set_callbacks(recorder).fit(X, y)
    assert recorder.torn_down == 1


@pytest.mark.parametrize("preprocess", [None, "center"])
def test_bars_of_scikit_learn_go_along_to_the_refit(callback, capsys, preprocess):
    pytest.importorskip("rich")
    bars = callback.ProgressBar(max_propagation_depth=1)
    make(preprocess=preprocess).set_callbacks(bars).fit(X, y)
    shown = capsys.readouterr().out
    assert "SMFClassifierCV" in shown
    assert ("SMFClassifier " if preprocess is None else "Pipeline") in shown


# --- verbose -----------------------------------------------------------------------------------------------


def test_silence(capsys):
    make().fit(X, y)
    assert capsys.readouterr() == ("", "")


@jobs
def test_lines_for_splits_choice_and_refit(capsys, n_jobs):
    search = make(verbose=1, n_jobs=n_jobs).fit(X, y)
    out, err = capsys.readouterr()
    *splits, count, choice, refit = [re.sub(r"^\[SMFClassifierCV\] ", "", x) for x in out.splitlines()]
    best = splits_of(search).max(axis=1)
    assert sorted(splits) == [
        f"split {k + 1} of {SPLITS}: {CANDIDATES} candidates, best score {best[k]:.4g}" for k in range(SPLITS)
    ]
    assert re.fullmatch(rf"{SCORES} of {SCORES} scores in \S+ s", count)
    assert f"n_components {search.best_params_['n_components']}," in choice
    assert choice.endswith(f"mean score {search.best_score_:.4g}")
    assert re.fullmatch(r"fitted to all samples in \S+ s", refit)
    assert err == ""  # no bar where no terminal is


def test_a_line_for_every_score(capsys):
    search = make(verbose=2, refit=False).fit(X, y)
    lines = [line for line in capsys.readouterr().out.splitlines() if "  score " in line]
    shown = [float(re.search(r"  score (\S+)  ", line)[1]) for line in lines]
    assert len(shown) == SCORES
    np.testing.assert_allclose(np.sort(shown), np.sort(splits_of(search).ravel()), rtol=1e-3)


@jobs
def test_a_bar_on_a_terminal(monkeypatch, n_jobs):
    pytest.importorskip("rich")
    drawn = []
    bar_of = drawing.drawn_bar

    def watched(*args):
        bar = bar_of(*args)
        update = bar.update
        bar.update = lambda task, completed: (drawn.append(completed), update(task, completed=completed))
        return bar

    monkeypatch.setattr(module, "drawn_bar", watched)
    monkeypatch.setenv("TERM", "xterm-256color")
    screen = Screen()
    monkeypatch.setattr(module.sys, "stderr", screen)
    make(verbose=1, n_jobs=n_jobs).fit(X, y)
    assert drawn == list(range(1, SCORES + 1))
    assert f"{SCORES} of {SCORES} scores" in screen.drawn[-1]
    assert screen.getvalue().endswith("\x1b[1A\x1b[2K")  # nothing is left of it
