"""Handling of Ctrl-C: a fit finishes its step and keeps the best model so far."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_MESSAGE = "Ctrl-C: stopping after this step with the best model so far (again: at once)"


class Interruption:
    """A handler of SIGINT: the first signal sets `requested`, the second raises KeyboardInterrupt.

    A nested handler passes its request on: stopping a fit also stops the search it belongs to.
    """

    def __init__(self, outer: Interruption | None = None):
        self.requested: bool = outer is not None and outer.requested
        self._outer = outer

    def request(self) -> None:
        """Request an end after the current step."""
        self.requested = True
        if self._outer is not None:
            self._outer.request()

    def __call__(self, signum: int, frame: Any) -> None:
        """Handle the signal."""
        if self.requested:
            raise KeyboardInterrupt
        self.request()
        stream = sys.stderr
        with suppress(RuntimeError):  # the signal came during another write to this stream
            print("\n" * stream.isatty() + _MESSAGE, file=stream, flush=True)


@contextmanager
def deferred_interrupt() -> Iterator[Interruption]:
    """Within it, the first Ctrl-C is a request instead of an exception; the old handler is restored.

    Only Python's own handler is replaced, and only in the main thread, the only place where that is possible.
    A program that ignores SIGINT or has its own handler (a server, asyncio) keeps it.
    """
    previous = signal.getsignal(signal.SIGINT)
    ours = previous is signal.default_int_handler or isinstance(previous, Interruption)
    if not ours or threading.current_thread() is not threading.main_thread():
        yield Interruption()
        return
    interruption = Interruption(previous if isinstance(previous, Interruption) else None)
    signal.signal(signal.SIGINT, interruption)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, previous)
