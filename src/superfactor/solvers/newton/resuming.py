"""What a search writes into a checkpoint, and how it goes on from one.

Only the point, its subspace and the directions beside it are kept: all sums over samples are found again
in one pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array, cast, moved, namespace, wide
from superfactor.problem import Problem
from superfactor.samples import Block
from superfactor.solvers.newton.checkpoint import Checkpoint
from superfactor.solvers.newton.state import GROWING, State


@dataclass(frozen=True)
class Beginning:
    """Where a search may begin.

    Attributes
    ----------
    loadings : (p, k), of the subspace W of a point, then of the directions beside it
    beta, gamma : (r, κ), (q, κ) of the point
    tall : W (n, r) where the search side is the samples, if it is known
    phase : how far the search had come
    random : the state of its random numbers
    """

    loadings: Array
    beta: Array
    gamma: Array
    tall: Array | None = None
    phase: str = GROWING
    random: str | None = None

    @classmethod
    def of(cls, state: State) -> Beginning:
        """What a search of a like problem needs to go on from here."""
        frame = state.inside.frame(state.point)
        V = namespace(frame.W).concat([frame.W, frame.complement], axis=1)
        return cls(state.basis.loadings @ V, frame.beta, state.point.gamma)

    @classmethod
    def from_arrays(cls, stored: Mapping[str, Any], problem: Problem) -> Beginning:
        """What `arrays` gave, in the place of the problem's own arrays."""
        like = problem.like
        return cls(
            wide(stored["vectors"]),
            wide(stored["beta"]),
            wide(stored["gamma"]),
            cast(moved(stored["tall"], like), like) if "tall" in stored else None,
            str(stored["phase"]),
            str(stored["random"]),
        )


def arrays(state: State, random: str) -> dict[str, Any]:
    """All of it by name, for a file; `random` is the generator's, from where other starts draw."""
    begin, frame = Beginning.of(state), state.inside.frame(state.point)
    stored: dict[str, Any] = {
        "vectors": begin.loadings,
        "beta": begin.beta,
        "gamma": begin.gamma,
        "objective": state.point.F,
        "phase": state.phase,
        "random": random,
    }
    if state.problem.model.searches_samples:
        stored["tall"] = state.basis.S.combined(frame.W).array()
    return stored


def writing_to(checkpoint: Checkpoint, rng: np.random.Generator) -> Callable[[State, bool], None]:
    """An observer of a search that writes its states into a file, when it is time or they are important."""
    begun: list[str] = []  # the generator once the search has begun: other starts draw from here on

    def observe(state: State, important: bool) -> None:
        if not begun:
            begun.append(random_state(rng))
        checkpoint.save(lambda: arrays(state, begun[0]), important)

    return observe


def fingerprint(problem: Problem, rank: int) -> dict[str, Any]:
    """What tells this problem from others: its weights, its sizes and some sums over its samples."""
    labels, covariates, rows = problem.samples.sum(Block.digest)
    xi, lam = problem.users_weights  # since errors show them
    return {
        "model": problem.model.name,
        "n_components": rank,
        "xi": xi,
        "lam": lam,
        "shape of X": list(problem.shape),
        "sum of squares of X": problem.squared_norm,
        "unit of X": problem.scale,
        "digest of loss": problem.loss.digest(problem.n_outputs),
        "loss of a constant": problem.null_loss,
        "digest of X": float(rows),  # standardised data has the same sum of squares, whatever it is
        "digest of y": [float(x) for x in labels],
        "digest of covariates": [float(x) for x in covariates],
        "penalties of the covariates": [float(x) for x in problem.covariate_ridge],
    }


def random_state(rng: np.random.Generator) -> str:
    """The state of a generator as text."""
    return json.dumps(rng.bit_generator.state)


def restore_random(rng: np.random.Generator, state: str) -> None:
    """Put a generator of the same kind back into that state; others stay as they are."""
    found = json.loads(state)
    if found["bit_generator"] == rng.bit_generator.state["bit_generator"]:
        rng.bit_generator.state = found
