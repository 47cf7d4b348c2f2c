"""Which procedure it was: a class and its parameters as plain values, to be compared and written down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from superfactor.estimators.parameters import shown

# How something is computed, and not what. Folds and seeds too: nested cross-validation draws its own.
_HOW = frozenset(
    [
        *("n_jobs", "verbose", "verbose_feature_names_out", "memory", "pre_dispatch"),
        *("error_score", "return_train_score", "refit", "certify", "cv", "random_state"),
    ]
)


def procedure_of(estimator: Any) -> dict[str, Any]:
    """Class and parameters of an estimator, fitted or not, as plain values.

    Two estimators with equal values learn the same from the same samples. Parameters that say how this is
    computed (``n_jobs``, ``verbose``, ``certify``, …) are left out, and so are ``cv`` and ``random_state``.

    Returns
    -------
    procedure : dict
        ``class``, its name; ``parameters``, a dict of numbers, text, None, lists and dicts, with another
        such dict where an estimator is a parameter.
    """
    found = estimator.get_params(deep=False)
    return {
        "class": type(estimator).__name__,
        "parameters": {name: _plain(value) for name, value in found.items() if name not in _HOW},
    }


def difference(evaluated: Mapping[str, Any], required: Mapping[str, Any]) -> str:
    """What sets two procedures apart, in a few words, the first one first; "" where nothing does."""
    if evaluated["class"] != required["class"]:
        return f"{evaluated['class']} and not {required['class']}"
    ours, theirs = evaluated["parameters"], required["parameters"]
    names = [name for name in ours | theirs if ours.get(name) != theirs.get(name)]
    if not names:
        return ""
    said = [f"{name}={_short(ours.get(name))} and not {_short(theirs.get(name))}" for name in names]
    return f"{evaluated['class']} with {', '.join(said)}"


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value != value:
        return "nan"  # equal to itself
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "__qualname__"):  # a function or a class
        return f"{value.__module__}.{value.__qualname__}"
    if hasattr(value, "get_params"):
        return procedure_of(value)
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(own) for key, own in value.items()}
    if isinstance(value, list | tuple | range):
        return [_plain(own) for own in value]
    own = getattr(value, "__dict__", None)
    if own is None:
        return str(value)
    return {"class": type(value).__name__, "parameters": _plain(own)}


def _short(value: Any) -> str:
    """A parameter in a message: of an estimator its class."""
    if isinstance(value, Mapping) and "class" in value:
        return f"{value['class']}(…)"
    return str(shown(value))
