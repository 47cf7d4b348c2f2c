"""Interrupted fits go on to where they would have gone; whoever observes one changes nothing."""

import functools
import importlib

import numpy as np
import pytest
from tests.problems import MODELS, example
from tests.solvers.newton.searching import GROWING, begun, growing, new_run

from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solvers import newton
from superfactor.solvers.newton.beginning import begin
from superfactor.solvers.newton.checkpoint import Checkpoint
from superfactor.solvers.newton.resuming import (
    Beginning,
    arrays,
    fingerprint,
    random_state,
    restore_random,
    writing_to,
)
from superfactor.solvers.newton.rounds import rounds

# The package has a function of this name.
module = importlib.import_module("superfactor.solvers.newton.solve")
every_model = pytest.mark.parametrize("model", MODELS)


class Killed(BaseException):
    """What no solver catches."""


def hard(model, options=None):
    """Not proven at once: with other starts."""
    return example(model, 20, 8, 1, xi=0.05, lam=1e-3, weighted=True, options=options)[0]


@pytest.fixture
def always(monkeypatch):
    """Every state that is observed is written."""
    monkeypatch.setattr(module, "Checkpoint", functools.partial(Checkpoint, interval=0.0))


@pytest.fixture
def drawn(monkeypatch):
    """The generator's states whenever other starts begin."""
    seen, original = [], module.other_starts

    def watched(state, run, effort):
        seen.append(random_state(run.rng))
        return original(state, run, effort)

    monkeypatch.setattr(module, "other_starts", watched)
    return seen


@every_model
@pytest.mark.parametrize("options", [None, GROWING], ids=["whole range", "growing subspace"])
@pytest.mark.parametrize("after", [1, 3])
def test_a_stopped_fit_goes_on_to_the_same_objective(model, options, after, tmp_path, drawn):
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
    # Other starts were due twice, and drew the same numbers.
    assert len(drawn) == 2
    assert drawn[0] == drawn[1]


@every_model
def test_a_fit_killed_among_its_starts_goes_on_to_the_same_objective(model, tmp_path, drawn):
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
def test_another_seed_goes_on_with_the_numbers_of_the_file(model, tmp_path, drawn):
    path = tmp_path / "fit.npz"
    newton.solve(hard(model), 2, random_state=3, checkpoint=path, callback=lambda i, _: i == 2)
    newton.solve(hard(model), 2, random_state=99, checkpoint=path)
    newton.solve(hard(model), 2, random_state=3)
    assert drawn[0] == drawn[1]


@every_model
def test_a_finished_fit_is_not_searched_again(model, tmp_path, drawn):
    path = tmp_path / "fit.npz"
    first = newton.solve(hard(model), 2, checkpoint=path)
    second = newton.solve(hard(model), 2, checkpoint=path)
    assert len(drawn) == 1
    assert second.objective == pytest.approx(first.objective, rel=1e-10)
    assert second.n_iter < first.n_iter
    np.testing.assert_allclose(np.abs(second.factors.components), np.abs(first.factors.components), atol=1e-4)


# --- observers observe ------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("options", [None, GROWING], ids=["whole range", "growing subspace"])
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
    """Whenever the fit dies, what is in the file is no worse than what was there before."""
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


def test_the_generator_of_the_file_is_that_of_the_beginning(tmp_path):
    rng = np.random.default_rng(0)
    observe = writing_to(Checkpoint(tmp_path / "fit.npz", {}, 0.0), rng)
    first = begun(hard("filter"), 2)
    begin_at = random_state(rng)
    observe(first, True)
    rng.standard_normal(5)  # other starts draw
    observe(first, True)
    with np.load(tmp_path / "fit.npz") as stored:
        assert str(stored["random"]) == begin_at


# --- what is written --------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("options", [None, GROWING], ids=["whole range", "growing subspace"])
def test_a_state_comes_back_from_its_arrays(model, options, tmp_path):
    problem, run = hard(model, options), new_run()
    before = rounds(begun(problem, 2, run), run)
    checkpoint = Checkpoint(tmp_path / "fit.npz", fingerprint(problem, 2), 0.0)
    checkpoint.save(lambda: arrays(before, random_state(run.rng)), True)
    beginning = Beginning.from_arrays(checkpoint.load(), problem)
    assert beginning.phase == before.phase
    after = begin(problem, 2, new_run(), beginning)
    assert after.point.F <= before.point.F * (1 + 1e-10)
    assert pytest.approx(before.point.F, rel=1e-7) == after.point.F
    assert after.basis.size >= min(before.basis.size, min(problem.shape))
    W, V = (s.basis.S.array() @ s.point.W for s in (before, after))
    np.testing.assert_allclose(W @ W.T, V @ V.T, atol=1e-3)


@every_model
def test_the_beginning_of_a_like_problem(model):
    """Without W of the samples: a good subspace, if not the very same point."""
    problem, run = growing(model), new_run()
    end = rounds(begun(problem, 3, run), run)
    start = begin(problem, 3, new_run(), Beginning.of(end))
    cold = begun(problem, 3)
    assert start.point.F - end.point.F < 0.1 * (cold.point.F - end.point.F) + 1e-6 * end.point.F


def test_generators_by_their_state():
    rng, other = np.random.default_rng(1), np.random.default_rng(2)
    text = random_state(rng)
    expected = rng.standard_normal(3)
    restore_random(other, text)
    np.testing.assert_array_equal(other.standard_normal(3), expected)
    foreign = np.random.Generator(np.random.MT19937(0))
    before = random_state_of_any(foreign)
    restore_random(foreign, text)  # another kind stays as it is
    assert random_state_of_any(foreign) == before


def random_state_of_any(rng):
    return str(rng.bit_generator.state)


def test_a_fingerprint_tells_problems_apart():
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
