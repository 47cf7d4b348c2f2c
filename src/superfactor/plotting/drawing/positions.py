"""Scores of samples in a plot, and its caption: held out, of the fit, or new.

A model separates its training samples, on wide data even if labels are random. Therefore training samples are
shown with out-of-fold scores, and the caption of a plot names any other kind of scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from superfactor.estimators.inputs import as_numpy
from superfactor.interpretation import FactorView, HeldOut, held_out_scores
from superfactor.interpretation.models import FittedModel, fitted_model
from superfactor.plotting.drawing import figures

SAMPLES = ("auto", "held_out", "training", "new")
HELD_OUT = "Held-out samples: each score comes from a model fitted without the sample."
TRAINING = (
    "Training samples: the model was fitted to their labels, and can separate them even if labels are random."
)
NEW = "New samples: the model was fitted without them."
# Rounding error of scores with unit variance, also in float32.
_NEAR = 1e-6
GIVEN = "Samples as given: if the model was fitted to them, it used their labels."


@dataclass(frozen=True)
class Positions:
    """Scores (n, r) of samples, their kind, and whether to outline classes.

    Attributes
    ----------
    said : the caption: the kind of samples, and why classes have no outline
    outlined : whether an outline is valid for other samples: the model was fitted without these samples, and
        there is no evidence that it does not predict
    held_out : the source of the scores, or None
    """

    scores: Any
    said: str
    outlined: bool
    held_out: HeldOut | None = None


def positions_of(
    model: Any,
    view: FactorView,
    X: Any,
    y: Any,
    *,
    covariates: Any,
    samples: str,
    held_out: HeldOut | None,
    predicts: bool | None,
    **shown: Any,
) -> Positions:
    """Return the scores that `SamplesDisplay.from_estimator` shows; `shown` are rotation and positive."""
    figures.check_choice("samples", samples, SAMPLES)
    if X is not None and isinstance(model, FactorView):
        raise ValueError("X: None is required with a FactorView, which cannot score other samples")
    if held_out is not None:
        if samples not in ("auto", "held_out"):
            raise ValueError(f"samples={samples!r}: 'auto' or 'held_out' is required with held_out")
        return _held_out(held_out, view, predicts)
    if samples == "held_out" and (X is None or y is None):
        raise ValueError("samples='held_out': X and y, or held_out, are required")
    if samples == "new" and X is None:
        raise ValueError("samples='new': X is required")
    if X is None:
        return Positions(view.scores, _with_verdict(TRAINING, view, predicts), False)
    fitted = fitted_model(model)
    scores = view.scores_of(as_numpy(fitted.estimator.transform(fitted.preprocess(X), covariates=covariates)))
    if samples == "auto" and y is None:  # without classes there is only one colour
        return Positions(scores, "", False)
    if samples == "auto":
        samples = _kind(fitted, view, scores, y)
    if samples == "held_out":
        found = held_out_scores(model, X, y, covariates=covariates, **shown)
        return _held_out(found, view, predicts)
    said = {"training": TRAINING, "new": NEW, "given": GIVEN}[samples]
    outlined = samples == "new" and predicts is not False
    return Positions(scores, _with_verdict(said, view, predicts), outlined)


def _kind(fitted: FittedModel, view: FactorView, scores: Any, y: Any) -> str:
    """Return the kind of samples with these scores (n, r) and labels."""
    if not _is_training(view, scores):
        return "given"
    return "held_out" if _are_labels(fitted.estimator, view, y, scores) else "training"


def _is_training(view: FactorView, scores: Any) -> bool:
    """Return whether these are the training samples, by number and mean, or by scores with sample weights."""
    if scores.shape != view.scores.shape:
        return False
    same = np.abs(scores.mean(axis=0)).max() < _NEAR
    return bool(same or np.allclose(scores, view.scores, atol=_NEAR))


def _are_labels(estimator: Any, view: FactorView, y: Any, rows: Any) -> bool:
    """Return whether y is the outcome of the fit; a plot can also colour samples by other labels."""
    try:
        given = estimator._checked_y(y, rows)
    except (TypeError, ValueError):
        return False
    return view.outcome.is_own(estimator, given)


def _held_out(found: HeldOut, view: FactorView, predicts: bool | None) -> Positions:
    if predicts is None:
        predicts = bool(np.any(found.predictive))
    return Positions(found.scores, _with_verdict(HELD_OUT, view, predicts), predicts, found)


def _with_verdict(said: str, view: FactorView, predicts: bool | None) -> str:
    """Return the caption, with a sentence if the model is not shown to predict."""
    if predicts is not False:
        return said
    return f"{said} The model is not shown to predict {view.outcome.not_predicted(view.outputs)}."
