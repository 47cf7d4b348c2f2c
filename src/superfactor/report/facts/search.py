"""The results of the search that chose a model, from a fitted search or a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from superfactor.report.formats import label
from superfactor.selection import Scree
from superfactor.selection.procedure import procedure_of
from superfactor.selection.search.base import Search

#: The parameters that a search chooses, and their names on the page.
CHOSEN = {"model": "model", "n_components": "rank", "xi": "ξ", "lam": "λ"}


@dataclass(frozen=True, eq=False)
class Searched:
    """The m settings of a search, and the chosen one."""

    settings: Sequence[Mapping[str, Any]]  # model, n_components, xi, lam
    mean: Any  # (m,) of the scores over the splits
    spread: Any  # (m,) their standard deviation
    place: Any  # (m,) the rank of the mean, from 1
    chosen: int  # position of the best
    n_splits: int
    scoring: Any  # parameter of the search: None, a name or a function
    scree: Scree
    procedure: Mapping[str, Any] | None = None  # from `procedure_of`; None if unknown
    usual: str = "log-likelihood"  # the default score of the kind of y, if `scoring` is None

    @property
    def scorer(self) -> str:
        """The name of the score."""
        if self.scoring is None:
            return self.usual
        if self.scoring == "neg_log_loss":
            return "log-likelihood"
        name = self.scoring if isinstance(self.scoring, str) else getattr(self.scoring, "__name__", "score")
        return label(name.replace("_", " "))

    @property
    def choices(self) -> list[str]:
        """The names of the parameters that differ among the settings."""
        return [word for name, word in CHOSEN.items() if len({own[name] for own in self.settings}) > 1]


def searched(search: Any) -> Searched:
    """Return the results of a fitted search; a `Searched` is returned unchanged."""
    if isinstance(search, Searched):
        return search
    if not isinstance(search, Search) or not hasattr(search, "cv_results_"):
        raise TypeError(
            f"search={type(search).__name__}: a fitted search, such as SMFClassifierCV, or None is required"
        )
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
