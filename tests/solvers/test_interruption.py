"""Ctrl-C by real signals: the first is a request, the second an interrupt; the handler is restored."""

import signal
import subprocess
import sys
import threading

import pytest
from tests.processes import INTERRUPTIBLE

from superfactor.solvers.interruption import deferred_interrupt


@pytest.fixture(autouse=True)
def default_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


def test_the_first_signal_is_a_request_and_prints_once(capsys):
    with deferred_interrupt() as interruption:
        assert not interruption.requested
        ctrl_c()
        assert interruption.requested
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith("Ctrl-C: stopping after this step with the best model so far")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_second_signal_interrupts_at_once():
    with pytest.raises(KeyboardInterrupt), deferred_interrupt():
        ctrl_c()
        ctrl_c()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_request_of_a_nested_handler_reaches_the_outer_one():
    with deferred_interrupt() as outer:
        with deferred_interrupt() as inner:
            ctrl_c()
            assert inner.requested
        assert outer.requested
        with pytest.raises(KeyboardInterrupt):
            ctrl_c()


@pytest.mark.parametrize(
    "handler",
    [signal.SIG_IGN, signal.SIG_DFL, lambda signum, frame: None],
    ids=["ignored", "the system's", "the application's"],
)
def test_other_handlers_are_not_replaced(handler):
    signal.signal(signal.SIGINT, handler)
    with deferred_interrupt() as interruption:
        assert signal.getsignal(signal.SIGINT) is handler
        if handler is not signal.SIG_DFL:  # it would end this process
            ctrl_c()
        assert not interruption.requested
    assert signal.getsignal(signal.SIGINT) is handler


def test_no_handler_in_other_threads():
    seen = []

    def work():
        with deferred_interrupt() as interruption:
            seen.append((interruption.requested, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(False, signal.default_int_handler)]


PROGRAM = """
import sys, time
from superfactor.solvers.interruption import deferred_interrupt
with deferred_interrupt() as interruption:
    print("ready", flush=True)
    end = time.monotonic() + 30
    while not interruption.requested and time.monotonic() < end:
        time.sleep(0.01)
print("kept" if interruption.requested else "not requested", flush=True)
"""


def test_a_process_that_gets_the_signal_finishes_normally():
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE + PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "kept\n")
    assert err.startswith("Ctrl-C: ")
