"""What an experiment is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["NAMES", "TITLES", "Experiment", "Outcome", "Setting", "load"]

# Here, and not in the modules: a list of the experiments should not wait for their imports.
TITLES = {
    "mnist-convergence": "Figure 2a: training loss of Algorithm 1 against seconds, semi-synthetic MNIST",
    "job-convergence": "Figure 2b: training loss of Algorithm 1 against seconds, job postings",
    "lpgd-vs-bcd": "Figure 2c: LPGD against BCD, ours and the release's, and the default solver",
    "microarray-accuracy": "Figure 3f: accuracies on cancer microarrays, LDA, PLS-DA and ridge added",
    "gene-groups": "Figure 3a-e: supervised and unsupervised gene groups, known markers circled",
    "job-topics": "topics of job postings beside those of LDA and NMF, scores where fraud is rare",
    "statistical": "Theorem 2: errors of A, B and γ as samples grow, in the noise regimes it names",
    "global-optimum": "where a fit is proven optimal: by the theorem, by the certificate, by neither",
}
NAMES = tuple(TITLES)


# Repeats take the seeds that follow; generators know those below 2³².
LARGEST_SEED = 2**31 - 1


def _silent(*_: Any) -> None:
    pass


@dataclass(frozen=True)
class Setting:
    """What every experiment is given.

    Attributes
    ----------
    data_dir : folder with data already on disk, for the readers of `reproduction.data`
    quick : the same in less than a minute: fewer starts, points and repeats
    seed : of whatever is drawn at random
    options : what only some experiments know, by name: ``markers``, a CSV of known genes
    progress : called as progress(done, total)
    note : called with one line about something used or left out
    """

    data_dir: Path | None = None
    quick: bool = False
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    progress: Callable[[int, int], None] = _silent
    note: Callable[[str], None] = _silent

    def __post_init__(self) -> None:
        whole = isinstance(self.seed, Integral) and not isinstance(self.seed, bool)
        if not whole or not 0 <= self.seed <= LARGEST_SEED:
            raise ValueError(f"seed={self.seed!r}: a whole number from 0 to {LARGEST_SEED} is required")


@dataclass(frozen=True)
class Outcome:
    """What an experiment gives back.

    Attributes
    ----------
    figures : by suffix of their files' names; "" is the main one
    tables : the numbers, likewise; one row a number with its setting
    comparison : how they compare with the paper, computed from them
    """

    figures: dict[str, Figure]
    tables: dict[str, pd.DataFrame]
    comparison: str


class Experiment(Protocol):
    """A module of this room."""

    def run(self, setting: Setting) -> Outcome:
        """The experiment."""


def load(name: str) -> Experiment:
    """The module of an experiment, by its name in `NAMES`."""
    if name not in NAMES:
        raise ValueError(f"no experiment {name!r}: one of {', '.join(NAMES)} is required")
    module = import_module(f"reproduction.{name.replace('-', '_')}")
    return cast(Experiment, module)
