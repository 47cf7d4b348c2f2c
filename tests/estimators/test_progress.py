"""Progress bars of passes over X."""

import io
import re
import sys

import pytest

from superfactor import SMFClassifier
from superfactor.estimators import progress as module
from superfactor.estimators.progress import PassProgress, Progress


class Screen(io.StringIO):
    """A terminal that records all output."""

    def __init__(self, terminal=True, encoding="utf-8"):
        super().__init__()
        self.terminal, self.names = terminal, encoding

    @property
    def encoding(self):
        return self.names

    def isatty(self):
        return self.terminal

    @property
    def drawn(self):
        """Return the lines in order, without control sequences."""
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.getvalue())
        return [line.strip() for line in re.split(r"[\r\n]+", text) if line.strip()]


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])
    return now


@pytest.fixture
def terminal(monkeypatch):
    """A terminal on which bars are drawn on request; an environment variable sets its width."""
    pytest.importorskip("rich")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setenv("COLUMNS", "80")
    return monkeypatch


def one_pass(bar, clock, seconds, blocks=10, total=1_000_000):
    bar(0, total)
    for k in range(1, blocks + 1):
        clock[0] += seconds / blocks
        bar(k * total // blocks, total)


def half_a_pass(bar, clock, total=1_000_000):
    bar(0, total)
    clock[0] += 5.0
    bar(total // 2, total)
    bar._bar.refresh()  # now, and not a tenth of a second later


def test_a_bar_shows_pass_and_progress(clock, terminal):
    screen = Screen()
    bar = PassProgress("SMFClassifier", screen)
    one_pass(bar, clock, 10.0)
    half_a_pass(bar, clock)
    bar.clear()
    last = screen.drawn[-1]
    assert re.match(r"\[SMFClassifier\] pass 2 ━+\S* +50% +500,000 of 1,000,000 rows 0:00:0\d", last)


def test_bars_are_removed_after_a_pass(clock, terminal):
    screen = Screen()
    bar = PassProgress("SMFClassifier", screen)
    half_a_pass(bar, clock)
    assert bar._bar is not None
    bar.clear()
    assert bar._bar is None
    assert screen.getvalue().endswith("\x1b[1A\x1b[2K")  # up to the line of the bar, and erased
    assert sys.stdout is not None and "rich" not in type(sys.stdout).__module__
    clock[0] += 1
    bar(10, 100)  # another pass, from its start
    clock[0] += 2
    bar(30, 100)
    bar.clear()
    assert "pass 2 " in screen.drawn[-1]


@pytest.mark.parametrize("width", [30, 60, 80])
def test_a_bar_takes_one_line_of_any_width(clock, terminal, width):
    terminal.setenv("COLUMNS", str(width))
    screen = Screen()
    bar = PassProgress("SMFClassifier", screen)
    half_a_pass(bar, clock)
    bar.clear()
    (line,) = set(screen.drawn[-1:])
    assert len(line) <= width
    assert "pass 1 " in line and " 50% " in line and "━" in line and "…" not in line
    assert ("SMFClassifier" in line) == (width >= 60)
    assert ("rows" in line) == (width >= 80)


@pytest.mark.parametrize("watched", [True, False], ids=["terminal", "file"])
def test_short_passes_are_not_shown(clock, terminal, watched):
    screen = Screen(watched)
    bar = PassProgress("SMFClassifier", screen)
    for _ in range(5):
        one_pass(bar, clock, 0.25)
    assert screen.getvalue() == ""


@pytest.mark.parametrize("watched", [True, False], ids=["terminal without rich", "file"])
def test_one_line_per_pass_without_a_terminal(clock, monkeypatch, watched):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    screen = Screen(watched)
    bar = PassProgress("SMFClassifier", screen)
    for seconds in (83.5, 0.1, 2.5):
        one_pass(bar, clock, seconds)
    assert screen.getvalue() == (
        "[SMFClassifier] pass 1  1,000,000 rows  1:23\n[SMFClassifier] pass 3  1,000,000 rows  0:02\n"
    )


def test_bars_with_plain_characters(clock, terminal):
    screen = Screen(encoding="ascii")
    bar = PassProgress("SMFClassifier", screen)
    half_a_pass(bar, clock)
    bar.clear()
    assert screen.getvalue().isascii()


@pytest.mark.parametrize(
    ("verbose", "terminal", "watched"),
    [(0, True, False), (1, True, True), (2, True, True), (1, False, False), (2, False, True)],
)
def test_when_passes_are_shown(monkeypatch, verbose, terminal, watched):
    monkeypatch.setattr(module.sys, "stderr", Screen(terminal))
    progress = Progress(SMFClassifier(verbose=verbose), None, None, {})
    assert (progress.on_block is not None) == watched
    assert progress.on_block is progress.on_block  # it counts the passes
