"""Formats of names and numbers: one function for each kind, used by templates and figures.

A number has the same format in tables and tooltips. All names from the data pass `label` once; the templates
escape them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

# Longer names are shortened in the middle, because probe names differ at the ends.
LONGEST_NAME = 200
# There are few classes; their names are shown completely, at least in a tooltip.
LONGEST_CLASS = 1000
LONGEST_NOTE = 2000
# Control characters, halves of surrogate pairs and marks that change the direction of text.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
NONE = "–"


def label(value: Any, longest: int = LONGEST_NAME) -> str:
    """Return a name from the data for the page: one line of visible characters, not too long."""
    name = _INVISIBLE.sub("\ufffd", re.sub(r"\s+", " ", str(value)))
    return shortened(name, longest) or "(no name)"


def shortened(name: str, longest: int) -> str:
    """Return at most `longest` letters of a name, shortened in the middle."""
    if len(name) <= longest:
        return name
    half = (longest - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: 3 factors, 1 factor, 2 classes."""
    if count != 1:
        noun += "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}"


def compact(values: Any, digits: int = 4) -> list[float | None]:
    """Return coordinates (k,) for a figure, rounded to significant digits; None if not finite."""
    form = f"%.{digits}g"
    plain = np.asarray(values, dtype=float).tolist()
    return [float(form % v) if math.isfinite(v) else None for v in plain]


# --- numbers, by kind -----------------------------------------------------------------------------


def number(value: float | None, digits: int = 3) -> str:
    """Format significant digits with a minus sign; thousands as 1,234, extremes as 1.2e−5."""
    if value is None or math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if float(value).is_integer() and abs(value) < 1e9:
        text = f"{int(value):,}"
    elif 1e-4 <= abs(value) < 10**digits:
        text = f"{value:.{digits}g}"
    elif 1 <= abs(value) < 1e7:
        text = f"{value:,.0f}"
    else:
        text = re.sub(r"e([+-])0?", r"e\1", f"{value:.{digits - 1}e}").replace("e+", "e")
    return text.replace("-", "−")


def fixed(value: float | None, places: int = 3) -> str:
    """Format a number with that many decimals; – if missing."""
    if value is None or not math.isfinite(value):
        return NONE
    return f"{value:z.{places}f}".replace("-", "−")  # z turns −0.00 into 0.00


def signed(value: float | None, places: int) -> str:
    """Format as `fixed`, with a plus sign for positive numbers."""
    text = fixed(value, places)
    return text if value is None or text.startswith(("−", NONE)) or not text.strip("0.") else f"+{text}"


def count(value: int) -> str:
    """Format a count: 1,234."""
    return f"{int(value):,}"


def amount(value: float) -> str:
    """Format a number in a table of the outcome; infinite means not reached."""
    return "not reached" if math.isinf(value) else number(value)


def share(value: float | None) -> str:
    """Format a share of samples or of variance: 0.1234 is 12.3 %; – if missing."""
    return NONE if value is None or not math.isfinite(value) else f"{fixed(100 * value, 1)} %"


def gap(value: float) -> str:
    """Format a share that is never rounded to zero."""
    return share(value) if value >= 1e-3 else f"{number(100 * value, 2)} %"


def frequency(value: float) -> str:
    """Format a frequency: 0.96 is 96 %."""
    return NONE if not math.isfinite(value) else f"{100 * value:.0f} %"


def points(value: float | None) -> str:
    """Format a difference of two shares: 0.031 is +3.1 points."""
    return NONE if value is None or not math.isfinite(value) else f"{signed(100 * value, 1)} points"


#: Area under a ROC curve; log loss, log-likelihood and other scores that are not shares.
area = loss = partial(fixed, places=3)
#: |Cosine| of two factors; a score or a standard deviation in standard deviations.
similarity = deviations = partial(fixed, places=2)
#: Coefficient of a factor or covariate; correlation of feature and factor.
coefficient = correlation = partial(signed, places=2)
#: Weight of a feature, scaled so that the largest of the factor is 1.
weight = partial(signed, places=3)
#: ξ, λ and other settings; a time.
parameter = seconds = number
#: The value of F, with many digits.
objective = partial(number, digits=8)
#: p or q, never rounded to zero.
p_value = partial(number, digits=2)


def raw_weight(value: float) -> str:
    """Format a weight in the units of the fit; without commas, so that it can be copied to other programs."""
    return f"{value:.3g}".replace("-", "−")


def probability(value: float) -> str:
    """Format three decimals; 0 and 1 appear only if exact."""
    if 0 < value < 0.0005:
        return "< 0.001"
    return "> 0.999" if 0.9995 <= value < 1 else fixed(value, 3)


def effect_per_sd(value: float) -> str:
    """Format the effect of one standard deviation of a feature, which is small if there are many features."""
    return signed(value, 2 if not math.isfinite(value) or abs(value) >= 0.1 else 4)


def ratio(value: float | None) -> str:
    """Format a ratio: two decimals, fewer for large ones."""
    if value is None or not math.isfinite(value):
        return number(value)
    if abs(value) < 0.01:
        return number(value, 2)
    return fixed(value, 2 if abs(value) < 10 else 1) if abs(value) < 100 else number(value)


# --- measures of prediction -----------------------------------------------------------------------

_SHARES = ("accuracy", "balanced_accuracy", "balanced accuracy")
# In units of the outcome.
_UNITS = ("mean_absolute_error",)
_TERMS = {
    "balanced_accuracy": "balanced accuracy", "log_loss": "log loss", "r2": "R²",
    "concordance": "concordance", "mean_absolute_error": "mean absolute error",
    "d2": "deviance explained", "roc_auc": "ROC area", "brier": "Brier score",
}  # fmt: skip


def headed(words: str) -> str:
    """Return the name of a metric as a heading, with a capital."""
    return words[:1].upper() + words[1:]


def metric_term(name: str) -> str:
    """Return the glossary term that explains the metric; empty if there is none."""
    return "calibration" if name.startswith("calibration") else _TERMS.get(name, "")


def metric(value: float | None, name: str) -> str:
    """Format a value of the metric of that name."""
    if name in _UNITS:
        return number(value)
    return share(value) if name in _SHARES else loss(value)


def metric_difference(value: float | None, name: str) -> str:
    """Format a difference of two values of that metric."""
    if name in _UNITS:
        text = number(value)
        return f"+{text}" if value is not None and value > 0 else text
    return points(value) if name in _SHARES else signed(value, 3)


#: Filters of the templates.
FILTERS: dict[str, Callable[..., str]] = {
    "shortened": shortened, "number": number, "count": count, "share": share, "frequency": frequency,
    "area": area, "loss": loss, "coefficient": coefficient, "correlation": correlation, "weight": weight,
    "raw_weight": raw_weight, "similarity": similarity, "deviations": deviations, "parameter": parameter,
    "objective": objective, "seconds": seconds, "metric": metric, "headed": headed,
    "amount": amount, "p_value": p_value, "ratio": ratio, "metric_term": metric_term,
    "metric_difference": metric_difference,
}  # fmt: skip
