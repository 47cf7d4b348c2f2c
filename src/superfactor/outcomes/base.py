"""`Outcome`: the interface that everything above the estimators uses for the kind of y.

y has three forms:

- `CheckedY`: the user's y after checks, and which samples have a value.
- *truth* (m, …): the values of the m samples that have one, coded as class numbers, values, or events and
  times. Folds use it.
- *rows* (n, k): predictions for n samples: probabilities, values or risks.

`Target` holds the first two and the names of the k columns. Metrics compare truth and rows.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
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

#: Name of the baseline that uses the covariates without the features.
COVARIATES = "covariates alone"
#: Folds of a cross-validation, unless there are few samples.
FEWEST_SPLITS = 5
#: Fewest observations for a claim; with fewer, a single observation can change the conclusion.
FEWEST = 10


@dataclass(frozen=True)
class Steps:
    """Values of t in the grids of ξ and λ, by model, from weak to strong; the first wins a tie."""

    xi: Mapping[str, tuple[float, ...]]
    lam: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Target:
    """y of n samples after checks.

    Attributes
    ----------
    given : the user's values, and which samples have one
    names : (k,) names of the columns of rows: classes, targets or "risk"
    truth : (m, …) coded values of the samples that have one
    """

    given: CheckedY
    names: Any
    truth: Any

    def values_at(self, at: Any) -> Any:
        """Return the user's values of the samples at positions `at`."""
        return self.given.values[at]


@dataclass(frozen=True)
class Units:
    """Observations of a test against chance: samples, or groups whose samples share one value.

    Attributes
    ----------
    truth, rows : truth and rows of the observations
    name : "samples" or "groups"
    """

    truth: Any
    rows: Any
    name: str


class Outcome(Reading):
    """A kind of y. It has no state: methods take the truth, the rows or the fitted model.

    A subclass that changes `metrics` must also define `headline`, `chance`, `guess_metric_values` and
    `least_intervals`. A subclass that changes `decided` must use the same decision in its metrics.
    """

    #: Short name: "classes", "flags", "numbers", "counts", "times".
    name: ClassVar[str]
    #: The estimator that is fitted to this kind of y.
    estimator: ClassVar[type[Any]]
    #: Values of t in "auto" grids.
    steps: ClassVar[Steps]
    #: Metrics in the order in which they are shown. `headline` names the one that decides.
    metrics: ClassVar[tuple[Metric, ...]]
    #: The prediction that ignores X: as the name of a method, and in a sentence or heading.
    guess_name: ClassVar[str]
    guessing: ClassVar[str]
    #: The baselines: PCA followed by a regression with the same loss, and ridge regression with this loss.
    pca_name: ClassVar[str]
    ridge_name: ClassVar[str]
    #: Short name of the PCA baseline in tables, and a description of both baselines.
    pca_short: ClassVar[str]
    baselines_words: ClassVar[str]
    #: Strengths C of the ridge baseline, for data whose first principal component has variance 1.
    strengths: ClassVar[tuple[float, ...]] = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)
    few_strengths: ClassVar[tuple[float, ...]] = (0.1, 1.0, 10.0, 100.0)
    #: Fewest samples in the test part of a fold that a search can score.
    fewest_test_samples: ClassVar[int] = 1
    #: Fewest samples or groups of each stratum: one for the outer test part, two for the inner folds.
    fewest_units: ClassVar[int] = 3
    #: Contents of a page of `superfactor.report`; None if this kind has no page.
    page: ClassVar[Page | None] = None

    # --- y ------------------------------------------------------------------------------------------

    def is_of(self, model: Any, y: Any) -> bool:
        """Return whether model and y are of this kind, among the kinds that have the same `estimator`.

        The user's y decides; if it is None, the model decides, which may be fitted. Kinds in `KINDS` are
        tried from the last to the first.
        """
        return True

    @abstractmethod
    def read(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> CheckedY:
        """Check a user's y, which must be as long as X; `name` is the caller's name in messages."""

    def read_as(self, model: Any, y: Any, X: Any, name: str) -> CheckedY:
        """Check y of new samples, which is read as that of the fit of this model."""
        return self.read(y, X, name, getattr(model, "unlabeled", None))

    def as_given(self, values: Any) -> Any:
        """Return values of a CheckedY in a form that every fitted model reads in the same way."""
        return values

    @abstractmethod
    def coded(self, given: CheckedY) -> tuple[Any, Any]:
        """Return the names of the columns of rows (k,), and the truth (m, …)."""

    def target(self, y: Any, X: Any, name: str, unlabeled: Any = None) -> Target:
        """Check a user's y of training samples."""
        given = self.read(y, X, name, unlabeled).of_some()
        return Target(given, *self.coded(given))

    def recognised(self, model: Any, given: CheckedY, name: str = "y") -> tuple[Any, Any]:
        """Return names (k,) and truth (m, …) of new samples in the coding of a fitted model.

        `name` is the name of y in messages.
        """
        return self.coded(given)

    def refitted(self, y: Any, given: CheckedY) -> Any:
        """Return the y to which a search refits its choice: the user's y, which was checked as `given`."""
        return y if given.known is None or given.names is not None else given.marked

    def out_of(self, truth: Any, exposures: Any) -> Any:
        """Return the truth (m, …) with exposures (m, 1) from X added; None: no exposures."""
        return truth

    def observed(self, truth: Any, model: Any, X: Any) -> Any:
        """Return the truth with the exposures that a fitted model reads from its column of X (m, p)."""
        return truth

    def exposures(self, truth: Any) -> Any:
        """Return the exposures (m, 1) in the truth; None if there are none."""
        return None

    def values(self, truth: Any) -> Any:
        """Return the truth without exposures, as an estimator's ``fit`` requires it if X has them."""
        return truth

    def decoded(self, truth: Any, names: Any) -> Any:
        """Return the truth in the user's coding, as an estimator's ``fit`` accepts it."""
        return self.values(truth)

    def informative(self, truth: Any) -> Any:
        """Return which samples of the truth are informative (m,), bool: all of them."""
        return np.ones(len(truth), dtype=bool)

    def counts(self, target: Target) -> Any:
        """Return the number of samples of each category, as integers."""
        return np.array([len(target.truth)])

    # --- search -------------------------------------------------------------------------------------

    @abstractmethod
    def n_outputs(self, target: Target) -> int:
        """Return κ, the number of activations."""

    def fitted_attributes(self, target: Target) -> dict[str, Any]:
        """Return fitted attributes of a search that describe y."""
        return {}

    def search_strata(self, values: Any) -> Any:
        """Return the strata of the folds of a search (m,), for scikit-learn; None: no stratification."""
        return None

    def check_training(self, target: Target, k: int, train: Any) -> None:
        """Raise a ValueError if no estimator could learn from the training part of split k."""
        if not len(target.given.among(train).labelled):
            raise ValueError(f"cv: no sample in the training part of split {k} has a label")

    def for_training(self, base: Any, target: Target, train: Any) -> Any:
        """Return the estimator `base`, or a changed clone, for the training part of a fold."""
        return base

    def uses_unlabelled(self, model: Any) -> bool:
        """Return whether ``fit`` uses samples without a value: estimators and searches of this package do."""
        return isinstance(model, self.estimator) or isinstance(getattr(model, "_outcome", None), Outcome)

    def for_codes(self, search: Any, names: Any) -> Any:
        """Return a search for outer folds, where y is the truth instead of the user's values."""
        return search

    def choose_by(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score that compares candidates by default: ``score`` of the model."""
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(model.score(X, y, **weight))

    @abstractmethod
    def measure(self, y: Any, predicted: Any, sample_weight: Any = None) -> float:
        """Return the value of the estimator's ``score``; larger is better."""

    def score(
        self, scorer: Callable[..., float], fitted: Any, X: Any, target: Target, test: Any, **extra: Any
    ) -> float:
        """Return the score of a fitted model on the samples at positions `test`, whose rows are X."""
        return scorer(fitted, X, target.values_at(test), **extra)

    # --- folds --------------------------------------------------------------------------------------

    @abstractmethod
    def strata(self, truth: Any) -> Any:
        """Return strata as integers (m,): every fold gets an equal share of each stratum."""

    def sizes(self, truth: Any, groups: Any) -> list[int]:
        """Return the number of samples, or of groups (m,), in each stratum that folds need."""
        strata = self.strata(truth)
        if groups is None:
            return [int(count) for count in np.unique(strata, return_counts=True)[1]]
        return [len(np.unique(groups[strata == k])) for k in np.unique(strata)]

    def check_sizes(self, target: Target, groups: Any) -> None:
        """Raise a ValueError if there are too few samples, or groups, for nested cross-validation."""
        sizes = self.sizes(target.truth, groups)
        if min(sizes) < self.fewest_units:
            what = self.scarce(target, int(np.argmin(sizes)), "samples" if groups is None else "groups")
            raise ValueError(
                f"y: {what}, {min(sizes)}; nested cross-validation needs {self.fewest_units}{self.of_each}"
            )

    #: Text after the number of required samples in messages.
    of_each: ClassVar[str] = ""
    #: Name of what is shuffled for a p-value.
    shuffled: ClassVar[str] = "outcomes"

    def scarce(self, target: Target, k: int, what: str) -> str:
        """Return the message that stratum k has too few samples, or groups."""
        return f"{self.stratum(target, k)} has too few {what}"

    @abstractmethod
    def stratum(self, target: Target, k: int) -> str:
        """Return the name of stratum k in messages."""

    def n_splits(self, n: int) -> int:
        """Return how many outer folds n samples get.

        More folds make the estimate less pessimistic, because each model sees more of the samples. Metrics
        that compare samples within a fold require enough samples there.
        """
        return FEWEST_SPLITS

    def check_fold(self, truth: Any) -> None:
        """Raise a ValueError if nothing can be learned from the training part of an outer fold."""

    def splits(self, truth: Any, groups: Any, n_splits: int, seed: int) -> list[Split]:
        """Return shuffled folds with equal shares of all strata; no fold divides one of the groups (m,)."""
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

    # --- evaluation ---------------------------------------------------------------------------------

    def settled(self, truth: Any) -> Outcome:
        """Return the kind for evaluating samples of this truth (m, …); some metrics depend on all of them."""
        return self

    def within_folds(self, rows: Any, folds: Any) -> Any:
        """Return rows (n, k) of models of several folds (n,) in a form that can be compared across folds."""
        return rows

    def check_evaluable(self, model: Any) -> None:
        """Raise a TypeError for a model without the predictions that the metrics require."""

    @abstractmethod
    def rows(self, model: Any, X: Any, names: Any, **beside: Any) -> Any:
        """Return predictions of a fitted model for X (n, k), columns `names`.

        `beside` are keyword arguments of its prediction method, such as covariates.
        """

    @abstractmethod
    def guess(self, truth: Any, n: int, k: int) -> Any:
        """Return rows (n, k) of a prediction that uses only this truth; counts are per unit of exposure."""

    def guessed(self, truth: Any, others: Any, k: int) -> Any:
        """Return these rows for the samples whose truth is `others`; only its exposures are used."""
        return self.guess(truth, len(others), k)

    def headline(self, truth: Any) -> str:
        """Return the name of the metric that decides."""
        return self.metrics[0].name

    def metric(self, name: str) -> Metric:
        """Return the metric of this name."""
        return next(metric for metric in self.metrics if metric.name == name)

    def words(self, name: str) -> str:
        """Return the name of a metric, or of a calibration value, for sentences."""
        found = [metric.words for metric in self.metrics if metric.name == name]
        return found[0] if found else name.replace("_", " ")

    def metric_values(self, truth: Any, rows: Any) -> dict[str, float]:
        """Return the value of each metric."""
        return {metric.name: metric.function(truth, rows) for metric in self.metrics}

    def guess_metric_values(self, truth: Any, rows: Any, everyone: Any) -> dict[str, float]:
        """Return the metrics of a guess in one fold; `everyone` (m, …) is the truth of all samples."""
        return self.metric_values(truth, rows)

    def confusion(self, truth: Any, rows: Any) -> Any:
        """Return the confusion matrix (k, k), true × predicted; None for kinds without classes."""
        return None

    def least_intervals(self, truth: Any, rows: Any) -> dict[str, tuple[float, float]]:
        """Return the narrowest intervals that this number of samples allows.

        Folds that agree by chance would otherwise give intervals that are too narrow.
        """
        return {}

    def sample_intervals(self, truth: Any, rows: Any) -> dict[str, tuple[float, float]]:
        """Return 95 % intervals in closed form for samples that no model was fitted to."""
        return self.least_intervals(truth, rows)

    def calibrations(self, truth: Any, rows: Any) -> dict[str, tuple[float, float]]:
        """Return calibration measures: name → (value, standard error)."""
        return {}

    def decided(self, rows: Any) -> Any:
        """Return the final predictions from rows (n, k)."""
        return rows[:, 0] if rows.shape[1] == 1 else rows

    def as_units(self, truth: Any, rows: Any, groups: Any) -> Units:
        """Return the observations of a test.

        A group, such as the repeated measurements of a patient, is one observation if its samples share one
        value.
        """
        if groups is None:
            return Units(truth, rows, "samples")
        _, first, number, sizes = np.unique(
            groups, return_index=True, return_inverse=True, return_counts=True
        )
        if not np.array_equal(truth, truth[first][number]):
            return Units(truth, rows, "samples")
        means = np.zeros((len(first), *np.shape(rows)[1:]))
        np.add.at(means, number, rows)
        return Units(truth[first], means / sizes[:, None], "groups")

    @abstractmethod
    def chance(self, metric: str, truth: Any, rows: Any) -> float:
        """Return a p-value: how often outcomes independent of the predictions agree with them as well.

        The metric of this name is used if several metrics of the kind can decide.
        """

    # --- baselines ----------------------------------------------------------------------------------

    @abstractmethod
    def ridge_rows(self, A: Any, truth: Any, B: Any, penalties: Any, weight: Any, k: int) -> Iterable[Any]:
        """Return rows (n', k) of B (n', d), fitted to A (n, d) by ridge regression, for `penalties` (S, d).

        They may be computed one after another, when they are needed.
        The regression uses the loss of the estimator and samples with this truth (n, …) and weight (n,).
        """

    def baseline_weights(self, truth: Any, balanced: bool) -> Any:
        """Return sample weights (n,) of the baselines; `balanced`: every class has the same total weight."""
        return np.ones(len(truth))

    def balanced(self, model: Any) -> bool:
        """Return whether this model gives classes equal weight; its baselines then do so too."""
        return False

    @abstractmethod
    def likelihood(self, truth: Any, rows: Any) -> float:
        """Return the score by which baselines are tuned; larger is better."""

    def short(self, method: str) -> str:
        """Return the short name of a method, for column headings."""
        names = {self.pca_name: self.pca_short, self.ridge_name: "ridge", COVARIATES: "covar."}
        return names.get(method, "guess")

    def legend(self, methods: Sequence[str], names: Any, counts: Any) -> str:
        """Return the legend of the short names; `counts` are the samples of each category."""
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
        """Return a description of the guess."""
        return self.guess_name

    # --- verdict ------------------------------------------------------------------------------------

    def one_sort(self, truth: Any) -> bool:
        """Return whether all samples are of one class, so that nothing can be compared."""
        return False

    def enough(self, names: Any, truth: Any) -> bool:
        """Return whether there are enough observations for a claim."""
        return int(np.count_nonzero(self.informative(truth))) >= FEWEST

    def caveats(self, names: Any, truth: Any, predicted: Any, units: str) -> list[str]:
        """Return sentences about limits of the results.

        `truth` belongs to the observations, `units` is their name, `predicted` is the result of `decided`.
        """
        if self.enough(names, truth):
            return []
        return [f"Only {counted(len(truth), units)}: too few for a claim, which needs about {FEWEST}."]

    def advice(self, names: Any, truth: Any, predicted: Any, *, better: bool, balanced: bool) -> list[str]:
        """Return keys of advice that is specific to this kind; the verdict of nested scores lists them."""
        return []
