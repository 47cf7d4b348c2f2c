"""One-line error messages and exit codes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

from superfactor.cli.output.option_names import option

# If this environment variable is set, internal errors print a traceback.
DEBUG = "SUPERFACTOR_DEBUG"

DONE, INTERNAL, BAD_INPUT, INTERRUPTED, BROKEN_PIPE, TERMINATED = 0, 1, 2, 130, 141, 143


class UserError(Exception):
    """An error that the user can fix; the message is one line that says what is wrong and how to fix it."""


@contextmanager
def as_user_error(prefix: str = "", called: Mapping[str, str] | None = None) -> Iterator[None]:
    """Turn ValueErrors of the library into UserErrors.

    `called` maps parameters of the library to the options that the user typed.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise UserError(f"{prefix}not UTF-8 text (byte 0x{byte:02x}); save it as UTF-8") from error
    except ValueError as error:
        # Messages about tables contain parameters, which are written as options here.
        message = error.said(partial(option, called=called)) if hasattr(error, "said") else str(error)
        close = [name for name in getattr(error, "fields", {}).get("close", ()) if "," in name]
        if close:
            message = f"{message.rstrip('?')}; put a name with a comma in double quotes: '\"{close[0]}\"'"
        raise UserError(prefix + message) from error


def exit_with(run: Callable[[Any], int], arguments: Any) -> NoReturn:
    """Exit with the code that `run(arguments)` returns, or with the code of its error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # terminals without Unicode must not raise an error
            stream.reconfigure(errors="replace")
    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, _terminate)}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # With this handler fits stop at once; by default they finish their step and return a partial model.
        before[signal.SIGINT] = signal.signal(signal.SIGINT, _interrupt)
    try:
        code = _code(run, arguments)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    raise SystemExit(code)


def _code(run: Callable[[Any], int], arguments: Any) -> int:
    try:
        code = run(arguments)
        sys.stdout.flush()
        return code
    except UserError as error:
        return _print_error(str(error), BAD_INPUT)
    except BrokenPipeError:
        # The pipe is closed: avoid a second error when Python flushes standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        name = "" if error.filename is None else f"{error.filename}: "
        return _print_error(f"{name}{error.strerror or error}", BAD_INPUT)
    except KeyboardInterrupt:
        return _print_error("interrupted", INTERRUPTED)
    except MemoryError:
        return _print_error(
            "not enough memory for this table; drop columns with --drop, or use a machine with more memory",
            BAD_INPUT,
        )
    except Exception as error:
        return _internal(error)


def _internal(error: Exception) -> int:
    if os.environ.get(DEBUG):
        raise error
    return _print_error(
        f"internal error: {type(error).__name__}: {error} ({DEBUG}=1 prints a traceback)", INTERNAL
    )


def _print_error(message: str, code: int) -> int:
    """Print the message on one line; names of files and columns may contain line breaks."""
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return code


def _terminate(signum: int, frame: Any) -> NoReturn:
    raise SystemExit(TERMINATED)  # context managers remove temporary files


def _interrupt(signum: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt
