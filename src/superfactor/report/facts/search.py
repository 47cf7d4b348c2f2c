"""What the page tells of the search that chose a model: a plain value, of a fitted search or of a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from superfactor.report.formats import label
from superfactor.selection import Scree
from superfactor.selection.procedure import procedure_of
from superfactor.selection.search.base import Search

#: The parameters that a search chooses, and what they are called.
CHOSEN = {"model": "model", "n_components": "rank", "xi": "ξ", "lam": "λ"}


@dataclass(frozen=True, eq=False)
class Searched:
    """The settings a search tried, and the one it chose.

    Attributes
    ----------
    settings : one dict a setting: model, n_components, xi, lam
    mean, spread, place : (m,) of their scores over the splits: mean, standard deviation, rank from 1
    chosen : position of the best
    n_splits : int
    scoring : of the search: None, a name or a function
    scree : of the samples
    procedure : class and parameters of the search, as `procedure_of` gives them; None where not known
    """

    settings: Sequence[Mapping[str, Any]]
    mean: Any
    spread: Any
    place: Any
    chosen: int
    n_splits: int
    scoring: Any
    scree: Scree
    procedure: Mapping[str, Any] | None = None

    @property
    def scorer(self) -> str:
        """What was maximised, in words."""
        if self.scoring is None or self.scoring == "neg_log_loss":
            return "log-likelihood"
        name = self.scoring if isinstance(self.scoring, str) else getattr(self.scoring, "__name__", "score")
        return label(name.replace("_", " "))

    @property
    def choices(self) -> list[str]:
        """What differs among the settings, in words: who gives the rank does not choose it."""
        return [word for name, word in CHOSEN.items() if len({own[name] for own in self.settings}) > 1]


def searched(search: Any) -> Searched:
    """What a fitted search tells of itself; a `Searched` is what it is."""
    if isinstance(search, Searched):
        return search
    if not isinstance(search, Search) or not hasattr(search, "cv_results_"):
        raise TypeError(f"search={type(search).__name__}: a fitted SMFClassifierCV or None is required")
    results = search.cv_results_
    return Searched(
        settings=results["params"],
        mean=results["mean_test_score"],
        spread=results["std_test_score"],
        place=results["rank_test_score"],
        chosen=int(search.best_index_),
        n_splits=int(search.n_splits_),
        scoring=search.scoring,
        scree=search.scree_,
        procedure=procedure_of(search),
    )
