"""Out-of-fold results of factors: computed, stored with the model, and read again."""

from __future__ import annotations

from typing import Any

import numpy as np

from superfactor.cli.output.screen import Screen
from superfactor.interpretation import HeldOut, held_out_scores


def measured(
    model: Any, X: Any, y: Any, screen: Screen, *, groups: Any, folds: int, seed: int, **shown: Any
) -> Any:
    """Return the HeldOut of a model and its training samples; None and a note if folds are too small."""
    options = {"groups": groups, "cv": folds, "random_state": seed, **shown}
    with screen.step("out of fold"), screen.progress("fitting without each fold") as progress:
        try:
            return held_out_scores(model, X, y, progress=progress, **options)
        except ValueError as error:
            screen.note(f"no out-of-fold results of the factors, only those of the training samples: {error}")
            return None


def facts(held: Any) -> dict[str, Any]:
    """Return the results as plain values for scripts, tables and model files."""
    return {
        "explained": float(held.explained),
        "contribution": [float(share) for share in held.contribution],
        "predictive": [bool(use) for use in held.predictive],
        "own": [float(figure) for figure in held.own],
        "own_name": held.own_name,
        "own_of": list(held.own_of),
    }


def record(held: Any) -> dict[str, Any]:
    """Return `facts` with scores (n, r), folds (n,) and signal (n, outputs) for a model file."""
    return {**facts(held), "scores": held.scores, "fold": held.fold, "signal": held.signal}


def recorded(about: dict[str, Any], **shown: Any) -> Any:
    """Return the HeldOut in the metadata of a model; None if it is for another rotation or class."""
    kept = about["out_of_fold"]
    if kept is None or any(about[name] != value for name, value in shown.items()):
        return None
    arrays = {name: np.array(kept[name]) for name in ("contribution", "predictive", "own")}
    return HeldOut(**{**kept, **arrays, "own_of": tuple(kept["own_of"])})


def recorded_facts(about: dict[str, Any], **shown: Any) -> dict[str, Any] | None:
    """Return `facts` in the metadata of a model, for factors in this rotation.

    The roles of factors do not depend on the positive class, but the association of each factor does.
    """
    kept = about["out_of_fold"]
    if kept is None or about["rotation"] != shown["rotation"]:
        return None
    found = {name: value for name, value in kept.items() if name not in ("scores", "fold", "signal")}
    return found if about["positive"] == shown["positive"] else {**found, "own": None}
