"""Parameters of the library in the words of the command line: options."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

# Those that are not called by their own name.
_CALLED = {"files": "TABLE", "blocks": "--block"}


def option(setting: Any, called: Mapping[str, str] | None = None) -> str:
    """A `superfactor.tables.notes.Setting` as it is typed: ``--drop 'chip no'``, ``--block rna=a.csv``.

    `called` has the options of those that can be typed in another way, where they were.
    """
    name = (_CALLED | dict(called or {})).get(setting.name, f"--{setting.name.replace('_', '-')}")
    if setting.value is None or setting.value is True:
        return name
    if isinstance(setting.value, dict):
        return " ".join(f"{name} {key}={value}" for key, value in setting.value.items())
    return f"{name} {shlex.quote(str(setting.value))}"
