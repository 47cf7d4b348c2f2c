"""The parameter `checkpoint`: an interrupted fit resumes and has the result of an uninterrupted one."""

import math
import re
import subprocess
import sys
from functools import partial
from importlib import import_module

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from superfactor import SMFClassifier, SMFRegressor, row_blocks
from superfactor.solvers.newton import checkpoint

N, P = 350, 280  # a subspace that has to grow, in many iterations
# Its optimum is proven, so that no time goes into other starts.
LAM = {"filter": 100.0, "feature": 0.5}


def numbers(seed=0):
    """X (N, P) with predictive small columns, four classes, covariates (N, 2)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P)) * np.linspace(3, 0.5, P)
    Z = rng.standard_normal((N, 2))
    return X, np.argmax(X[:, -4:] + 0.5 * rng.standard_normal((N, 4)), axis=1), Z


def kept(X, place):
    return row_blocks(X) if place == "source" else X


def make(estimator, model, **parameters):
    lam = LAM[model] * (30 if estimator is SMFRegressor else 1)
    return estimator(3, **{"model": model, "lam": lam, "xi": 0.2, **parameters})


class Broken(Exception):
    """Raised in the middle of a fit."""


class Listener:
    """Runs an action after iteration `at`."""

    def __init__(self, at, act):
        self.at, self.act = at, act

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "iteration" and estimator.n_iter_ in self.at:
            return self.act()
        return False

    def teardown(self, estimator, context):
        pass


def raise_broken():
    raise Broken


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Checkpoints at every step, and blocks of 256 rows."""
    eager = partial(checkpoint.Checkpoint, interval=0.0)
    # The package's own `solve` is the function.
    solving = import_module("superfactor.solvers.newton.solve")
    monkeypatch.setattr(solving, "Checkpoint", eager)
    monkeypatch.setattr(checkpoint, "_SHARE", math.inf)  # however long it takes
    with sklearn.config_context(working_memory=0.5):
        yield


def interrupted(fit, how, at, data, y):
    """Run `fit` up to iteration `at`."""
    if how == "max_iter":
        fit.set_params(max_iter=at, certify=None)
        with pytest.warns(ConvergenceWarning, match=f"the limit of {at} iterations"):
            fit.fit(data, y)
        return
    pytest.importorskip("sklearn.callback")
    if how == "callback":
        fit.set_callbacks(Listener([at], lambda: True)).fit(data, y)
    else:
        with pytest.raises(Broken):
            fit.set_callbacks(Listener([at], raise_broken)).fit(data, y)


# --- broken off, and resumed -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "estimator", "model", "place"),
    [
        ("max_iter", SMFClassifier, "filter", "array"),
        ("max_iter", SMFRegressor, "feature", "source"),
        ("callback", SMFClassifier, "feature", "array"),
        ("error", SMFRegressor, "filter", "source"),
    ],
)
def test_resumed_fits_have_the_same_result(how, estimator, model, place, tmp_path):
    X, y, _ = numbers()
    data, path = kept(X, place), tmp_path / "fit.npz"
    whole = make(estimator, model).fit(data, y)
    late = whole.n_iter_ - 5
    assert late > 8
    again = make(estimator, model, checkpoint=path)
    interrupted(clone(again), how, late, data, y)
    assert path.exists()
    again.fit(data, y)
    assert again.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert again.n_iter_ < whole.n_iter_
    assert again.certificate_.relative_gap == pytest.approx(
        whole.certificate_.relative_gap, rel=1e-4, abs=1e-7
    )
    np.testing.assert_allclose(again.predict(X), whole.predict(X), atol=1e-3)
    # Once more: all is done.
    once_more = clone(again).fit(data, y)
    assert once_more.n_iter_ <= 4
    assert once_more.objective_ == pytest.approx(again.objective_, rel=1e-10)
    assert list(tmp_path.iterdir()) == [path]


def test_repeated_interruptions_without_a_proof(tmp_path):
    X, y, _ = numbers()
    options = {"model": "filter", "lam": 20.0}
    whole = make(SMFClassifier, **options).fit(X, y)
    assert not whole.certificate_.is_global
    fit = make(SMFClassifier, **options, checkpoint=tmp_path / "fit.npz", max_iter=4)
    objectives = []
    with pytest.warns(ConvergenceWarning):
        for _ in range(5):
            objectives.append(clone(fit).fit(X, y).objective_)
    assert objectives == sorted(objectives, reverse=True)
    found = clone(fit).set_params(max_iter=None).fit(X, y)
    assert found.objective_ == pytest.approx(whole.objective_, rel=1e-9)


def test_resume_from_a_source_of_rows(tmp_path):
    """The file depends on the problem, not on how X is stored."""
    model = "filter"
    X, y, Z = numbers()
    weight = np.random.default_rng(3).uniform(0.5, 2, N)
    weight[::9] = 0
    given = {"covariates": Z, "sample_weight": weight}
    whole = make(SMFClassifier, model).fit(X, y, **given)
    fit = make(SMFClassifier, model, checkpoint=tmp_path / "fit.npz")
    with pytest.warns(ConvergenceWarning):
        clone(fit).set_params(max_iter=whole.n_iter_ - 4, certify=None).fit(X, y, **given)
    found = fit.fit(row_blocks(X), y, **given)
    assert found.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert found.n_iter_ < whole.n_iter_


# --- the file itself -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "place"), [("filter", "source"), ("feature", "array")])
def test_the_file_is_complete_at_all_times(model, place, tmp_path):
    pytest.importorskip("sklearn.callback")
    X, y, _ = numbers()
    path = tmp_path / "fit.npz"
    objectives = []

    def look():
        if path.exists():
            with np.load(path) as content:
                objectives.append(float(content["objective"]))
                assert all(np.isfinite(content[name]).all() for name in ("vectors", "beta"))
        assert [file.name for file in tmp_path.iterdir()] in ([], ["fit.npz"])

    fit = make(SMFClassifier, model, checkpoint=path)
    fit.set_callbacks(Listener(range(1, 100), look)).fit(kept(X, place), y)
    assert len(objectives) >= fit.n_iter_ - 2
    assert len(set(objectives)) > 5
    # The same point in a larger basis may differ in its last digit.
    assert np.all(np.diff(objectives) <= 1e-14 * np.abs(objectives[:-1]))


def permuted(X, y, Z):
    return {"X": X[::-1]}


def standardised(X, y, Z):
    """Changed data with the same sum of squares."""
    other = np.random.default_rng(9).standard_normal(X.shape)
    return {"X": other * np.sqrt(np.sum(X**2) / np.sum(other**2))}


OTHERS = [
    (lambda X, y, Z: {"X": X[:, 1:]}, r"shape of X is \[350, 280\] in the file and \[350, 279\]"),
    (lambda X, y, Z: {"X": 1.001 * X}, "sum of squares of X is"),
    (permuted, "other X"),
    (standardised, "other X"),
    (lambda X, y, Z: {"y": np.roll(y, 1)}, "other y"),
    (lambda X, y, Z: {"covariates": Z[::-1]}, "other covariates"),
    (lambda X, y, Z: {"covariates": None}, "penalties of the covariates is"),
    (lambda X, y, Z: {"sample_weight": np.arange(1.0, N + 1)}, "sum of squares of X is"),
    (lambda X, y, Z: {"n_components": 2}, "n_components is 3 in the file and 2 in this fit"),
    (lambda X, y, Z: {"model": "feature"}, "model is 'filter' in the file and 'feature' in this fit"),
    (lambda X, y, Z: {"xi": 0.3}, r"xi is 0\.2\d* in the file and 0\.3 in this fit"),
    (lambda X, y, Z: {"lam": 21.0}, r"lam is 100\.0 in the file and 21\.0 in this fit"),
    (lambda X, y, Z: {"link": "probit", "y": y > 0}, "other loss"),
]


def test_checkpoint_of_another_problem_is_refused(tmp_path):
    X, y, Z = numbers()
    path = tmp_path / "fit.npz"
    fit = make(SMFClassifier, "filter", checkpoint=path)
    with pytest.warns(ConvergenceWarning):
        clone(fit).set_params(max_iter=3).fit(X, y, covariates=Z)
    before = path.read_bytes()
    for change, message in OTHERS:
        given, other = {"X": X, "y": y, "covariates": Z}, clone(fit)
        for key, value in change(X, y, Z).items():
            if key in fit.get_params():
                other.set_params(**{key: value})
            else:
                given[key] = value
        one_line = rf"\Acheckpoint='[^\n]*': the checkpoint of another problem: [^\n]*{message}[^\n]*\Z"
        with pytest.raises(ValueError, match=one_line):
            other.fit(**given)
        assert path.read_bytes() == before


def test_checkpoint_allows_other_tolerance_and_iterations(tmp_path):
    X, y, _ = numbers()
    fit = make(SMFRegressor, "filter", checkpoint=tmp_path / "fit.npz")
    with pytest.warns(ConvergenceWarning):
        clone(fit).set_params(max_iter=3, tol=1e-3).fit(X, y)
    clone(fit).set_params(tol=1e-6, random_state=7, certify=None).fit(X, y)
    found = clone(fit).fit(X, y)
    whole = make(SMFRegressor, "filter").fit(X, y)
    assert found.objective_ == pytest.approx(whole.objective_, rel=1e-9)


# --- killed -------------------------------------------------------------------------------------------------

PROGRAM = """
import sys, time
from functools import partial
from importlib import import_module
import numpy as np
from superfactor import SMFClassifier, row_blocks
from superfactor import solution
from superfactor.solvers.newton import checkpoint

checkpoint._SHARE = float("inf")
solving = import_module("superfactor.solvers.newton.solve")
solving.Checkpoint = partial(checkpoint.Checkpoint, interval=0.0)
record = solution.Monitor.record

def told(self, *args):
    record(self, *args)
    if len(self.history) == int(sys.argv[3]):
        print("there", flush=True)
        time.sleep(60)  # to be killed here

solution.Monitor.record = told
y = np.load(sys.argv[1] + "/y.npy")
fit = SMFClassifier(3, model=sys.argv[2], lam=float(sys.argv[4]), xi=0.2, checkpoint=sys.argv[1] + "/fit.npz")
fit.fit(row_blocks(sys.argv[1] + "/x.npy"), y)
"""


@pytest.mark.slow
def test_resume_after_a_killed_process(tmp_path):
    model = "feature"
    X, y, _ = numbers()
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    whole = make(SMFClassifier, model).fit(X, y)
    words = [str(tmp_path), model, str(whole.n_iter_ - 5), str(LAM[model])]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "there\n"
        finally:
            process.kill()
        process.wait(timeout=60)
    left = {file.name for file in tmp_path.iterdir()} - {"x.npy", "y.npy", "fit.npz"}
    assert all(re.fullmatch(r"\.fit\.npz\.\w+\.tmp", name) for name in left)
    fit = make(SMFClassifier, model, checkpoint=tmp_path / "fit.npz")
    fit.fit(row_blocks(tmp_path / "x.npy"), y)
    assert fit.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert fit.n_iter_ < whole.n_iter_
