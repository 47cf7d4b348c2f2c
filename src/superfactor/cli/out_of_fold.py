"""Factors on samples that the fits had not seen: measured, written down with the model, and read again."""

from __future__ import annotations

from typing import Any

from superfactor.cli.errors import as_user_error
from superfactor.cli.learning import Learned
from superfactor.cli.screen import Screen


def measured(learned: Learned, screen: Screen, **shown: Any) -> Any:
    """The HeldOut of the samples learned from, in as many folds as the choice of the model had.

    Parameters
    ----------
    shown : rotation and positive
    """
    from superfactor.interpretation import held_out_scores

    X, y = learned.part(learned.train)
    groups = learned.samples.groups
    with (
        screen.step("out of fold"),
        screen.progress("fitting without each fold") as progress,
        as_user_error(),
    ):
        return held_out_scores(
            learned.model,
            X,
            y,
            groups=None if groups is None else groups[learned.train],
            cv=learned.search.n_splits_,
            random_state=learned.settings.seed,
            progress=progress,
            **shown,
        )


def facts(held: Any) -> dict[str, Any]:
    """What scripts, tables and model files have of it, in plain values."""
    return {
        "explained": float(held.explained),
        "contribution": [float(share) for share in held.contribution],
        "predictive": [bool(use) for use in held.predictive],
        "own": [float(figure) for figure in held.own],
        "own_name": held.own_name,
        "own_of": list(held.own_of),
    }


def record(held: Any) -> dict[str, Any]:
    """The same with scores (n, r) and folds (n,), in the order of `training_ids`, for a model file."""
    return {**facts(held), "scores": held.scores, "fold": held.fold}


def recorded(about: dict[str, Any], **shown: Any) -> Any:
    """The HeldOut in the metadata of a model; None where it is of factors that are shown otherwise."""
    from superfactor.interpretation import HeldOut

    if any(about[name] != value for name, value in shown.items()):
        return None
    kept = about["out_of_fold"]
    return HeldOut(**{**kept, "own_of": tuple(kept["own_of"])})


def recorded_facts(about: dict[str, Any], **shown: Any) -> dict[str, Any] | None:
    """`facts` in the metadata of a model, for factors that are shown in this way.

    Which factors predict does not depend on the class that is up; whose figure is given does.
    """
    if about["rotation"] != shown["rotation"]:
        return None
    kept = {
        name: value
        for name, value in about["out_of_fold"].items()
        if name not in ("scores", "fold")
    }
    return kept if about["positive"] == shown["positive"] else {**kept, "own": None}
