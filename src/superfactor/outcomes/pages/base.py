"""What a page asks of a kind of y: names and colours of samples, what is drawn, how factors are told."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

# Points of a figure beyond which nothing more is seen.
MOST_POINTS = 1200


class Page:
    """The page's questions to the kind of y; its sentences are in the templates of `folder`.

    `names` are the outputs as the page calls them: classes, targets, labels or the risk. `truth` and `rows`
    are those of the metrics. Values are plain numbers; how they are written is the page's affair.
    """

    #: The templates that speak of this kind.
    folder: ClassVar[str]
    #: The term of the glossary for how a factor goes with the outcome by itself.
    own_term: ClassVar[str]
    #: Whether `alone` has a sign.
    own_is_signed: ClassVar[bool] = False
    #: What searches maximise where the user has no score of their own.
    scorer: ClassVar[str]
    #: What is predicted, where it has no name.
    target: ClassVar[str] = "the outcome"
    #: What a sample without an outcome has none of.
    lacking: ClassVar[str] = "an outcome"
    #: What reads the factors, and what the labels influence.
    predictor: ClassVar[str] = "regression"
    influence: ClassVar[str] = "the outcome influences"
    #: Headings of two tabs.
    prediction_heading: ClassVar[str] = "How good the predictions are"
    features_heading: ClassVar[str] = "Which features go with the outcome and the factors"
    #: The column of `feature_effects` by which features are ordered beside q, and its value of no effect.
    effect_column: ClassVar[tuple[str, float]]
    #: Whether predictions are right or wrong, and whether the groups of a picture get outlines.
    right_or_wrong: ClassVar[bool] = False
    outlined: ClassVar[bool] = False
    #: By how much a figure may be better in training before the page says so.
    gap: ClassVar[float] = 0.1

    # --- names ----------------------------------------------------------------------------------------

    def names(self, estimator: Any, outputs: Sequence[str], y: Any, target: str) -> list[str]:
        """The outputs as the page calls them: by the columns of a DataFrame, or by the name of the target."""
        columns = [str(name) for name in getattr(y, "columns", ())]
        if len(columns) == len(outputs) > 1:
            return columns
        return [target] if target and len(outputs) == 1 else list(outputs)

    def axis(self, y: Any) -> str:
        """What the axis of a picture of y is called, where y says so."""
        return ""

    def up(self, view: Any) -> int:
        """The number of the class whose log-odds the coefficients of two classes change."""
        return 0

    def columns(self, names: Sequence[str], up: int) -> tuple[list[str], str]:
        """Names of the coefficients of a factor, and against what a single one is."""
        return list(names), ""

    # --- samples --------------------------------------------------------------------------------------

    def groups(self, names: Sequence[str]) -> list[str]:
        """The sorts of samples that a picture tells apart; none where colours are a scale."""
        return []

    def sorts(self, truth: Any) -> Any:
        """Integers (n,): the sort of each sample, for thinning; pictures keep some of each."""
        return np.zeros(len(truth), dtype=int)

    def colours(self, truth: Any) -> list[Any]:
        """The colour of each sample: the number of its group, or its place on the scale from 0 to 1."""
        return [int(c) for c in self.sorts(truth)]

    def scale(self, truth: Any, names: Sequence[str]) -> dict[str, Any] | None:
        """The scale of the colours: name, ends, and whether it is that of square roots; None of groups."""
        return None

    def said(self, truth: Any, row: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
        """What a tooltip says of a sample: words and numbers. `truth` is None where it is not known."""
        raise NotImplementedError

    def parts(self, truth: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
        """Names and members (n,) bool of parts of the samples whose scores are compared."""
        return []

    def summary(self, truth: Any, names: Sequence[str]) -> list[tuple[str, float]]:
        """The outcome of samples in a table: what, and its value; infinite where it is not reached."""
        raise NotImplementedError

    def told(self, truth: Any, names: Sequence[str]) -> list[tuple[str, float]]:
        """The same in few words, for a sentence: mean 152, s.d. 77."""
        return self.summary(truth, names)

    # --- factors --------------------------------------------------------------------------------------

    def towards(self, effect: Any, up: int, names: Sequence[str]) -> tuple[str, str]:
        """What becomes more as a factor goes up, and as it goes down; empty where that is the opposite.

        `effect` (outputs,) is that of one standard deviation. Both are empty without any.
        """
        leading = int(np.argmax(np.abs(effect)))
        if not effect[leading]:
            return "", ""
        return f"{'larger' if effect[leading] > 0 else 'smaller'} {names[leading]}", ""

    def alone(self, effect: Any, up: int, truth: Any, score: Any) -> tuple[float, int]:
        """How the score (n,) of a factor goes with the outcome by itself, and with which output."""
        raise NotImplementedError

    def by_factor(self, truth: Any, scores: Any, names: Sequence[str]) -> list[list[float]]:
        """Each of the scores (n, r) by itself: estimate, ends of its 95 % interval and p, for each output."""
        return []

    # --- prediction -----------------------------------------------------------------------------------

    def cleaned(self, rows: Any) -> Any:
        """Rows (n, k) of a model in single precision, as the metrics want them."""
        return rows

    def rows_of(self, activations: Any) -> Any:
        """Rows (n, k) of activations (n, outputs) of refits; None where the page makes no use of them."""
        return activations

    def drawn(self, truth: Any, rows: Any, names: Sequence[str]) -> Mapping[str, Any]:
        """What the figures and tables of the predictions show."""
        raise NotImplementedError


def spread(n: int, most: int = MOST_POINTS) -> Any:
    """At most `most` of the positions 0 … n − 1, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))


def mean_and_deviation(values: Any) -> tuple[float, float]:
    """Of numbers (n,); the deviation of a single one is NaN."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
