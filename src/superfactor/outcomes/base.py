"""What the kind of y decides: one object for each kind, which everything above the estimators asks.

y comes in three forms. `CheckedY` is a user's y, checked, and who has one. The *truth* (m, …) is that of the
samples that have one, as folds use it: class numbers, values, or events and times. *Rows* (n, k) are what a
model says of n samples: probabilities, values, risks. `Target` holds the first two and the names of the k
columns. Metrics compare truth and rows.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from superfactor._words import counted
from superfactor.estimators.targets import CheckedY
from superfactor.outcomes.metrics.metric import Metric
from superfactor.outcomes.pages import Page
from superfactor.outcomes.reading import Reading

Split = tuple[Any, Any]

#: The rival that sees the covariates and not the features.
COVARIATES = "covariates alone"
#: Observations: with fewer, one more or less decides.
FEWEST = 10


@dataclass(frozen=True)
class Steps:
    """t of the grids of ξ and λ, by model, weak to strong: of equal scores the first counts."""

    xi: Mapping[str, tuple[float, ...]]
    lam: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Target:
    """y of n samples, checked.

    Attributes
    ----------
    given : the user's values, and who has one
    names : (k,) of the columns of predicted rows: classes, targets or "risk"
    truth : (m, …) of the samples that have a value
    """

    given: CheckedY
    names: Any
    truth: Any

    def values_at(self, at: Any) -> Any:
        """The user's values of the samples at `at`."""
        return self.given.values[at]


@dataclass(frozen=True)
class Units:
    """What counts as one observation in a test against chance: a sample, or a group that has one value.

    Attributes
    ----------
    truth, rows : of the observations
    name : "samples" or "groups"
    """

    truth: Any
    rows: Any
    name: str


class Outcome(Reading):
    """A kind of y. It has no state: methods take the truth, the rows or the fitted model.

    A kind that changes the `metrics` of another one also answers for these itself: `headline`, `chance`,
    `guess_metric_values`, `least_intervals`; one that changes `decided` gives its metrics the same decision.
    """

    #: Short name: "classes", "flags", "numbers", "counts", "times".
    name: ClassVar[str]
    #: Whose y it is.
    estimator: ClassVar[type[Any]]
    #: t of "auto" grids.
    steps: ClassVar[Steps]
    #: In the order in which they are shown. The first that `headline` names counts.
    metrics: ClassVar[tuple[Metric, ...]]
    #: The prediction without knowledge: as a method's name, in a sentence, and as a heading.
    guess_name: ClassVar[str]
    guessing: ClassVar[str]
    #: The rivals: PCA and then a regression with the same loss, and ridge regression with it.
    pca_name: ClassVar[str]
    ridge_name: ClassVar[str]
    #: How tables call the first, and what both are.
    pca_short: ClassVar[str]
    baselines_words: ClassVar[str]
    #: Of ridge regression as a rival: strengths C, for data whose first principal component has variance 1.
    strengths: ClassVar[tuple[float, ...]] = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)
    few_strengths: ClassVar[tuple[float, ...]] = (0.1, 1.0, 10.0, 100.0)
    #: Samples without which a search cannot score a fold.
    fewest_test_samples: ClassVar[int] = 1
    #: Of each stratum, samples or groups: one to judge by, two to choose by.
    fewest_units: ClassVar[int] = 3
    #: What a page of `superfactor.report` shows of this kind; None where there is no page for it.
    page: ClassVar[Page | None] = None

    # --- y ------------------------------------------------------------------------------------------

    def is_of(self, model: Any, y: Any) -> bool:
        """Whether it is the kind of this model, among the kinds that have the same `estimator`.

        By y where it is given, a user's y that the model is for; where it is None, by the model, which may be
        fitted. The kinds in `KINDS` are asked from the last to the first, which says yes.
        """
        return True

    @abstractmethod
    def read(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> CheckedY:
        """A user's y, as long as X, checked; `name` is for messages."""

    @abstractmethod
    def coded(self, given: CheckedY) -> tuple[Any, Any]:
        """Names of the columns of predicted rows (k,), and the truth (m, …)."""

    def target(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> Target:
        """A user's y of samples to learn from."""
        given = self.read(y, X, name, unlabeled).of_some()
        return Target(given, *self.coded(given))

    def recognised(self, model: Any, given: CheckedY, name: str = "y") -> tuple[Any, Any]:
        """Names (k,) and truth (m, …) of new samples, as a fitted model knows them; `name` in messages."""
        return self.coded(given)

    def refitted(self, y: Any, given: CheckedY) -> Any:
        """A user's y as a search fits its choice to it, once it has been read as `given`."""
        return y if given.known is None or given.names is not None else given.marked

    def out_of(self, truth: Any, exposures: Any) -> Any:
        """The truth (m, …) of samples whose exposures (m, 1) stand in X; None: no exposures."""
        return truth

    def observed(self, truth: Any, model: Any, X: Any) -> Any:
        """The same, by a fitted model that knows where exposures stand in X, the samples' own."""
        return truth

    def exposures(self, truth: Any) -> Any:
        """Exposures (m, 1) that are part of the truth; None where there are none."""
        return None

    def values(self, truth: Any) -> Any:
        """The truth without exposures, as an estimator's ``fit`` takes it where X has them."""
        return truth

    def decoded(self, truth: Any, names: Any) -> Any:
        """The truth as an estimator's ``fit`` takes it from the user."""
        return self.values(truth)

    def informative(self, truth: Any) -> Any:
        """Which samples of the truth tell something (m,), bool: all of them."""
        return np.ones(len(truth), dtype=bool)

    def counts(self, target: Target) -> Any:
        """How many samples there are of each sort, as integers."""
        return np.array([len(target.truth)])

    # --- search -------------------------------------------------------------------------------------

    @abstractmethod
    def n_outputs(self, target: Target) -> int:
        """κ, how many activations there are."""

    def fitted_attributes(self, target: Target) -> dict[str, Any]:
        """What a fitted search says of y."""
        return {}

    def search_strata(self, values: Any) -> Any:
        """What scikit-learn stratifies the folds of a search by (m,); None: folds as samples come."""
        return None

    def check_training(self, target: Target, k: int, train: Any) -> None:
        """Raise a ValueError where no estimator could learn from the training part of split k."""
        if not len(target.given.among(train).labelled):
            raise ValueError(f"cv: no sample in the training part of split {k} has a label")

    def for_training(self, base: Any, target: Target, train: Any) -> Any:
        """The estimator `base`, or a changed clone, for the training part of a fold."""
        return base

    def uses_unlabelled(self, model: Any) -> bool:
        """Whether ``fit`` has a use for samples without a value: our estimators and searches."""
        return isinstance(model, self.estimator) or isinstance(getattr(model, "_outcome", None), Outcome)

    def for_codes(self, search: Any, names: Any) -> Any:
        """A search for the truth in place of the user's values, in outer folds."""
        return search

    def choose_by(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """What compares candidates where the user has no score of their own; ``score`` of the model."""
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(model.score(X, y, **weight))

    @abstractmethod
    def measure(self, y: Any, predicted: Any, sample_weight: Any = None) -> float:
        """The figure that the estimator's own ``score`` gives, the larger the better."""

    def score(
        self, scorer: Callable[..., float], fitted: Any, X: Any, target: Target, test: Any, **extra: Any
    ) -> float:
        """Of a model fitted to a part of the samples, on those at `test`, X being their rows."""
        return scorer(fitted, X, target.values_at(test), **extra)

    # --- folds --------------------------------------------------------------------------------------

    @abstractmethod
    def strata(self, truth: Any) -> Any:
        """Integers (m,): every fold gets an equal share of each."""

    def sizes(self, truth: Any, groups: Any) -> list[int]:
        """How many samples, or groups (m,), there are of each stratum that folds need."""
        strata = self.strata(truth)
        if groups is None:
            return [int(count) for count in np.unique(strata, return_counts=True)[1]]
        return [len(np.unique(groups[strata == k])) for k in np.unique(strata)]

    def check_sizes(self, target: Target, groups: Any) -> None:
        """Raise a ValueError where there are too few samples, or groups, for nested cross-validation."""
        sizes = self.sizes(target.truth, groups)
        if min(sizes) < self.fewest_units:
            what = self.scarce(target, int(np.argmin(sizes)), "samples" if groups is None else "groups")
            raise ValueError(
                f"y: {what}, {min(sizes)}; nested cross-validation needs {self.fewest_units}{self.of_each}"
            )

    #: After the fewest samples that are needed.
    of_each: ClassVar[str] = ""
    #: What is shuffled for a p-value.
    shuffled: ClassVar[str] = "outcomes"

    def scarce(self, target: Target, k: int, what: str) -> str:
        """That there are too few samples, or groups, of stratum k."""
        return f"{self.stratum(target, k)} has too few {what}"

    @abstractmethod
    def stratum(self, target: Target, k: int) -> str:
        """Stratum k in a message."""

    def check_fold(self, truth: Any) -> None:
        """Raise a ValueError where nothing can be learned from the training part of an outer fold."""

    def splits(self, truth: Any, groups: Any, n_splits: int, seed: int) -> list[Split]:
        """Shuffled folds with equal shares of all strata, groups (m,) on one side of each."""
        strata = self.strata(truth)
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        splitter = kind(n_splits, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            # A stratum with fewer samples than folds is absent from some test parts.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            found = list(splitter.split(np.zeros(len(truth)), strata, groups))
        for train, _ in found:
            self.check_fold(truth[train])
        return found

    # --- judging ------------------------------------------------------------------------------------

    def settled(self, truth: Any) -> Outcome:
        """The kind for judging samples of this truth (m, …): some figures have to know all of them."""
        return self

    def within_folds(self, rows: Any, folds: Any) -> Any:
        """Rows (n, k) as they can be looked at together, from folds (n,) that had a model each."""
        return rows

    def check_evaluable(self, model: Any) -> None:
        """Raise a TypeError for a model that does not say what is judged."""

    @abstractmethod
    def rows(self, model: Any, X: Any, names: Any, **beside: Any) -> Any:
        """What a fitted model says of X, (n, k) with the columns `names`; `beside` reaches its method."""

    @abstractmethod
    def guess(self, truth: Any, n: int, k: int) -> Any:
        """Rows (n, k) of a prediction that knows only this truth; of counts for one unit of exposure."""

    def guessed(self, truth: Any, others: Any, k: int) -> Any:
        """The same rows of the samples whose truth is `others`, of which only exposures are looked at."""
        return self.guess(truth, len(others), k)

    def headline(self, truth: Any) -> str:
        """The name of the metric that counts."""
        return self.metrics[0].name

    def metric(self, name: str) -> Metric:
        """One of `metrics`."""
        return next(metric for metric in self.metrics if metric.name == name)

    def words(self, name: str) -> str:
        """A metric or a figure of the calibration in words."""
        found = [metric.words for metric in self.metrics if metric.name == name]
        return found[0] if found else name.replace("_", " ")

    def metric_values(self, truth: Any, rows: Any) -> dict[str, float]:
        """The figure of each metric."""
        return {metric.name: metric.function(truth, rows) for metric in self.metrics}

    def guess_metric_values(self, truth: Any, rows: Any, everyone: Any) -> dict[str, float]:
        """Those of a guess, of a fold out of `everyone` (m, …)."""
        return self.metric_values(truth, rows)

    def confusion(self, truth: Any, rows: Any) -> Any:
        """A table (k, k) of true and predicted sorts; None where there are none."""
        return None

    def least_intervals(self, truth: Any, rows: Any) -> dict[str, tuple[float, float]]:
        """Intervals that so many samples allow at best: folds that happen to agree are no certainty."""
        return {}

    def calibrations(self, truth: Any, rows: Any) -> dict[str, tuple[float, float]]:
        """How far to trust the size of the predictions: name → value and standard error."""
        return {}

    def decided(self, rows: Any) -> Any:
        """What is predicted in the end, from rows (n, k)."""
        return rows[:, 0] if rows.shape[1] == 1 else rows

    def as_units(self, truth: Any, rows: Any, groups: Any) -> Units:
        """Who counts as one: repeated measures of a patient are right or wrong together."""
        if groups is None:
            return Units(truth, rows, "samples")
        members = [np.flatnonzero(groups == g) for g in np.unique(groups)]
        if any(len(np.unique(truth[m], axis=0)) > 1 for m in members):
            return Units(truth, rows, "samples")
        first = np.array([m[0] for m in members])
        return Units(truth[first], np.array([rows[m].mean(axis=0) for m in members]), "groups")

    @abstractmethod
    def chance(self, metric: str, truth: Any, rows: Any) -> float:
        """p-value: how often outcomes that know nothing of the predictions agree with them as well.

        By the metric of this name where the kind has several that count.
        """

    # --- rivals -------------------------------------------------------------------------------------

    @abstractmethod
    def ridge_rows(self, A: Any, truth: Any, B: Any, penalties: Any, weight: Any, k: int) -> Sequence[Any]:
        """Rows (n', k) of B (n', d), for each of the `penalties` (S, d) of a ridge regression on A (n, d).

        It has the loss of the estimator, on samples of this truth (n, …) and weight (n,).
        """

    def rival_weights(self, truth: Any, balanced: bool) -> Any:
        """Weights of the samples (n,) in rivals; `balanced`: every class weighs the same."""
        return np.ones(len(truth))

    def balanced(self, model: Any) -> bool:
        """Whether classes weigh the same in this model; then they do in its rivals."""
        return False

    @abstractmethod
    def likelihood(self, truth: Any, rows: Any) -> float:
        """What rivals are tuned by, the larger the better."""

    def short(self, method: str) -> str:
        """A method above a column of figures."""
        names = {self.pca_name: self.pca_short, self.ridge_name: "ridge", COVARIATES: "covar."}
        return names.get(method, "guess")

    def legend(self, methods: Sequence[str], names: Any, counts: Any) -> str:
        """What the short names mean, where the counts are those of `counts`."""
        beside = COVARIATES in methods
        said = {
            self.pca_name: ("model: covariates + factors; " if beside else "")
            + f"{self.pca_short}, ridge: {self.baselines_words}"
            + (" with the covariates" if beside else ""),
            COVARIATES: "covar.: covariates alone",
            self.guess_name: f"guess: {self.guess_words(names, counts)}",
        }
        return "; ".join(text for name, text in said.items() if name in methods)

    def guess_words(self, names: Any, counts: Any) -> str:
        """What a guess always says."""
        return self.guess_name

    # --- verdict ------------------------------------------------------------------------------------

    def one_sort(self, truth: Any) -> bool:
        """Whether all samples are of one class, so that there is nothing to compare."""
        return False

    def enough(self, names: Any, truth: Any) -> bool:
        """Whether there are observations enough for a claim."""
        return int(np.count_nonzero(self.informative(truth))) >= FEWEST

    def caveats(self, names: Any, truth: Any, predicted: Any, units: str) -> list[str]:
        """Sentences about what the figures do not show.

        `truth` is that of the observations, `units` what these are, `predicted` what `decided` gives.
        """
        if self.enough(names, truth):
            return []
        return [f"Only {counted(len(truth), units)}: too few for a claim, which needs about {FEWEST}."]

    def advice(self, names: Any, truth: Any, predicted: Any, *, better: bool, balanced: bool) -> list[str]:
        """Keys of the advice that is for this kind alone, as in `superfactor.selection.judging.verdict`."""
        return []
