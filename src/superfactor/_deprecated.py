"""Names of the previous release: they work for one more release and warn with the new name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

__all__ = ["renamed_attributes", "renamed_parameters", "warn_deprecated"]

REMOVED_IN = "1.2"

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)


def warn_deprecated(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Raise a FutureWarning that names the replacement, at the line that uses the old name.

    Parameters
    ----------
    old, new : what the caller wrote, and what replaces it
    stacklevel : number of frames from here to that line
    """
    message = f"{old} is deprecated and will be removed in superfactor {REMOVED_IN}; use {new}"
    warnings.warn(message, FutureWarning, stacklevel=stacklevel)


def renamed_parameters(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Accept old names of keyword parameters: ``@renamed_parameters(old="new")``."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            for old, new in names.items():
                if old in kwargs:
                    if new in kwargs:
                        raise TypeError(f"{old}, {new}: the same parameter; only {new} is allowed")
                    warn_deprecated(f"parameter {old}", new)
                    kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return wrapper

    return decorate


def renamed_attributes(**names: str | tuple[str, Callable[[Any], Any]]) -> Callable[[C], C]:
    """Accept old names of attributes and of the parameters that set them: ``@renamed_attributes(old="new")``.

    An old attribute without a new one is a pair: what replaces it, and the function that computes it.
    """
    fields = {old: new for old, new in names.items() if isinstance(new, str)}

    def decorate(cls: C) -> C:
        def __getattr__(self: Any, name: str) -> Any:
            if name not in names:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            replaced = names[name]
            new, compute = (replaced, None) if isinstance(replaced, str) else replaced
            warn_deprecated(f"{type(self).__name__}.{name}", new)
            return getattr(self, new) if compute is None else compute(self)

        # setattr, so that type checkers report the old names.
        setattr(cls, "__getattr__", __getattr__)  # noqa: B010
        if fields:
            setattr(cls, "__init__", renamed_parameters(**fields)(vars(cls)["__init__"]))  # noqa: B010
        return cls

    return decorate
