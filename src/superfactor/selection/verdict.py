"""The answer in words: is this better than guessing, and than simpler things?

Everything a reader is told about performance is worded here, so that terminal, JSON and page say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from superfactor.selection.measures import UNEQUAL
from superfactor.selection.rivals import COVARIATES, FREQUENT

BETTER, NOT_SHOWN, WORSE = "better", "not shown", "worse"
# One-sided, as the end of a 95 % interval is.
LEVEL = 0.025
# Of shuffled labels, of which there may be few: 19 of them can show no less.
PERMUTATION_LEVEL = 0.05
# Of the rarest class: with fewer, one sample more or less decides.
FEWEST = 10

_GRADES = {
    BETTER: "Better than guessing",
    NOT_SHOWN: "Not shown to be better than guessing",
    WORSE: "Worse than guessing",
}
WORDS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "roc_auc": "ROC area",
    "log_loss": "log loss",
    "brier": "Brier score",
    "calibration_slope": "calibration slope",
    "calibration_intercept": "calibration intercept",
}


@dataclass(frozen=True)
class Verdict:
    """What the figures mean.

    Attributes
    ----------
    grade : str
        "better", "not shown" or "worse": than guessing.
    headline : str
        One sentence with the figure that counts.
    sentences : tuple of str
        What else to know.
    advice : tuple of str
        What to try.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifierCV
    >>> from superfactor.selection import nested_scores
    >>> X, y = load_iris(return_X_y=True)
    >>> verdict = nested_scores(SMFClassifierCV(), X, y, n_repeats=1, rivals=False).verdict
    >>> verdict.grade
    'better'
    >>> verdict.headline
    'Better than guessing: accuracy 97.3 % (95 % interval 93.3 % to 100.0 %); guessing reaches 33.3 %.'
    """

    grade: str
    headline: str
    sentences: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "sentences": list(self.sentences), "advice": list(self.advice)}

    def __str__(self) -> str:
        return "\n".join([self.headline, *self.sentences, *self.advice])


def judge(
    metric: str,
    score: Mapping[str, float],
    guess: float,
    differences: Mapping[str, Mapping[str, Any]],
    chance: float,
    *,
    counts: Mapping[Any, int],
    predicted: Mapping[Any, int],
    units: str = "samples",
    covariates: Sequence[str] = (),
    balanced: bool = False,
    permutation: Mapping[str, Any] | None = None,
    final: bool = False,
) -> Verdict:
    """The verdict on figures of samples that the model had not seen.

    "Better" takes two tests that agree, both at 2.5 %: the interval of the difference to always the most
    frequent class lies above 0, and labels that know nothing of the predictions would rarely agree with
    them as well; also, where they were shuffled, that this shows, and of two classes ten samples each.
    "Worse" takes the two tests, the other way round.

    Parameters
    ----------
    metric : str
        What counts, "accuracy" or "balanced_accuracy".
    score : dict
        Mean, low, high of the model.
    guess : float
        Mean of always the most frequent class.
    differences : dict
        Rival → mean, low, high of the model's score less that of the rival.
    chance : float
        p-value of the second test.
    counts, predicted : dict
        Class → how often it occurs, and is predicted.
    units : str
        What is counted.
    covariates : sequence of str
        Their names.
    balanced : bool
        Whether every class weighs the same already.
    permutation : dict, optional
        p_value and n of shuffled labels, if there were any.
    final : bool
        The model is judged by samples from elsewhere, after which nothing is to be chosen anew.
    """
    grade = grade_of(differences[FREQUENT], chance)
    unlikely = permutation is None or permutation["p_value"] <= PERMUTATION_LEVEL
    enough = len(counts) > 2 or min(counts.values()) >= FEWEST
    if grade == BETTER and not (unlikely and enough):
        grade = NOT_SHOWN
    headline = (
        f"{_GRADES[grade]}: {WORDS[metric]} {percent(score['mean'])} (95 % interval "
        f"{percent(score['low'])} to {percent(score['high'])}); guessing reaches {percent(guess)}."
    )
    sentences = []
    if grade == NOT_SHOWN and differences[FREQUENT]["low"] > 0 and enough and chance > LEVEL:
        sentences.append(
            "The interval alone would say better, but labels that know nothing of the predictions agree with "
            f"them as well in {percent(chance)} of the cases; a claim allows {percent(LEVEL)}."
        )
    if permutation is not None:
        reached = permutation["reached"]
        sentences.append(
            f"Shuffled labels reach this in {reached} of {permutation['n']} tries "
            f"(p = {permutation['p_value']:.2g})."
        )
    if COVARIATES in differences:
        sentences.append(_beside_covariates(differences[COVARIATES], covariates))
    if grade == BETTER:
        sentences += _beside_rivals(differences)
    sentences += _classes(counts, predicted, units)
    advice = _more_samples(grade, differences[FREQUENT])
    if not final:
        advice = _advice(grade, counts, predicted, balanced, advice)
    return Verdict(grade, headline, tuple(sentences), tuple(advice))


def too_few(counts: Mapping[Any, int], needed: int, units: str = "samples") -> Verdict:
    """Where a class has too few samples, or groups of them, for any cross-validation."""
    name, count = min(counts.items(), key=lambda item: item[1])
    return Verdict(
        NOT_SHOWN,
        f"{_GRADES[NOT_SHOWN]}: class {str(name)!r} has {_counted(count, units)}, too few to measure "
        f"anything ({needed} are needed, a claim needs {FEWEST}).",
        advice=(f"More {units} of class {str(name)!r}, or leave it out.",),
    )


def grade_of(difference: Mapping[str, Any], chance: float) -> str:
    """Better, not shown or worse: both tests have to agree."""
    if difference["low"] > 0 and chance <= LEVEL:
        return BETTER
    # The same tables, from the other side; a share of exactly `chance` is part of both.
    return WORSE if difference["high"] < 0 and chance >= 1 - LEVEL else NOT_SHOWN


def _beside_covariates(difference: Mapping[str, Any], names: Sequence[str]) -> str:
    what = _listed(names) or "the covariates"
    say = "says" if len(names) == 1 else "say"
    do = "does" if len(names) == 1 else "do"
    if difference["low"] > 0:
        return f"The features add to what {what} already {say}: {_points(difference)}."
    if difference["high"] < 0:
        return f"The features harm: {what} alone {do} better, by {_points(difference, sign=-1)}."
    return f"The features are not shown to add to what {what} already {say}: {_points(difference)}."


def _beside_rivals(differences: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One sentence for each comparison, rivals with the same one together."""
    found: dict[str, list[str]] = {"Better than": [], "Not shown to differ from": [], "Worse than": []}
    for name, difference in differences.items():
        if name in (FREQUENT, COVARIATES):
            continue
        if difference["low"] > 0:
            kind = "Better than"
        elif difference["high"] < 0:
            kind = "Worse than"
        else:
            kind = "Not shown to differ from"
        found[kind].append(f"{name} ({_points(difference)})")
    return [f"{kind} {_listed(names)}." for kind, names in found.items() if names]


def _classes(counts: Mapping[Any, int], predicted: Mapping[Any, int], units: str) -> list[str]:
    never = [repr(str(name)) for name in counts if not predicted.get(name, 0)]
    few = [
        f"{_counted(count, units)} of class {str(name)!r}" for name, count in counts.items() if count < FEWEST
    ]
    sentences = []
    if never:
        plural = len(never) > 1
        sentences.append(
            f"Class{'es' * plural} {_listed(never)} {'are' if plural else 'is'} never predicted."
        )
    if few:
        sentences.append(f"Only {_listed(few)}: too few for a claim about it, which needs about {FEWEST}.")
    return sentences


def _advice(
    grade: str, counts: Mapping[Any, int], predicted: Mapping[Any, int], balanced: bool, more: list[str]
) -> list[str]:
    never = any(not predicted.get(name, 0) for name in counts)
    unequal = max(counts.values()) > UNEQUAL * max(min(counts.values()), 1)
    advice = []
    if not balanced and (never or (grade != BETTER and unequal)):
        advice.append("Let every class weigh the same: --balance, or class_weight='balanced'.")
    advice += more
    if grade == NOT_SHOWN:
        advice.append("Another number of factors, --rank 2,4,8; or other features.")
    if grade == WORSE:
        advice.append(
            "Look for labels that are mixed up, or groups of samples that belong together: --group."
        )
    return advice


def _more_samples(grade: str, difference: Mapping[str, Any]) -> list[str]:
    half = (difference["high"] - difference["low"]) / 2
    if grade != NOT_SHOWN or half < 0.005:  # a model that always says the same has none
        return []
    return [
        f"More samples: with these, differences below about {100 * half:.0f} points cannot be told from "
        "none; with four times as many, half of that."
    ]


def percent(share: float) -> str:
    """91.3 %."""
    return f"{100 * share:.1f} %"


def _points(difference: Mapping[str, Any], sign: int = 1) -> str:
    ends = sorted((sign * difference["low"], sign * difference["high"]))
    mean, low, high = (_signed(100 * value) for value in (sign * difference["mean"], *ends))
    return f"{mean} points" if "nan" in low else f"{mean} points, {low} to {high}"


def _signed(value: float) -> str:
    """+1.5 or −1.5, and no negative zero."""
    return f"{round(value, 1) + 0.0:+.1f}".replace("-", "−")


def _counted(count: int, units: str) -> str:
    return f"{count} {units[:-1] if count == 1 else units}"


def _listed(words: Sequence[str]) -> str:
    """a, b and c."""
    words = [str(word) for word in words]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
