"""y as the user brings it, as the solvers want it.

============ ================================================================================
file         idea
============ ================================================================================
``given``    ``Given``: values, and which samples have one
``labels``   classes, and what they weigh
``numbers``  real targets, one or several
``times``    events and times, and the concordance of risks with them
``spelling`` words that are probably a slip of the pen
============ ================================================================================
"""

from superfactor.estimators.targets.given import UNLABELLED, Given, check_passed, no_label
from superfactor.estimators.targets.labels import check_class_weight, check_labels, classes_of
from superfactor.estimators.targets.numbers import check_real_targets
from superfactor.estimators.targets.spelling import doubts_of_labels, two_spellings
from superfactor.estimators.targets.times import check_survival, check_tells_something, concordance

__all__ = [
    "UNLABELLED",
    "Given",
    "check_class_weight",
    "check_labels",
    "check_passed",
    "check_real_targets",
    "check_survival",
    "check_tells_something",
    "classes_of",
    "concordance",
    "doubts_of_labels",
    "no_label",
    "two_spellings",
]
