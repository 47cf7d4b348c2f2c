"""y as the user brings it, as the solvers want it.

============ ================================================================================
file         idea
============ ================================================================================
``given``    ``Given``: values, and which samples have one
``labels``   classes, and what they weigh
``flags``    several yes/no labels, with gaps by entry
``answers``  what a classifier makes of either
``numbers``  real targets, one or several
``counts``   counts, their deviance, and numbers that look like counts
``times``    events, times and strata, and the concordance of risks with them
``events``   how events are written, and which of two columns they are
``mixed``    outcomes of several kinds: what each makes of y and of activations
``spelling`` words that are probably a slip of the pen
============ ================================================================================
"""

from superfactor.estimators.targets.answers import Answers, answers_to, answers_with
from superfactor.estimators.targets.counts import (
    beyond_exposure,
    check_counts,
    check_some_counted,
    deviance_explained,
    expected_counts,
    exposure_of,
    half_deviances,
    looks_like_counts,
)
from superfactor.estimators.targets.events import survival_y
from superfactor.estimators.targets.flags import (
    check_both_answers,
    check_flags,
    flags_in_order,
    has_several_columns,
)
from superfactor.estimators.targets.given import UNLABELLED, Given, check_passed, no_label
from superfactor.estimators.targets.labels import check_class_weight, check_labels, classes_of
from superfactor.estimators.targets.numbers import check_real_targets
from superfactor.estimators.targets.spelling import doubts_of_labels, two_spellings
from superfactor.estimators.targets.times import (
    check_survival,
    check_tells_something,
    concordance,
    is_comparable,
    strata_of,
    time_name,
)

__all__ = [
    "UNLABELLED",
    "Answers",
    "Given",
    "answers_to",
    "answers_with",
    "beyond_exposure",
    "check_both_answers",
    "check_class_weight",
    "check_counts",
    "check_flags",
    "check_labels",
    "check_passed",
    "check_real_targets",
    "check_some_counted",
    "check_survival",
    "check_tells_something",
    "classes_of",
    "concordance",
    "deviance_explained",
    "doubts_of_labels",
    "expected_counts",
    "exposure_of",
    "flags_in_order",
    "half_deviances",
    "has_several_columns",
    "is_comparable",
    "looks_like_counts",
    "no_label",
    "strata_of",
    "survival_y",
    "time_name",
    "two_spellings",
]
