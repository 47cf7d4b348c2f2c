"""The figures of a nested cross-validation: `NestedScores`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from superfactor._deprecated import renamed_attributes
from superfactor.selection.evaluation.permutation import PermutationTest
from superfactor.selection.evaluation.verdict import Verdict


@renamed_attributes(rivals="baselines")
@dataclass(frozen=True)
class NestedScores:
    """Figures of samples that the models had not seen, over all folds and repeats.

    Attributes
    ----------
    procedure : dict
        What was evaluated: the class, and the parameters that decide what it learns.
    outcome : str
        The kind of y: "classes", "numbers" or "times".
    names : array of shape (k,)
        Of the columns of `predictions`: the classes, the targets, or "risk". ``classes`` is the same.
    counts : array
        Samples of each class (k,); of times, those without and with an event (2,); of numbers, all (1,).
    n_splits, n_repeats : int
        Outer folds, and how often they were drawn.
    headline : str
        The metric that counts: "accuracy", or "balanced_accuracy" where classes are unequal; "r2";
        "concordance".
    folds : dict
        Method → metric → (n_repeats, n_splits); the model itself is "model".
    repeats : dict
        Method → metric → (n_repeats,), for two classes with slope and intercept of the calibration, and
        the calibration in the large (the intercept for slope 1).
    summary : dict
        Metric → mean, low, high of the model: 95 % intervals corrected for shared training samples (Nadeau
        and Bengio), in a form that ends within the range of the metric. Those of accuracies contain Wilson's
        interval too. NaN where folds do not differ.
    baselines : dict
        Baseline → the same. The prediction that ignores the features has no intervals.
    differences : dict
        Baseline → metric (the headline), mean, low, high of the model's score less the baseline's.
    predictions : array of shape (n, k)
        Out of fold, of the first repeat and the samples that have a label: probabilities, values or risks.
    predicted : array of shape (n,)
        By the mean out-of-fold predictions of all repeats: class numbers, values or risks.
    chance : float
        p-value of `predicted`: how often independent labels agree with it as well.
    chosen : tuple of dict
        Parameters of every choice, repeat by repeat and fold by fold.
    permutation : PermutationTest, optional
        Shuffled labels, or None.
    verdict : Verdict
        The conclusion in words.
    inner_splits : int or None
        Folds that chose in each outer training part; None where the model chooses by itself.
    seed : int
        Of the folds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifierCV
    >>> from superfactor.selection import nested_scores
    >>> X, y = load_iris(return_X_y=True)
    >>> scores = nested_scores(SMFClassifierCV(), X, y, n_repeats=1, baselines=False)
    >>> scores.procedure["class"], scores.procedure["parameters"]["n_components"]
    ('SMFClassifierCV', 'auto')
    >>> scores.headline, scores.n_splits
    ('accuracy', 5)
    >>> scores.predictions.shape
    (150, 3)
    >>> {name: round(value, 2) for name, value in scores.summary["accuracy"].items()}
    {'mean': 0.97, 'low': 0.93, 'high': 0.99}
    """

    procedure: dict[str, Any]
    outcome: str
    names: Any
    counts: Any
    n_splits: int
    n_repeats: int
    headline: str
    folds: dict[str, dict[str, Any]]
    repeats: dict[str, dict[str, Any]]
    summary: dict[str, dict[str, float]]
    baselines: dict[str, dict[str, dict[str, float]]]
    differences: dict[str, dict[str, Any]]
    predictions: Any
    predicted: Any
    chance: float
    chosen: tuple[dict[str, Any], ...]
    permutation: PermutationTest | None
    verdict: Verdict
    inner_splits: int | None = None
    seed: int | None = None

    def __str__(self) -> str:
        return str(self.verdict)

    @property
    def classes(self) -> Any:
        """Labels (c,)."""
        return self.names

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as scripts get them; the verdict too."""
        return {
            "procedure": self.procedure,
            "outcome": self.outcome,
            "n_splits": self.n_splits,
            "n_repeats": self.n_repeats,
            "inner_splits": self.inner_splits,
            "seed": self.seed,
            "headline": self.headline,
            "summary": self.summary,
            "baselines": self.baselines,
            "differences": self.differences,
            "chance": self.chance,
            "repeats": {
                method: {metric: values.tolist() for metric, values in found.items()}
                for method, found in self.repeats.items()
            },
            "permutation": None if self.permutation is None else self.permutation.as_dict(),
            "verdict": self.verdict.as_dict(),
        }
