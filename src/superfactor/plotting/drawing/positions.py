"""Where samples stand in a picture, and what may be said about it: held out, of the fit, or new.

A model separates the samples it was fitted to, on wide data even where labels mean nothing. So samples of the
fit stand where models without them put them, and a picture of anything else says what it is.
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
HELD_OUT = "Held-out samples: each stands where a model without it puts it."
TRAINING = (
    "Training samples: the model has seen their labels, and can separate them even where labels mean nothing."
)
NEW = "New samples: the model has not seen them."
# Of scores with unit variance: rounding, that of float32 fits too.
_NEAR = 1e-6
GIVEN = "Samples as given: where the model was fitted to them, it has seen their labels."


@dataclass(frozen=True)
class Positions:
    """Scores (n, r) of samples, how they came about, and whether classes may be outlined.

    Attributes
    ----------
    said : what samples these are, and why classes have no outline where they have none
    outlined : whether an outline says something about other samples: the model has not seen these, and is not
        known to predict nothing
    held_out : where the scores are from, or None
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
    """Positions as `SamplesDisplay.from_estimator` explains; `shown` are rotation and positive."""
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
    if samples == "auto" and y is None:  # nobody sees classes where there is one colour
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
    """What samples with these scores (n, r) and labels are."""
    if not _is_training(view, scores):
        return "given"
    return "held_out" if _are_labels(fitted.estimator, view, y, scores) else "training"


def _is_training(view: FactorView, scores: Any) -> bool:
    """As many samples as the fit had, with their mean, or, where samples had weights, their scores."""
    if scores.shape != view.scores.shape:
        return False
    same = np.abs(scores.mean(axis=0)).max() < _NEAR
    return bool(same or np.allclose(scores, view.scores, atol=_NEAR))


def _are_labels(estimator: Any, view: FactorView, y: Any, rows: Any) -> bool:
    """Whether y is what the estimator was fitted to: a picture may colour samples by something else."""
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
    """What is said, and that a model is not shown to predict where that is so."""
    if predicts is not False:
        return said
    return f"{said} The model is not shown to predict {view.outcome.not_predicted(view.outputs)}."
