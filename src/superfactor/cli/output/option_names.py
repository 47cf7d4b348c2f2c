"""Parameters of the library as options of the command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

#: Advice of a verdict by its key, as options of the command line.
ADVICE = {
    "balance": "Equal weights of the classes, --balance, if you decide so before you look at scores.",
    "rank": "Other features, or other numbers of factors such as --rank 2,4,8, only if you decided on them "
    "before this result, or evaluate them on new samples (superfactor evaluate): the best of several "
    "attempts on the same samples looks better than it is.",
    "folds": "More folds, since so few leave a wide interval: --cv 5 --repeats 5. Report that result, "
    "whatever it is.",
    "groups": "Check for mixed-up labels, or for groups of related samples: --group.",
}
# Parameters whose option has another name.
_CALLED = {"files": "TABLE", "blocks": "--block"}

# Options that take several columns, separated by commas.
_LISTS = ("target", "covariates", "adjust", "drop")


def option(setting: Any, called: Mapping[str, str] | None = None) -> str:
    """Return a `superfactor.tables.notes.Setting` as typed: ``--drop 'chip no'``, ``--block rna=a.csv``.

    `called` maps parameters to the options that the user typed instead.
    """
    name = (_CALLED | dict(called or {})).get(setting.name, f"--{setting.name.replace('_', '-')}")
    if setting.value is None or setting.value is True:
        return name
    if isinstance(setting.value, dict):
        return " ".join(f"{name} {key}={value}" for key, value in setting.value.items())
    if isinstance(setting.value, list):
        return f"{name} {shlex.quote(','.join(map(str, setting.value)))}"
    value = str(setting.value)
    if setting.name in _LISTS and "," in value:  # otherwise it would be two names
        value = f'"{value}"'
    return f"{name} {shlex.quote(value)}"
