"""Factors on samples that the fits had not seen: measured, written down with the model, and read again."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor.cli.output.screen import Screen
from superfactor.interpretation import HeldOut, held_out_scores


def measured(
    model: Any, X: Any, y: Any, screen: Screen, *, groups: Any, folds: int, seed: int, **shown: Any
) -> Any:
    """The HeldOut of a model on what it was fitted to; None, and a note, where folds are too small for it."""
    options = {"groups": groups, "cv": folds, "random_state": seed, **shown}
    with screen.step("out of fold"), screen.progress("fitting without each fold") as progress:
        try:
            return held_out_scores(model, X, y, progress=progress, **options)
        except ValueError as error:
            screen.note(f"factors are shown as the samples fitted have them: {error}")
            return None


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
    """The same with scores (n, r), folds (n,), signal (n, outputs), as `training_ids`, for a model file."""
    return {**facts(held), "scores": held.scores, "fold": held.fold, "signal": held.signal}


def recorded(about: dict[str, Any], **shown: Any) -> Any:
    """The HeldOut in the metadata of a model; None where it is of factors that are shown otherwise."""
    kept = about["out_of_fold"]
    if kept is None or any(about[name] != value for name, value in shown.items()):
        return None
    arrays = {name: np.array(kept[name]) for name in ("contribution", "predictive", "own")}
    return HeldOut(**{**kept, **arrays, "own_of": tuple(kept["own_of"])})


def recorded_facts(about: dict[str, Any], **shown: Any) -> dict[str, Any] | None:
    """`facts` in the metadata of a model, for factors that are shown in this way.

    Which factors predict does not depend on the class that is up; whose figure is given does.
    """
    kept = about["out_of_fold"]
    if kept is None or about["rotation"] != shown["rotation"]:
        return None
    told = {name: value for name, value in kept.items() if name not in ("scores", "fold", "signal")}
    return told if about["positive"] == shown["positive"] else {**told, "own": None}
