"""Check the user's y and convert it to the form that the solvers need.

=============== =============================================================================
file            idea
=============== =============================================================================
``checked``     ``CheckedY``: values, and which samples have one
``labels``      class labels and class weights
``flags``       several yes/no labels; each entry may be missing
``label_types`` ``LabelType``: one label of several classes, or several yes/no labels
``numbers``     real targets, one or several
``counts``      counts, their deviance, and numbers that look like counts
``times``       events, times and strata, and the concordance of risks with them
``events``      how events are coded, and which of two columns holds them
``mixed``       outcomes of several kinds: targets, loss and predictions of each
``spelling``    labels that are probably misspelled
=============== =============================================================================
"""

from superfactor.estimators.targets.checked import UNLABELLED, CheckedY, check_passed, no_label
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
    check_both_values,
    check_flags,
    flags_in_order,
    has_several_columns,
)
from superfactor.estimators.targets.label_types import LabelType, label_type_for_loss, label_type_of
from superfactor.estimators.targets.labels import check_class_weight, check_labels, classes_of
from superfactor.estimators.targets.numbers import check_real_targets
from superfactor.estimators.targets.spelling import label_warnings, two_spellings
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
    "CheckedY",
    "LabelType",
    "beyond_exposure",
    "check_both_values",
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
    "expected_counts",
    "exposure_of",
    "flags_in_order",
    "half_deviances",
    "has_several_columns",
    "is_comparable",
    "label_type_for_loss",
    "label_type_of",
    "label_warnings",
    "looks_like_counts",
    "no_label",
    "strata_of",
    "survival_y",
    "time_name",
    "two_spellings",
]
