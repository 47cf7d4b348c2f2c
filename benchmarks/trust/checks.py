"""One problem: fitted through the public estimator, and held against naive code.

Violations have a kind (one of KINDS), a number and a sentence. Tolerances are 1e-6 of the supervised part
F − ξΣ_{i>r}σ_i², and rounding: last digits of F, rounding of the naive code's own sums, and, where
the stated objective is compared and not a bound, what rounding in the precision of X changes.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.trust import equal, folds
from benchmarks.trust.draw import Problem, problem
from benchmarks.trust.naive import Factors, Given, objective
from benchmarks.trust.search import Coordinates, Point, lowest
from benchmarks.trust.starts import starts

KINDS = (
    "wrong F",
    "false bound",
    "false proof",
    "not finite",
    "unequal",
    "unequal folds",
    "exception",
    "harness",
)
TOLERANCE = 1e-6
#: Last digits of F that may be wrong, of a double for bounds and of the type of X for an objective.
DIGITS = 8
#: Starts where the answer is proven, and where it is not.
STARTS = {True: 8, False: 24}
#: Shares of the problems that are said otherwise, and whose folds are looked at.
SAID_OTHERWISE, LOOKED_AT = 0.25, 0.12
#: Of the certificate; rates and conditions of the theorem are infinite where it promises nothing.
NUMBERS = ("objective", "lower_bound", "gap", "mu", "L")


@dataclass(frozen=True)
class Violation:
    """What is wrong."""

    kind: str
    amount: float
    words: str


@dataclass
class Result:
    """All about one problem.

    Attributes
    ----------
    violations : what is wrong
    refused : the message of a ValueError, if the fit refused the data
    proven : whether the certificate says so
    beaten : by how much of the supervised part the harness found a lower F, 0.0 where it did not
    unequal : by how much the problem said otherwise differs, where one of the two is not proven
    overflows : RuntimeWarnings of the fit
    """

    seed: int
    index: int
    outcome: str
    model: str
    scale: str
    words: str
    violations: list[Violation] = field(default_factory=list)
    refused: str | None = None
    proven: bool = False
    too_few_digits: bool = False
    beaten: float = 0.0
    unequal: float = 0.0
    overflows: int = 0
    seconds: float = 0.0

    def generator(self, what: str) -> np.random.Generator:
        """Random numbers for one of the checks."""
        return generator(self.seed, self.index, what)

    def add(self, kind: str, amount: float, words: str) -> None:
        """Note a violation."""
        assert kind in KINDS
        self.violations.append(Violation(kind, float(amount), words))


def check(seed: int, index: int, search: str = "auto") -> Result:
    """All checks of problem number `index` of this seed."""
    p = problem(seed, index)
    result = Result(seed, index, p.outcome, p.model, p.scale, p.words)
    begun = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = _fitted(p, search, result)
        result.overflows = sum(issubclass(w.category, RuntimeWarning) for w in caught)
        if fitted is not None:
            try:
                _evaluate(p, fitted, search, result)
            except Exception as error:  # of the naive code: no reason to lose all other problems
                result.add("harness", 1.0, f"{type(error).__name__}: {error}")
        if result.generator("folds").random() < LOOKED_AT and folds.suits(p):
            _look_at_folds(p, result)
    result.seconds = time.process_time() - begun
    return result


def generator(seed: int, index: int, what: str) -> np.random.Generator:
    """Random numbers of a problem for one of its checks, whatever the others drew."""
    return np.random.default_rng([seed, index, *map(ord, what)])


def _fitted(p: Problem, search: str, result: Result) -> Any:
    """A fitted estimator, or None where the fit refused the data or failed."""
    try:
        return p.estimator(search=search).fit(**p.data())
    except Exception as error:
        if folds.refuses(error):
            result.refused = str(error)
        else:
            result.add("exception", 1.0, f"{type(error).__name__}: {error}")
    return None


def _evaluate(p: Problem, fitted: Any, search: str, result: Result) -> None:
    """Compare a fit with the naive code."""
    wrong = not_finite(fitted)
    if wrong:
        result.add("not finite", 1.0, f"{', '.join(wrong)} of the fit")
    certificate = fitted.certificate_
    result.proven = bool(certificate.is_global)
    result.too_few_digits = bool(certificate.lost_to_rounding)
    given, factors = p.naive(fitted), p.factors(fitted)
    stated = certificate.objective
    if not all(np.isfinite(part).all() for part in vars(factors).values()) or not np.isfinite(stated):
        return
    own, own_error = objective(given, factors)
    blur = blurred(given, factors, own, p.X.dtype, result.generator("rounding"))
    best, error = own, own_error
    found = search_lowest(given, factors, STARTS[result.proven], result.generator("starts"))
    if sum(found) < best + error:
        best, error = found
    # Never nothing, for shares of it.
    part = max(best - given.floor, np.finfo(float).eps * abs(best), np.finfo(float).tiny)
    unsure = TOLERANCE * part + DIGITS * np.finfo(float).eps * abs(best)
    # What the certificate says that rounding may have changed is no error.
    if not abs(stated - own) <= unsure + own_error + blur + certificate.rounding:
        result.add("wrong F", (stated - own) / part, f"objective {stated!r}, that of the factors is {own!r}")
    if stated != fitted.objective_:
        result.add("wrong F", 1.0, f"certificate: {stated!r}, objective_: {fitted.objective_!r}")
    bound = certificate.lower_bound
    if not bound <= best + error + unsure:
        result.add("false bound", (bound - best) / part, f"bound {bound!r}, a point has F = {best!r}")
    if result.proven and not stated <= best + error + unsure:
        words = f"proven at {stated!r}, a point has F = {best!r}"
        result.add("false proof", (stated - best) / part, words)
    if not result.proven and own - best > error + unsure + blur:
        result.beaten = float((own - best) / part)
    if result.generator("same").random() < SAID_OTHERWISE:
        _compare(equal.same(p, result.generator("same")), fitted, unsure + blur, part, search, result)


def _compare(other: Problem, fitted: Any, unsure: float, part: float, search: str, result: Result) -> None:
    """The same problem said otherwise must have the same objective."""
    again = _fitted(other, search, result)
    if again is None:
        if result.refused is not None:
            result.add("unequal", 1.0, f"{other.words}: refused, {result.refused}")
        return
    far = again.objective_ - fitted.objective_
    rounding = fitted.certificate_.rounding + again.certificate_.rounding
    if abs(far) <= unsure + rounding:
        return
    amount = abs(far) / part
    if result.proven and again.certificate_.is_global:
        words = f"{other.words.split('; ')[-1]}: {fitted.objective_!r} becomes {again.objective_!r}"
        result.add("unequal", amount, words)
    else:
        result.unequal = float(amount)


def _look_at_folds(p: Problem, result: Result) -> None:
    """Nothing of test rows may reach training."""
    try:
        for kind, words in folds.differences(p, result.generator("folds")):
            result.add(kind, 1.0, words)
    except Exception as error:
        result.add("exception", 1.0, f"nested_scores: {type(error).__name__}: {error}")


def search_lowest(
    given: Given, factors: Factors, count: int, rng: np.random.Generator
) -> tuple[float, float]:
    """The lowest F of the harness's own descents, from so many starts and from the answer, and its error."""
    coordinates = Coordinates(given)
    if coordinates.rank == 0:
        return np.inf, 0.0
    own, others = coordinates.coordinates_of(factors), starts(coordinates, count, rng)
    pairs = zip(vars(others).values(), vars(own).values(), strict=True)
    value, error, _ = lowest(given, Point(*(np.concatenate(pair) for pair in pairs)), coordinates)
    return value, error


def blurred(given: Given, factors: Factors, own: float, dtype: Any, rng: np.random.Generator) -> float:
    """What rounding in the precision of X may change in F: its last digits, or 16 times the most of four
    tries to round the factors.
    """
    eps = float(np.finfo(dtype).eps)
    most = DIGITS * eps * abs(own) / 16
    for _ in range(4):
        moved = Factors(
            *(part * (1 + eps * rng.uniform(-1, 1, part.shape)) for part in vars(factors).values())
        )
        most = max(most, abs(objective(given, moved)[0] - own))
    return 16 * most


def not_finite(fitted: Any) -> list[str]:
    """The names of public fitted attributes that hold something infinite or NaN."""
    names = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    found = []
    for name in sorted(names | {"coef_", "feature_importances_"}):
        value = getattr(fitted, name, None)
        values = list(value.values()) if isinstance(value, dict) else [value]
        if not all(_finite(part) for part in values):
            found.append(name)
    certificate = fitted.certificate_
    # The curvature of counts has no bound.
    bounded = {name for name in NUMBERS if name != "L" or getattr(fitted, "loss", None) != "poisson"}
    found += [
        f"certificate_.{name}"
        for name in NUMBERS
        if name in bounded and not _finite(getattr(certificate, name))
    ]
    return found


def _finite(value: Any) -> bool:
    values = np.asarray(value)
    return values.dtype.kind not in "fc" or bool(np.isfinite(values).all())
