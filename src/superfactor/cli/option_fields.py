"""Dataclass fields that define command-line options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, field, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer

AS_FITTED = "as the model was fitted"


def option(
    *flags: str,
    help: str,
    metavar: str | None = None,
    default: Any = None,
    shown: Any = True,
    remembered: bool = False,
    **more: Any,
) -> Any:
    """Return a dataclass field that defines an option.

    Parameters
    ----------
    flags : the option strings; by default made from the name of the field
    default : its default value; ``...`` for a required option
    shown : the default as shown in the help, True for the value itself, False for nothing
    remembered : whether commands on a saved model take the default from that model
    more : further parameters of `typer.Option`
    """
    given = typer.Option(*flags, help=help, metavar=metavar, show_default=shown, **more)
    of_model = copy(given)
    of_model.show_default = AS_FITTED if remembered else shown
    metadata = {"option": given, "of_model": of_model}
    return field(default=MISSING if default is ... else default, metadata=metadata, kw_only=True)


def argument(help: str, metavar: str, default: Any = ...) -> Any:
    """Return a dataclass field that defines a positional argument."""
    given = typer.Argument(help=help, metavar=metavar, show_default=False)
    metadata = {"option": given, "of_model": given}
    return field(default=MISSING if default is ... else default, metadata=metadata, kw_only=True)


def expanded(command: Callable[..., None], *, of_model: bool = False) -> Callable[..., None]:
    """Return a function of single options that calls `command` with dataclasses.

    Parameters
    ----------
    command : function whose dataclass parameters are expanded to their fields
    of_model : whether the command takes a saved model
    """
    key = "of_model" if of_model else "option"
    hints = get_type_hints(command, include_extras=True)
    annotated = [(name, hints[name]) for name in inspect.signature(command).parameters]
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        hint = hints[name]
        if not is_dataclass(hint):
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(annotation=hint, kind=kind))
            continue
        types = get_type_hints(hint)
        parameters += [
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if each.default is MISSING else each.default,
                annotation=Annotated[types[each.name], each.metadata[key]],
            )
            for each in fields(hint)
        ]

    def filled(name: str, hint: Any, given: dict[str, Any]) -> Any:
        if not is_dataclass(hint):
            return given[name]
        make: Any = hint
        return make(**{each.name: given[each.name] for each in fields(hint)})

    def call(**given: Any) -> None:
        command(**{name: filled(name, hint, given) for name, hint in annotated})

    call.__name__, call.__doc__ = command.__name__, command.__doc__
    # typer reads these attributes.
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call
