"""Every public name documents its parameters and results, and has an example that runs."""

import doctest
import importlib
import inspect

import pytest
from tests.public import INSIDE, ROOMS, names, rooms_of_the_package

# Of numpydoc's checks: a summary, every parameter in order and under its own name, returns, yields, and
# an example; sections that it knows, in its order. Not: a description for each X and y, cross references.
CHECKS = {
    *("GL01", "GL03", "GL05", "GL06", "GL07", "GL08", "GL09", "GL10"),
    *("SS01", "SS02", "SS03", "SS04", "SS06"),
    *("PR01", "PR02", "PR03", "PR05", "PR10", "RT01", "RT04", "YD01", "EX01"),
}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _objects(room):
    """Names and objects; type aliases have no docstring."""
    module = importlib.import_module(room)
    for name in names(room):
        value = getattr(module, name)
        if inspect.isclass(value) or callable(value):
            yield name, value


def _needs(room):
    for library in ROOMS[room]:
        pytest.importorskip(library)


def test_every_package_is_public_or_internal():
    public = {room.split(".")[1] for room in ROOMS if "." in room}
    assert public | INSIDE == rooms_of_the_package()
    assert not public & INSIDE


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_are_complete(room):
    _needs(room)
    numpydoc = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed")
    wrong = []
    for name, value in _objects(room):
        for code, text in numpydoc.validate(f"{room}.{name}")["errors"]:
            if code in CHECKS and not (code == "PR01" and _takes_nothing_else(value)):
                wrong.append(f"{name}: {code} {text}")
    assert wrong == []


def _takes_nothing_else(value):
    """Whether it is a protocol, or a record whose docstring lists its fields as attributes."""
    from numpydoc.docscrape import NumpyDocString

    if getattr(value, "_is_protocol", False):
        return True
    fields = getattr(value, "__dataclass_fields__", getattr(value, "_fields", None))
    said = NumpyDocString(inspect.getdoc(value))["Attributes"]
    return fields is not None and set(fields) <= {name for entry in said for name in entry.name.split(", ")}


@pytest.mark.parametrize("room", ROOMS)
def test_examples_run(room):
    _needs(room)
    if "matplotlib" in ROOMS[room]:
        importlib.import_module("matplotlib").use("Agg")
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    root = importlib.import_module("superfactor")
    for name, value in _objects(room):
        if room != "superfactor" and value is getattr(root, name, None):
            continue  # its examples run there
        parsed = doctest.DocTestParser().get_doctest(
            inspect.getdoc(value) or "", {name: value}, f"{room}.{name}", None, None
        )
        assert parsed.examples, f"{room}.{name} has no example"
        told = []
        runner.run(parsed, out=told.append)
        assert told == [], "".join(told)
    if "matplotlib" in ROOMS[room]:
        importlib.import_module("matplotlib.pyplot").close("all")
