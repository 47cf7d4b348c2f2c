"""How names and numbers are written: one function for each kind, for templates and figures alike.

A number that stands in a table and in a tooltip is written by the same function, so that it is never
rounded in two ways. Whatever comes from the data passes `label` once; the templates escape it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

# Longer names are cut in the middle: the ends of probe names tell them apart.
LONGEST_NAME = 200
# Classes are few, and are shown whole or with all of them in a tooltip.
LONGEST_CLASS = 1000
LONGEST_NOTE = 2000
# Controls, halves of surrogate pairs and marks that reverse the direction of the text around them.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
NONE = "–"


def label(value: Any, longest: int = LONGEST_NAME) -> str:
    """A name from the data as the page shows it: one line, visible characters, not too long."""
    name = _INVISIBLE.sub("\ufffd", re.sub(r"\s+", " ", str(value)))
    return shortened(name, longest) or "(no name)"


def shortened(name: str, longest: int) -> str:
    """At most `longest` letters of a name, cut in the middle."""
    if len(name) <= longest:
        return name
    half = (longest - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def plural(count: int, noun: str) -> str:
    """3 factors, 1 factor, 2 classes."""
    if count != 1:
        noun += "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}"


def compact(values: Any, digits: int = 4) -> list[float | None]:
    """Places (k,) for a figure, rounded to significant digits; None where not finite."""
    form = f"%.{digits}g"
    plain = np.asarray(values, dtype=float).tolist()
    return [float(form % v) if math.isfinite(v) else None for v in plain]


# --- numbers, by kind -----------------------------------------------------------------------------


def number(value: float | None, digits: int = 3) -> str:
    """Significant digits with a real minus sign; thousands as 1,234, extremes as 1.2e−5."""
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
    """A number with that many decimals, – where there is none."""
    if value is None or not math.isfinite(value):
        return NONE
    return f"{value:z.{places}f}".replace("-", "−")  # z makes −0.00 plain zero


def signed(value: float | None, places: int) -> str:
    """The same with a plus sign where it is positive."""
    text = fixed(value, places)
    return text if value is None or text.startswith(("−", NONE)) or not text.strip("0.") else f"+{text}"


def count(value: int) -> str:
    """1,234."""
    return f"{int(value):,}"


def amount(value: float) -> str:
    """A number in a table of the outcome; one that is infinite was not reached."""
    return "not reached" if math.isinf(value) else number(value)


def share(value: float | None) -> str:
    """A share of samples or of variance: 0.1234 is 12.3 %, – where there is none."""
    return NONE if value is None or not math.isfinite(value) else f"{fixed(100 * value, 1)} %"


def gap(value: float) -> str:
    """A share that is never rounded down to nothing."""
    return share(value) if value >= 1e-3 else f"{number(100 * value, 2)} %"


def frequency(value: float) -> str:
    """How often something returned: 0.96 is 96 %."""
    return NONE if not math.isfinite(value) else f"{100 * value:.0f} %"


def points(value: float | None) -> str:
    """A difference of two shares: 0.031 is +3.1 points."""
    return NONE if value is None or not math.isfinite(value) else f"{signed(100 * value, 1)} points"


#: Area under a ROC curve; log loss, log-likelihood and other scores that are no shares.
area = loss = partial(fixed, places=3)
#: |Cosine| of two factors; a place or a spread in standard deviations.
similarity = deviations = partial(fixed, places=2)
#: What one standard deviation of a factor, or one unit of a covariate, adds; between feature and factor.
coefficient = correlation = partial(signed, places=2)
#: Of a feature, scaled so that the largest of the factor is 1.
weight = partial(signed, places=3)
#: ξ, λ and other settings; a time.
parameter = seconds = number
#: The value of F, whose last digits matter.
objective = partial(number, digits=8)
#: p or q, never rounded to nothing.
p_value = partial(number, digits=2)


def raw_weight(value: float) -> str:
    """A weight in the units of the fit; without commas, since it is copied into other programs."""
    return f"{value:.3g}".replace("-", "−")


def probability(value: float) -> str:
    """Three decimals, and never 0 or 1 for what is neither."""
    if 0 < value < 0.0005:
        return "< 0.001"
    return "> 0.999" if 0.9995 <= value < 1 else fixed(value, 3)


def effect_per_sd(value: float) -> str:
    """What one standard deviation of one feature adds, which is little where there are many."""
    return signed(value, 2 if not math.isfinite(value) or abs(value) >= 0.1 else 4)


def ratio(value: float | None) -> str:
    """An odds ratio: two decimals, fewer where it is large."""
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
    """The words of a measure as a heading: balanced accuracy is Balanced accuracy."""
    return words[:1].upper() + words[1:]


def metric_term(name: str) -> str:
    """The word of the glossary that explains the measure; empty where there is none."""
    return "calibration" if name.startswith("calibration") else _TERMS.get(name, "")


def metric(value: float | None, name: str) -> str:
    """A value of the measure of that name."""
    if name in _UNITS:
        return number(value)
    return share(value) if name in _SHARES else loss(value)


def metric_difference(value: float | None, name: str) -> str:
    """A difference of two values of that measure."""
    if name in _UNITS:
        text = number(value)
        return f"+{text}" if value is not None and value > 0 else text
    return points(value) if name in _SHARES else signed(value, 3)


#: What templates call them.
FILTERS: dict[str, Callable[..., str]] = {
    "shortened": shortened, "number": number, "count": count, "share": share, "frequency": frequency,
    "area": area, "loss": loss, "coefficient": coefficient, "correlation": correlation, "weight": weight,
    "raw_weight": raw_weight, "similarity": similarity, "deviations": deviations, "parameter": parameter,
    "objective": objective, "seconds": seconds, "metric": metric, "headed": headed,
    "amount": amount, "p_value": p_value, "ratio": ratio, "metric_term": metric_term,
    "metric_difference": metric_difference,
}  # fmt: skip
