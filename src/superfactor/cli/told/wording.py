"""Parameters of the library in the words of the command line: options."""

from __future__ import annotations

import shlex
from typing import Any

# Those that are not called by their own name.
_CALLED = {"files": "TABLE", "blocks": "--block"}


def option(setting: Any) -> str:
    """A `superfactor.tables.notes.Setting` as it is typed: ``--drop 'chip no'``, ``--block rna=a.csv``."""
    name = _CALLED.get(setting.name, f"--{setting.name.replace('_', '-')}")
    if setting.value is None or setting.value is True:
        return name
    if isinstance(setting.value, dict):
        return " ".join(f"{name} {key}={value}" for key, value in setting.value.items())
    return f"{name} {shlex.quote(str(setting.value))}"
