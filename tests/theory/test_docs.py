"""The page about the theory shows what its code prints."""

import doctest
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "theory.md"


@pytest.fixture
def problem(monkeypatch):
    """`superfactor.problem.state`; before there is such a module, the function that does the same."""
    if find_spec("superfactor.problem") is None:
        from superfactor.lifting import state_problem

        module = ModuleType("superfactor.problem")
        module.state = state_problem
        monkeypatch.setitem(sys.modules, module.__name__, module)


def test_outputs_on_the_page_are_real(problem):
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0


def test_every_public_name_is_on_the_page():
    from superfactor import theory

    text = PAGE.read_text()
    assert [name for name in theory.__all__ if f"`{name}" not in text] == []
