"""One clear line and an exit code instead of a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

from superfactor.cli.told.wording import option

# With this in the environment an internal error shows where it happened.
DEBUG = "SUPERFACTOR_DEBUG"

DONE, INTERNAL, BAD_INPUT, INTERRUPTED, UNREAD, TERMINATED = 0, 1, 2, 130, 141, 143


class UserError(Exception):
    """Something the user can put right; the message is one line that says what and how."""


@contextmanager
def as_user_error(prefix: str = "", called: Mapping[str, str] | None = None) -> Iterator[None]:
    """The library's ValueErrors are about the data and the options it is given here, `called` as there."""
    try:
        yield
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise UserError(f"{prefix}not UTF-8 text (byte 0x{byte:02x}); save it as UTF-8") from error
    except ValueError as error:
        # What is wrong with a table is said in parts, of which options are some.
        said = error.said(partial(option, called=called)) if hasattr(error, "said") else str(error)
        close = [name for name in getattr(error, "fields", {}).get("close", ()) if "," in name]
        if close:
            said = f"{said.rstrip('?')}; a name with a comma is given in quotes of its own: '\"{close[0]}\"'"
        raise UserError(prefix + said) from error


def exit_with(run: Callable[[Any], int], arguments: Any) -> NoReturn:
    """Exit with what `run(arguments)` returns, or with the code of what went wrong."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # an arrow should not end the work on an old terminal
            stream.reconfigure(errors="replace")
    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, _terminate)}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # A handler of our own, so that fits do not finish their step: half a model is of no use here.
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
        return _say(str(error), BAD_INPUT)
    except BrokenPipeError:
        # The reader of our output has gone; Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    except OSError as error:
        name = "" if error.filename is None else f"{error.filename}: "
        return _say(f"{name}{error.strerror or error}", BAD_INPUT)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except MemoryError:
        return _say(
            "not enough memory for this table; leave columns out with --drop, or use a larger machine",
            BAD_INPUT,
        )
    except Exception as error:
        return _internal(error)


def _internal(error: Exception) -> int:
    if os.environ.get(DEBUG):
        raise error
    return _say(f"internal error: {type(error).__name__}: {error} ({DEBUG}=1 shows where)", INTERNAL)


def _say(message: str, code: int) -> int:
    """Print one line, whatever line breaks names of files and columns may hold."""
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return code


def _terminate(signum: int, frame: Any) -> NoReturn:
    raise SystemExit(TERMINATED)  # unwinds: temporary files are removed


def _interrupt(signum: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt
