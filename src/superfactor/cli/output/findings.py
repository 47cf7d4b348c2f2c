"""Results about factors and features of a model, for the terminal, the page and the model file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from superfactor.cli.options import Analysis
from superfactor.cli.output import out_of_fold
from superfactor.cli.output.factor_table import factor_facts
from superfactor.cli.output.screen import Screen
from superfactor.cli.output.stability import (
    resampled,
    show_stability,
    show_stable,
    stable_facts,
    stable_in_halves,
)
from superfactor.interpretation import Nearness, factor_view, nearness
from superfactor.interpretation.refits import progress
from superfactor.outcomes import outcome_of
from superfactor.selection import Verdict


@dataclass(frozen=True)
class Findings:
    """Results about factors and features.

    Attributes
    ----------
    model : fitted pipeline
    analysis : how factors are shown
    verdict : on the model, or None
    held : HeldOut, or None if folds are too small
    stability : Stability, or None
    stable : StableFeatures, or None
    near : Nearness, or None
    """

    model: Any
    analysis: Analysis
    verdict: Verdict | None
    held: Any
    stability: Any
    stable: Any
    near: Any

    def factors(self, markers: dict[str, str] | None = None) -> list[dict[str, Any]]:
        """Return `factor_facts` of the model."""
        return factor_facts(
            factor_view(self.model, **self.analysis.shown),
            by=self.analysis.ranked_by,
            markers=markers,
            held=None if self.held is None else out_of_fold.facts(self.held),
            verdict=self.verdict,
        )

    def show(self, factors: list[dict[str, Any]], screen: Screen) -> dict[str, Any]:
        """Print stable features and stability, and return all results for scripts."""
        show_stable(self.stable, screen)
        roles = [factor["role"] for factor in factors]
        return {
            "stable_features": stable_facts(self.stable),
            "stability": show_stability(self.stability, screen, roles, outcome_of(self.model).shuffled),
            "nearness": nearness_facts(self.near),
        }

    @property
    def for_page(self) -> dict[str, Any]:
        """Parameters of `write_report`."""
        return {
            "held_out": False if self.held is None else self.held,
            "stability": self.stability,
            "stable": False if self.stable is None else self.stable,
            "nearness": False if self.near is None else self.near,
            **self.analysis.shown,
        }

    @property
    def record(self) -> dict[str, Any]:
        """Metadata for the model file."""
        return {
            **self.analysis.shown,
            "by": self.analysis.ranked_by,
            "out_of_fold": None if self.held is None else out_of_fold.record(self.held),
            "stable_features": stable_facts(self.stable),
            "nearness": nearness_facts(self.near),
        }


def nearness_facts(near: Any) -> dict[str, Any] | None:
    """Return a Nearness as plain values; None without any."""
    if near is None:
        return None
    return {**vars(near), "statement": near.statement}


def recorded_nearness(about: dict[str, Any]) -> Any:
    """Return the Nearness in the metadata of a model, or None."""
    kept = about["nearness"]
    if kept is None:
        return None
    return Nearness(**{name: value for name, value in kept.items() if name != "statement"})


def find(
    model: Any,
    X: Any,
    y: Any,
    analysis: Analysis,
    screen: Screen,
    *,
    groups: Any,
    folds: int,
    seed: int,
    verdict: Verdict | None,
    held: Any = None,
    near: Any = None,
) -> Findings:
    """Compute the results about factors and features of a model and its training samples."""
    if held is None:
        held = out_of_fold.measured(
            model, X, y, screen, groups=groups, folds=folds, seed=seed, **analysis.shown
        )
    if near is None and verdict is not None:  # without an evaluation there is no comparison
        near = _nearness(model, X, y, screen)
    return Findings(
        model,
        analysis,
        verdict,
        held,
        resampled(model, X, y, analysis.stability, seed, screen, by=analysis.ranked_by, **analysis.shown),
        stable_in_halves(
            model, X, y, analysis.stable, seed, screen, groups=groups, positive=analysis.positive
        ),
        near,
    )


def _nearness(model: Any, X: Any, y: Any, screen: Screen) -> Any:
    if not progress.is_quick(X.shape, len(factor_view(model).outputs)):
        screen.note(
            "no comparison of the model with ridge regression and PCA, because tuning ridge regression takes "
            "long for this table"
        )
        return None
    with screen.step("nearness"), screen.progress("comparing with ridge regression and PCA"):
        return nearness(model, X, y)
