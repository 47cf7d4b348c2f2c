"""Bars for passes over X: what is drawn, when, and in how many cells."""

import io
import os

import pytest

from superfactor import SMFClassifier
from superfactor.estimators import progress as module
from superfactor.estimators.progress import PassProgress, Progress


class Screen(io.StringIO):
    """A terminal of one line: what stands there after each flush."""

    def __init__(self, terminal=True, encoding="utf-8"):
        super().__init__()
        self.terminal, self.names = terminal, encoding
        self.line, self.shown = "", []

    @property
    def encoding(self):
        return self.names

    def isatty(self):
        return self.terminal

    def fileno(self):
        return 2

    def write(self, text):
        for part in text.splitlines(keepends=True) if "\r" not in text else [text]:
            head, *rest = part.split("\r")
            self.line += head
            for piece in rest:  # a carriage return overwrites and erases nothing
                self.line = piece + self.line[len(piece) :]
        return super().write(text)

    def flush(self):
        self.shown.append(self.line)


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])
    return now


@pytest.fixture
def columns(monkeypatch):
    """How wide the terminal is."""
    width = [80]
    monkeypatch.setattr(module.os, "get_terminal_size", lambda fd: os.terminal_size((width[0], 24)))
    return width


def one_pass(bar, clock, seconds, blocks=10, total=1_000_000):
    bar(0, total)
    for k in range(1, blocks + 1):
        clock[0] += seconds / blocks
        bar(k * total // blocks, total)


def test_a_bar_says_which_pass_and_how_far(clock, columns):
    screen = Screen()
    bar = PassProgress("SMFClassifier", screen)
    one_pass(bar, clock, 10.0)
    bar(0, 1_000_000)
    clock[0] += 12.0
    bar(620_000, 1_000_000)
    assert screen.line == (
        "[SMFClassifier] pass 2  ██████░░░░░   62 %    620,000 of 1,000,000 rows  0:12"
    )


def test_the_line_is_empty_after_a_pass(clock, columns):
    screen = Screen()
    one_pass(PassProgress("SMFClassifier", screen), clock, 10.0)
    assert len(screen.shown) > 5
    assert screen.line.strip() == ""
    assert screen.getvalue().endswith("\r")
    assert "\n" not in screen.getvalue()


def test_a_pass_that_breaks_off_can_be_cleared(clock, columns):
    screen = Screen()
    bar = PassProgress("SMFClassifier", screen)
    bar(0, 100)
    clock[0] += 5
    bar(50, 100)
    assert screen.line
    bar.clear()
    assert screen.line.strip() == ""
    clock[0] += 1
    bar(10, 100)  # another pass, from its start
    clock[0] += 2
    bar(30, 100)
    assert "pass 2 " in screen.line
    assert screen.line.rstrip().endswith("0:02")


@pytest.mark.parametrize("width", [10, 24, 40, 60, 80, 200])
def test_a_bar_keeps_its_place_in_any_width(clock, columns, width):
    columns[0] = width
    screen = Screen()
    one_pass(PassProgress("SMFClassifier", screen), clock, 100.0, blocks=50)
    drawn = [line for line in screen.shown if line.strip()]
    assert {len(line) for line in drawn} == {len(drawn[0])}
    assert len(drawn[0] + "^C") < width  # a full line would wrap
    assert all(f"{2 * k} %" in line for k, line in enumerate(drawn, start=1))
    bars = [line.count("█") for line in drawn]
    assert bars == sorted(bars)
    assert (bars[-1] > 0) == (width > 20)
    assert ("rows" in drawn[0]) == (width >= 80)


def test_a_terminal_made_narrower_is_followed(clock, columns):
    screen = Screen()
    bar = PassProgress("SMFRegressor", screen)
    bar(0, 100)
    for columns[0], done in ((80, 10), (40, 20)):
        clock[0] += 1
        bar(done, 100)
    assert len(screen.getvalue().rpartition("\r")[2]) < 40  # more would wrap


def test_a_bar_is_redrawn_ten_times_a_second_at_most(clock, columns):
    screen = Screen()
    one_pass(PassProgress("SMFClassifier", screen), clock, 2.0, blocks=1000)
    assert 10 <= len(screen.shown) <= 22


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "file"])
def test_short_passes_are_not_shown(clock, columns, terminal):
    screen = Screen(terminal)
    bar = PassProgress("SMFClassifier", screen)
    for _ in range(5):
        one_pass(bar, clock, 0.25)
    assert screen.getvalue() == ""


def test_a_file_gets_one_line_a_pass(clock):
    screen = Screen(terminal=False)
    bar = PassProgress("SMFClassifier", screen)
    for seconds in (83.5, 0.1, 2.5):
        one_pass(bar, clock, seconds)
    assert screen.getvalue() == (
        "[SMFClassifier] pass 1  1,000,000 rows  1:23\n"
        "[SMFClassifier] pass 3  1,000,000 rows  0:02\n"
    )


def test_a_pass_may_begin_with_its_first_block(clock, columns):
    screen = Screen()
    bar = PassProgress("SMFClassifier", screen)
    for _ in range(2):
        for done in (25, 50, 75, 100):
            clock[0] += 1.0
            bar(done, 100)
    assert any("pass 2 " in line and "0:02" in line for line in screen.shown)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", None])
def test_terminals_without_blocks_get_plain_characters(clock, columns, encoding):
    screen = Screen(encoding=encoding)
    one_pass(PassProgress("SMFClassifier", screen), clock, 10.0)
    assert any("#." in line for line in screen.shown)
    assert screen.getvalue().isascii()


@pytest.mark.parametrize(
    ("verbose", "terminal", "watched"),
    [(0, True, False), (1, True, True), (2, True, True), (1, False, False), (2, False, True)],
)
def test_who_sees_passes(monkeypatch, verbose, terminal, watched):
    monkeypatch.setattr(module.sys, "stderr", Screen(terminal))
    progress = Progress(SMFClassifier(verbose=verbose), None, None, {})
    assert (progress.on_block is not None) == watched
    assert progress.on_block is progress.on_block  # it counts the passes
