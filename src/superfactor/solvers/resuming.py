"""What a search writes into a checkpoint, and how it goes on from one.

Only the point, its subspace and the directions beside it are kept: all sums over samples are found again
in one pass.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor._arrays import Array, device
from superfactor.lifting import SampledProblem

GROWING, RESTARTING, FINISHED = "growing", "restarting", "finished"


@dataclass(frozen=True)
class Beginning:
    """Where a search may begin.

    Attributes
    ----------
    vectors : (p, k); of the filter model's search side: the subspace W of a point, then the directions
        beside it. For the feature model X̃ᵀ of them
    beta, gamma : (r, κ), (q, κ) of the point
    tall : W (n, r) of the feature model's point, where it is known
    objective : F of the point, where it is of this very problem
    phase : how far the search had come
    random : the state of its random numbers
    """

    vectors: Array
    beta: Array
    gamma: Array
    tall: Array | None = None
    objective: float | None = None
    phase: str = GROWING
    random: str | None = None

    def arrays(self) -> dict[str, Any]:
        """All of it by name, for a file."""
        parts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in parts.items() if value is not None}

    @classmethod
    def from_arrays(cls, state: Mapping[str, Any], problem: SampledProblem) -> Beginning:
        """What `arrays` gave, in the place of the problem's own arrays."""
        xp, like = problem.xp, problem.covariate_ridge

        def array(name: str) -> Array:
            return xp.asarray(state[name], dtype=like.dtype, device=device(like))

        return cls(
            array("vectors"),
            array("beta"),
            array("gamma"),
            array("tall") if "tall" in state else None,
            float(state["objective"]),
            str(state["phase"]),
            str(state["random"]),
        )


def fingerprint(problem: SampledProblem, rank: int) -> dict[str, Any]:
    """What tells this problem from others: its weights, its sizes and some sums over its samples."""
    labels, covariates, rows = problem.samples.sum("digest")
    return {
        "model": problem.name,
        "n_components": rank,
        "xi": problem.xi / problem.scale**2,  # in the user's units, since errors show them
        "lam": problem.lam * (problem.scale**2 if problem.name == "filter" else 1.0),
        "shape of X": list(problem.shape),
        "sum of squares of X": problem.squared_norm,
        "unit of X": problem.scale,
        "loss": repr(problem.loss),
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
