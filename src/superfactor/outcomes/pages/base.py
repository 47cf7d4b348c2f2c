"""`Page`: the interface of a kind of y for the HTML page: names, colours, figures and descriptions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

# Most points in a figure; more cannot be distinguished.
MOST_POINTS = 1200


class Page:
    """The parts of a page that depend on the kind of y; its sentences are in the templates of `folder`.

    `names` are the names of the outputs on the page: classes, targets, labels or the risk. `truth` and `rows`
    are the same as for metrics. Methods return plain numbers; the page formats them.
    """

    #: The folder of templates for this kind.
    folder: ClassVar[str]
    #: The glossary term for the association of a single factor with the outcome.
    own_term: ClassVar[str]
    #: Whether the value of `alone` has a sign.
    own_is_signed: ClassVar[bool] = False
    #: The default score of searches.
    scorer: ClassVar[str]
    #: Name of y if the user gave none.
    target: ClassVar[str] = "the outcome"
    #: What a sample without an outcome lacks, in sentences.
    lacking: ClassVar[str] = "an outcome"
    #: The model that predicts from the factors, and the start of a sentence about what y influences.
    predictor: ClassVar[str] = "regression"
    influence: ClassVar[str] = "the outcome influences"
    #: Headings of two tabs.
    prediction_heading: ClassVar[str] = "How good the predictions are"
    features_heading: ClassVar[str] = "Which features go with the outcome and the factors"
    #: The column of `feature_effects` that orders features together with q, and its value without effect.
    effect_column: ClassVar[tuple[str, float]]
    #: Whether predictions are right or wrong, and whether groups of samples are outlined in plots.
    right_or_wrong: ClassVar[bool] = False
    outlined: ClassVar[bool] = False
    #: Difference of a metric between training and held-out samples from which on the page warns.
    gap: ClassVar[float] = 0.1

    # --- names ----------------------------------------------------------------------------------------

    def names(self, estimator: Any, outputs: Sequence[str], y: Any, target: str) -> list[str]:
        """Return names of the outputs: the columns of a DataFrame, or the name of the target."""
        columns = [str(name) for name in getattr(y, "columns", ())]
        if len(columns) == len(outputs) > 1:
            return columns
        return [target] if target and len(outputs) == 1 else list(outputs)

    def axis(self, y: Any) -> str:
        """Return the axis label of a plot of y; empty if y has no name."""
        return ""

    def up(self, view: Any) -> int:
        """Return the number of the class to which the coefficients of two classes refer."""
        return 0

    def columns(self, names: Sequence[str], up: int) -> tuple[list[str], str]:
        """Return names of a factor's coefficients, and the reference class if there is one coefficient."""
        return list(names), ""

    # --- samples --------------------------------------------------------------------------------------

    def groups(self, names: Sequence[str]) -> list[str]:
        """Return names of the groups that colours distinguish; none if colours are a scale."""
        return []

    def sorts(self, truth: Any) -> Any:
        """Return the group of each sample as integers (n,); plots that show fewer points keep all groups."""
        return np.zeros(len(truth), dtype=int)

    def colours(self, truth: Any) -> list[Any]:
        """Return the colour of each sample: its group number, or its position on the scale from 0 to 1."""
        return [int(c) for c in self.sorts(truth)]

    def scale(self, truth: Any, names: Sequence[str]) -> dict[str, Any] | None:
        """Return the colour scale: name, ends, and whether it uses square roots; None for groups."""
        return None

    def said(self, truth: Any, row: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
        """Return the tooltip of a sample as pairs of name and number; `truth` is None if it is not known."""
        raise NotImplementedError

    def parts(self, truth: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
        """Return names and members (n,) bool of groups of samples whose scores are compared."""
        return []

    def summary(self, truth: Any, names: Sequence[str]) -> list[tuple[str, float]]:
        """Return rows of a table about the outcome: name and value; infinite if it is not reached."""
        raise NotImplementedError

    def describe(self, truth: Any, names: Sequence[str]) -> list[tuple[str, float]]:
        """Return a short form for a sentence: mean 152, s.d. 77."""
        return self.summary(truth, names)

    # --- factors --------------------------------------------------------------------------------------

    def towards(self, effect: Any, up: int, names: Sequence[str]) -> tuple[str, str]:
        """Describe what a high and what a low value of a factor predict.

        `effect` (outputs,) is the effect of one standard deviation. The second text is empty if it is the
        opposite of the first; both are empty if there is no effect.
        """
        leading = int(np.argmax(np.abs(effect)))
        if not effect[leading]:
            return "", ""
        return f"{'larger' if effect[leading] > 0 else 'smaller'} {names[leading]}", ""

    def alone(self, effect: Any, up: int, truth: Any, score: Any) -> tuple[float, int]:
        """Return the association of a factor's score (n,) with the outcome, and the output it refers to."""
        raise NotImplementedError

    def by_factor(self, truth: Any, scores: Any, names: Sequence[str]) -> list[list[float]]:
        """Return estimate, ends of its 95 % interval and p for each of the scores (n, r) and each output."""
        return []

    # --- prediction -----------------------------------------------------------------------------------

    def cleaned(self, rows: Any) -> Any:
        """Convert rows (n, k) of a model in single precision to what the metrics require."""
        return rows

    def rows_of(self, activations: Any) -> Any:
        """Convert activations (n, outputs) of refits to rows (n, k); None if the page does not use them."""
        return activations

    def drawn(self, truth: Any, rows: Any, names: Sequence[str]) -> Mapping[str, Any]:
        """Return the data of the figures and tables of the predictions."""
        raise NotImplementedError


def spread(n: int, most: int = MOST_POINTS) -> Any:
    """Return at most `most` evenly spaced positions of 0 … n − 1."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))


def mean_and_deviation(values: Any) -> tuple[float, float]:
    """Return mean and standard deviation of numbers (n,); the deviation of a single one is NaN."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
