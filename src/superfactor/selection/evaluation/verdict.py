"""The answer in words: is this better than guessing, and than simpler things?

Sentences about performance are made here, so that terminal, JSON and page say the same. Advice has keys:
the command line gives it in its own words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from superfactor._words import counted, listed, percent
from superfactor.outcomes import COVARIATES, FEWEST, Metric, Outcome, Target

BETTER, NOT_SHOWN, WORSE = "better", "not shown", "worse"
# One-sided, as the end of a 95 % interval is.
LEVEL = 0.025
# Of shuffled outcomes, of which there may be few: 19 of them can show no less.
PERMUTATION_LEVEL, FEWEST_TRIES = 0.05, 19
# Of fewer parts the interval is wide because they are few.
FEW_FOLDS = 10

_GRADES = {BETTER: "Better than", NOT_SHOWN: "Not shown to be better than", WORSE: "Worse than"}
#: Advice by its key, for those who write Python; others have words of their own.
ADVICE = {
    "balance": "Let every class weigh the same, class_weight='balanced', if you decide so before you look at "
    "scores.",
    "rank": "Other features, or other numbers of factors such as n_components=[2, 4, 8], only if you decided "
    "on them before this result, or evaluate them on new samples: the best of several attempts on the same "
    "samples looks better than it is.",
    "folds": "More folds, since so few leave a wide interval: n_splits=5 and n_repeats=5. Report that "
    "result, whatever it is.",
    "groups": "Look for labels that are mixed up, or groups of samples that belong together: groups=.",
    "one_class": "Samples of another class, from the same source, make a verdict possible.",
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
        What to try, in the words of Python.
    advice_keys : tuple of str
        What each advice is about, for those who say it in words of their own: "balance", "samples", "rank",
        "folds", "groups", "class", "one_class".
    adds : bool or None
        Whether the features are shown to add to the covariates; None without covariates.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifierCV
    >>> from superfactor.selection import nested_scores
    >>> X, y = load_iris(return_X_y=True)
    >>> verdict = nested_scores(SMFClassifierCV(), X, y, n_repeats=1, baselines=False).verdict
    >>> verdict.grade
    'better'
    >>> verdict.headline
    'Better than guessing: accuracy 97.3 % (95 % interval 92.9 % to 99.0 %); guessing reaches 33.3 %.'
    """

    grade: str
    headline: str
    sentences: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    advice_keys: tuple[str, ...] = ()
    adds: bool | None = None  # files of earlier versions have none

    @property
    def of_factors(self) -> bool:
        """Whether factors are shown to predict: the model does, and they add to its covariates."""
        return self.grade == BETTER and self.adds is not False

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: list(x) if isinstance(x, tuple) else x for name, x in asdict(self).items()}

    @classmethod
    def of_dict(cls, plain: Mapping[str, Any]) -> Verdict:
        """The verdict of which `as_dict` made these values."""
        fields: dict[str, Any] = {n: tuple(x) if isinstance(x, list) else x for n, x in plain.items()}
        return cls(**fields)

    def advising(self, words: Mapping[str, str]) -> Verdict:
        """The same with the advice in other words where these have its key."""
        return replace(self, advice=self.advice_in(words))

    def advice_in(self, words: Mapping[str, str]) -> tuple[str, ...]:
        """The advice, in other words where these have its key."""
        keys = self.advice_keys or ("",) * len(self.advice)
        return tuple(words.get(key, text) for key, text in zip(keys, self.advice, strict=True))

    def __str__(self) -> str:
        return "\n".join([self.headline, *self.sentences, *self.advice])


def judge(
    outcome: Outcome,
    metric: str,
    score: Mapping[str, float],
    guess: float,
    differences: Mapping[str, Mapping[str, Any]],
    chance: float,
    *,
    names: Any,
    truth: Any,
    predicted: Any,
    units: str = "samples",
    covariates: Sequence[str] = (),
    balanced: bool = False,
    permutation: Mapping[str, Any] | None = None,
    final: bool = False,
    n_folds: int | None = None,
) -> Verdict:
    """Return the verdict on the scores of samples that the model was not fitted to.

    "Better" requires two tests at 2.5 %: the interval of the difference to guessing lies above 0, and labels
    independent of the predictions rarely agree with them as well. It also requires enough samples, and
    a small p-value of the permutation test if there was one. "Worse" requires the two tests in the other
    direction.

    Parameters
    ----------
    metric : str
        The one that counts.
    score : dict
        Mean, low, high of the model.
    guess : float
        Mean of the prediction that knows nothing.
    differences : dict
        Baseline → mean, low, high of how much better the model is.
    chance : float
        p-value of the second test.
    names : array
        Of classes or targets.
    truth, units
        Of the observations, and what these are.
    predicted : array
        For every sample.
    covariates : sequence of str
        Their names.
    balanced : bool
        Whether every class weighs the same already.
    permutation : dict, optional
        p_value and n of shuffled outcomes, if there were any.
    final : bool
        The model is evaluated on samples from elsewhere, after which nothing is chosen again.
    n_folds : int, optional
        How many parts the samples were scored in, all repeats together.
    """
    said, blind = outcome.metric(metric), differences[outcome.guess_name]
    grade = grade_of(blind, chance)
    unlikely = permutation is None or permutation["p_value"] <= PERMUTATION_LEVEL
    enough = outcome.enough(names, truth)
    tries = FEWEST_TRIES if permutation is None else permutation["n"]
    by_tries = grade == BETTER and enough and tries < FEWEST_TRIES
    if grade == BETTER and not (unlikely and enough):
        grade = NOT_SHOWN
    headline = (
        f"{_GRADES[grade]} {outcome.guessing}: {said.words} {said.text(score['mean'])}"
        f"{_interval(said, score)}; {outcome.guessing} reaches {said.text(guess)}."
    )
    sentences = []
    if grade == NOT_SHOWN and blind["low"] > 0 and enough and chance > LEVEL:
        sentences.append(
            f"The interval alone would mean better. But {outcome.shuffled} independent of the predictions "
            f"agree with them as well in {percent(chance)} of cases; at most {percent(LEVEL)} is required."
        )
    if permutation is not None:
        sentences.append(
            f"Shuffled {outcome.shuffled} reach this in {permutation['reached']} of {permutation['n']} tries "
            f"(p = {permutation['p_value']:.2g}"
            f"{f'; a claim needs {FEWEST_TRIES} tries or more' if tries < FEWEST_TRIES else ''})."
        )
    if COVARIATES in differences:
        sentences.append(_beside_covariates(said, differences[COVARIATES], covariates))
    if grade == BETTER:
        sentences += _compared(outcome, said, differences)
    sentences += outcome.caveats(names, truth, predicted, units)
    # Where labels at random never agree as well, it is the folds that are too few, not the samples.
    few = n_folds is not None and n_folds < FEW_FOLDS and chance <= LEVEL and enough
    advice = {} if by_tries else _more_samples(said, grade, blind)
    if few and grade == NOT_SHOWN:
        advice = {"folds": ADVICE["folds"]}
    if not final:
        own = outcome.advice(names, truth, predicted, better=grade == BETTER, balanced=balanced)
        last = {NOT_SHOWN: ["rank"], WORSE: ["groups"]}.get(grade, [])
        advice = {key: ADVICE[key] for key in own} | advice | {key: ADVICE[key] for key in last}
    adds = differences[COVARIATES]["low"] > 0 if COVARIATES in differences else None
    return Verdict(grade, headline, tuple(sentences), tuple(advice.values()), tuple(advice), adds)


def too_few(outcome: Outcome, target: Target, groups: Any = None) -> Verdict:
    """Where there are too few samples, or groups of them, for any cross-validation."""
    sizes = outcome.sizes(target.truth, groups)
    k, units = sizes.index(min(sizes)), "samples" if groups is None else "groups"
    what = outcome.stratum(target, k)
    return Verdict(
        NOT_SHOWN,
        f"{_GRADES[NOT_SHOWN]} {outcome.guessing}: {what} has {counted(sizes[k], units)}, too few to measure "
        f"anything ({outcome.fewest_units} are needed, a claim needs {FEWEST}).",
        advice=(f"More {units} of {what}, or leave it out.",),
        advice_keys=("class",),
    )


def one_sort(name: Any, metric: Metric, share: float) -> Verdict:
    """Where all samples from elsewhere are of one class."""
    return Verdict(
        NOT_SHOWN,
        f"One class only, {str(name)!r}: {metric.text(share)} of its samples are recognised, which "
        "says nothing about the others.",
        advice=(ADVICE["one_class"],),
        advice_keys=("one_class",),
    )


def grade_of(difference: Mapping[str, Any], chance: float) -> str:
    """Better, not shown or worse: both tests have to agree."""
    if difference["low"] > 0 and chance <= LEVEL:
        return BETTER
    # The same tables, from the other side; a share of exactly `chance` is part of both.
    return WORSE if difference["high"] < 0 and chance >= 1 - LEVEL else NOT_SHOWN


def _interval(metric: Metric, score: Mapping[str, float]) -> str:
    """The interval in parentheses; "" where there is none."""
    ends = [metric.text(score[end]) for end in ("low", "high") if score[end] == score[end]]
    return f" (95 % interval {' to '.join(ends)})" if len(ends) == 2 else ""


def _beside_covariates(metric: Metric, difference: Mapping[str, Any], names: Sequence[str]) -> str:
    what = listed(names) or "the covariates"
    do = "does" if len(names) == 1 else "do"
    gain = _gain(metric, difference)
    if difference["low"] > 0:
        return f"The features improve on {what} alone: {gain}."
    if difference["high"] < 0:
        return f"The features harm: {what} alone {do} better, by {_gain(metric, difference, sign=-1)}."
    return f"The features are not shown to improve on {what} alone: {gain}."


def _compared(outcome: Outcome, metric: Metric, differences: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One sentence for each comparison, baselines with the same one together."""
    found: dict[str, list[str]] = {"Better than": [], "Not shown to differ from": [], "Worse than": []}
    for name, difference in differences.items():
        if name in (outcome.guess_name, COVARIATES):
            continue
        if difference["low"] > 0:
            kind = "Better than"
        elif difference["high"] < 0:
            kind = "Worse than"
        else:
            kind = "Not shown to differ from"
        found[kind].append(f"{name} ({_gain(metric, difference)})")
    return [f"{kind} {listed(names)}." for kind, names in found.items() if names]


def _more_samples(metric: Metric, grade: str, difference: Mapping[str, Any]) -> dict[str, str]:
    half = (difference["high"] - difference["low"]) / 2
    if grade != NOT_SHOWN or half < 0.005:  # a model that always says the same has none
        return {}
    size = f"{100 * half:.0f} points" if metric.unit == "%" else f"{half:.2f}"
    return {
        "samples": f"More samples: with these, differences below about {size} cannot be told from "
        "none; with four times as many, half of that."
    }


def _gain(metric: Metric, difference: Mapping[str, Any], sign: int = 1) -> str:
    ends = sorted((sign * difference["low"], sign * difference["high"]))
    mean, low, high = (metric.gain(value) for value in (sign * difference["mean"], *ends))
    return f"{mean}{metric.gain_unit}" if "nan" in low else f"{mean}{metric.gain_unit}, {low} to {high}"
