"""An interrupted fit that continues ends where it would have ended; observing a fit changes nothing."""

import functools
import importlib

import numpy as np
import pytest
from tests.problems import MODELS, example
from tests.solvers.newton.searching import GROWING

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solvers import newton
from superfactor.solvers.newton.beginning import fingerprint, random_state, restore_random
from superfactor.solvers.newton.checkpoint import Checkpoint

# The package has a function with this name.
module = importlib.import_module("superfactor.solvers.newton.solve")
every_model = pytest.mark.parametrize("model", MODELS)
either_range = pytest.mark.parametrize(("model", "options"), [("filter", GROWING), ("feature", None)])


class Killed(BaseException):
    """An exception that no solver catches."""


def hard(model, options=None):
    """A problem that needs other starts."""
    return example(model, 20, 8, 1, xi=0.05, lam=1e-3, weighted=True, options=options)[0]


@pytest.fixture
def always(monkeypatch):
    """Write every observed state."""
    monkeypatch.setattr(module, "Checkpoint", functools.partial(Checkpoint, interval=0.0))


@pytest.fixture
def drawn(monkeypatch):
    """The generator's state each time other starts begin."""
    seen, original = [], module.other_starts

    def watched(state, run, effort):
        seen.append(random_state(run.rng))
        return original(state, run, effort)

    monkeypatch.setattr(module, "other_starts", watched)
    return seen


@either_range
@pytest.mark.parametrize("after", [1, 3])
def test_a_stopped_fit_continues_to_the_same_objective(model, options, after, tmp_path, drawn):
    path = tmp_path / "fit.npz"
    whole = newton.solve(hard(model, options), 2, random_state=3)
    stopped = newton.solve(
        hard(model, options), 2, random_state=3, checkpoint=path, callback=lambda i, _: i == after
    )
    assert stopped.stopped_early and not stopped.converged
    resumed = newton.solve(hard(model, options), 2, random_state=3, checkpoint=path)
    assert resumed.converged
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-8)
    assert stopped.objective >= resumed.objective * (1 - 1e-12)
    # Other starts ran twice, with the same random numbers.
    assert len(drawn) == 2
    assert drawn[0] == drawn[1]


@every_model
def test_a_fit_killed_among_its_starts_continues_to_the_same_objective(model, tmp_path, drawn):
    path = tmp_path / "fit.npz"
    whole = newton.solve(hard(model), 2, random_state=3)
    iterations = []

    def killing(iteration, objective):
        if iterations and iterations[-1] == iteration:  # polled between two short descents
            raise Killed
        iterations.append(iteration)
        return False

    with pytest.raises(Killed):
        newton.solve(hard(model), 2, random_state=3, checkpoint=path, callback=killing)
    with np.load(path) as stored:
        assert str(stored["phase"]) == "restarting"
    resumed = newton.solve(hard(model), 2, random_state=3, checkpoint=path)
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-8)
    assert drawn[0] == drawn[1] == drawn[2]


@every_model
def test_a_finished_fit_is_not_searched_again(model, tmp_path, drawn):
    path = tmp_path / "fit.npz"
    first = newton.solve(hard(model), 2, checkpoint=path)
    second = newton.solve(hard(model), 2, checkpoint=path)
    assert len(drawn) == 1
    assert second.objective == pytest.approx(first.objective, rel=1e-10)
    assert second.n_iter < first.n_iter
    np.testing.assert_allclose(np.abs(second.factors.components), np.abs(first.factors.components), atol=1e-4)


# --- observers --------------------------------------------------------------------------------------


@either_range
def test_checkpoints_and_callbacks_change_nothing(model, options, tmp_path, always):
    plain = newton.solve(hard(model, options), 2)
    heard = []
    watched = newton.solve(
        hard(model, options),
        2,
        checkpoint=tmp_path / "fit.npz",
        callback=lambda i, F: heard.append((i, F)) or False,
    )
    assert (tmp_path / "fit.npz").exists()
    assert watched.history.objective == plain.history.objective
    assert watched.history.step == plain.history.step
    assert watched.history.kind == plain.history.kind
    assert watched.objective == plain.objective
    for name in ("components", "codes", "beta", "gamma"):
        one, other = (getattr(found.factors, name) for found in (watched, plain))
        np.testing.assert_array_equal(one, other)
    told = {i: F for i, F in heard if i}
    assert sorted(told) == list(range(1, plain.n_iter + 1))


@every_model
def test_the_file_always_holds_the_best_point_so_far(model, tmp_path, always, monkeypatch):
    """At any moment the point in the file is at least as good as the one before."""
    path, values = tmp_path / "fit.npz", []
    save = Checkpoint.save

    def saving(self, *given):
        save(self, *given)
        with np.load(path) as stored:
            values.append(float(stored["objective"]))

    monkeypatch.setattr(Checkpoint, "save", saving)
    found = newton.solve(hard(model), 2, checkpoint=path)
    assert len(values) > 3
    assert np.all(np.diff(values) <= 1e-12 * np.abs(values[:-1]))
    assert values[-1] == found.objective


# --- what is written --------------------------------------------------------------------------------


def test_generators_are_restored_by_their_state():
    rng, other = np.random.default_rng(1), np.random.default_rng(2)
    text = random_state(rng)
    expected = rng.standard_normal(3)
    restore_random(other, text)
    np.testing.assert_array_equal(other.standard_normal(3), expected)
    foreign = np.random.Generator(np.random.MT19937(0))
    before = str(foreign.bit_generator.state)
    restore_random(foreign, text)  # another kind does not change
    assert str(foreign.bit_generator.state) == before


def test_a_fingerprint_identifies_the_problem():
    rng = np.random.default_rng(0)
    X, y, C = rng.standard_normal((12, 5)), np.arange(12) % 2, rng.standard_normal((12, 1))
    plain = {"xi": 0.5, "lam": 0.3, "covariates": C}
    swapped = y.copy()
    swapped[[0, 1]] = y[[1, 0]]

    def print_of(model="filter", X=X, y=y, rank=2, **changes):
        problem = state(model, X, y, resolve_link("logistic", 1), **plain | changes)
        return fingerprint(problem, rank)

    same = print_of()
    assert print_of() == same
    others = [
        print_of(rank=3),
        print_of(model="feature"),
        print_of(xi=0.6),
        print_of(lam=0.4),
        print_of(y=swapped),
        print_of(X=X[::-1].copy()),
        print_of(covariates=-C),
        print_of(covariates=None),
        print_of(fit_intercept=False),
        print_of(sample_weight=np.arange(1.0, 13.0)),
        print_of(class_weight=1.0 + y),
    ]
    assert all(other != same for other in others)
