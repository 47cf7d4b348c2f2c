"""Checks of a model file before anything in it is built: sizes, nesting, kinds of content, names of classes.

A model file is a zip archive: ``schema.json`` describes a tree of nodes, each with its class and the way to
build it, and arrays are ``.npy`` files next to it. skops builds the nodes recursively and trusts all sizes.
"""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from math import prod
from numbers import Number
from pathlib import Path
from types import NoneType
from typing import Any, BinaryIO

import numpy as np

SCHEMA = "schema.json"
# Bytes that a file may declare, whatever its own size; above them, at most this multiple of its size.
LARGEST, RATIO = 10**9, 100
# The same for the memory that the parsed schema takes. Files of `save` are not compressed, and take 5 times
# their size at most.
LARGEST_SCHEMA, SCHEMA_RATIO = 256 * 10**6, 10
# Most bytes that a value of JSON takes apart from its text.
_PER_VALUE = 64
# Bytes of the list of the parts of an archive, which are read at once: some 100,000 parts.
LARGEST_LIST = 8 * 10**6
# Levels of JSON. Models have 25, and skops needs some three calls of functions for a level.
DEPTH = 100

# What skops can build without calling a function or a constructor that the file names. The rest is refused:
# methods, partials and operators, sparse matrices (archives in the archive), bytes, cached nodes.
KINDS = frozenset(
    {
        *("DictNode", "ListNode", "TupleNode", "SetNode", "SliceNode", "JsonNode"),
        *("NdArrayNode", "MaskedArrayNode", "DTypeNode", "RandomStateNode", "RandomGeneratorNode"),
        *("ObjectNode", "TypeNode", "FunctionNode", "LossNode"),
    }
)
# The first protocol of skops that describes functions by their class alone.
_PROTOCOL = 2
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
# Positions above these would be read outside of the state of a generator.
_LAST_POSITION = 624
_GENERATORS = ("PCG64", "PCG64DXSM")
# Levels of dicts in the record of an AnnData: there are four.
_RECORD_DEPTH = 10
_PLAIN = (str, Number, np.generic, NoneType)
# What differs between two nodes of one object.
_VARYING = ("__id__", "file")
# Attributes that name a file or folder which a later fit would read or write: not restored.
PATHS = ("memory", "checkpoint")
# Types of keys besides those of NumPy, and those of NumPy that allocate what a text says.
_KEYS = frozenset(f"builtins.{name}" for name in ("str", "int", "float", "bool"))
_NO_SCALARS = ("numpy.void", "numpy.object_")
# Not on the list of skops, which cannot see that the other nodes of these classes are not built.
_KNOWN = frozenset(
    {
        ("DTypeNode", "numpy.dtype"),
        ("JsonNode", "builtins.str"),
        ("RandomGeneratorNode", "numpy.random._generator.Generator"),
    }
)


class Refused(ValueError):
    """Why a file is not loaded, in one line."""


class TooLarge(Refused):
    """The file may be honest, but is larger than files usually are."""


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading; a pipe or device is refused, and not waited for."""

    def at_once(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    with open(path, "rb", opener=at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Refused("it is a pipe or a device, not a file")
        yield file


def read_schema(file: BinaryIO, max_bytes: int | None = None) -> dict[str, Any]:
    """Return the description of the content, after a check of all sizes that the archive declares."""
    size = os.fstat(file.fileno()).st_size
    with zipfile.ZipFile(_ShortReads(file)) as archive:
        parts = archive.infolist()
    _check_parts(parts, max(LARGEST, RATIO * size) if max_bytes is None else max_bytes)
    with zipfile.ZipFile(file) as archive:
        text = _content(archive, archive.getinfo(SCHEMA))
    values = sum(map(text.count, (b"{", b"[", b",", b":")))
    allowed = max(LARGEST_SCHEMA, SCHEMA_RATIO * size, max_bytes or 0)
    if len(text) + _PER_VALUE * values > allowed:
        raise TooLarge(f"its {SCHEMA} has too many parts for a file of this size")
    try:
        schema = json.loads(text)
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(schema, dict) or not _is_number(schema.get("protocol"), _PROTOCOL):
        raise Refused(f"its {SCHEMA} has another format")
    return schema


class Nodes:
    """What the nodes of a description name, after a check of each.

    Attributes
    ----------
    arrays : number of the node, and whether it is a scalar, by name of the ``.npy`` part
    classes, foreign : names of our classes, and names that are not to be built
    others : kind and name of the classes on which skops decides
    changed : whether the description is not that of the file any more
    """

    def __init__(self, schema: dict[str, Any], ours: Collection[str], moved: Mapping[str, str]):
        self._ours, self._moved = ours, moved
        self.arrays: dict[str, tuple[int, bool]] = {}
        self.classes: set[str] = set()
        self.foreign: set[str] = set()
        self.others: set[tuple[str, str]] = set()
        self._paths: list[dict[str, Any]] = []
        self._above: set[int] = set()
        self._digests: dict[int, bytes] = {}
        self.changed = False
        self._walk(schema, 1)
        for number, node in enumerate(self._paths, start=max(self._digests, default=0) + 1):
            node.clear()
            node.update(_nothing(number))

    def _walk(self, value: Any, depth: int) -> Any:
        """Check a value and all that it contains; return a digest of dicts and lists, other values as such.

        Nodes may have one number, and skops builds the first of them only. They must have the same content:
        otherwise the one that is checked is not the one that is built, few of them can stand for very many,
        and a node can contain itself.
        """
        if not isinstance(value, dict | list):
            return value
        if depth > DEPTH:
            raise _too_deep()
        number = None
        if isinstance(value, dict):
            if "__loader__" in value:
                number = self._check(value)
                if number in self._above:
                    raise Refused("a part of it contains itself")
                self._above.add(number)
            elif "__id__" in value:
                raise Refused("a part of it refers to another part")
            inside: Any = [(k, self._walk(v, depth + 1)) for k, v in value.items() if k not in _VARYING]
        else:
            inside = [self._walk(v, depth + 1) for v in value]
        digest = blake2b(repr(inside).encode(errors="surrogatepass"), digest_size=16).digest()
        if number is not None:
            self._above.remove(number)
            if self._digests.setdefault(number, digest) != digest:
                raise Refused("two different parts of it have one number")
        return digest

    def _check(self, node: dict[str, Any]) -> int:
        kind, number = node["__loader__"], node.get("__id__")
        module, name = node.get("__module__"), node.get("__class__")
        if not _is_number(number, 1) or not all(isinstance(text, str) for text in (kind, module, name)):
            raise Refused("a part of it has no class")
        full = f"{module}.{name}"
        if full in self._moved:
            full = self._moved[full]
            node["__module__"], _, node["__class__"] = full.rpartition(".")
            self.changed = True
        if kind not in KINDS:
            method = _within(node, "content", "func")
            self.foreign.add(f"{full}.{method}" if isinstance(method, str) else full)
        elif full.startswith("superfactor."):
            known = kind == "ObjectNode" and full in self._ours
            (self.classes if known else self.foreign).add(full)
        elif (kind, full) not in _KNOWN:
            self.others.add((kind, full))
        special = _SPECIAL.get(kind)
        if special is not None:
            special(self, node, full)
        return int(number)  # type: ignore[arg-type]

    def _object(self, node: dict[str, Any], full: str) -> None:
        state = node.get("content")
        content = state.get("content") if isinstance(state, dict) else None
        if not isinstance(content, dict):
            return
        for name in PATHS:
            if name in content and _within(content, name, "__loader__") != "JsonNode":
                raise Refused(f"its {name} is no text")
            if name in content and _scalar(content[name]) is not None:
                self._paths.append(content[name])
                self.changed = True
        if "input" in content and full.startswith("sklearn.") and _scalar(content["input"]) != "content":
            raise Refused(f"its {full.rpartition('.')[2]} would open files that its input names")

    def _dict(self, node: dict[str, Any], full: str) -> None:
        """Check the types of the keys, which skops calls with the text of each key."""
        types = _within(node, "key_types", "content")
        for kind in types if isinstance(types, list) else [None]:
            module, name = _within(kind, "__module__"), _within(kind, "__class__")
            named = f"{module}.{name}"
            known = named in _KEYS or (module == "numpy" and named not in _NO_SCALARS)
            if _within(kind, "__loader__") != "TypeNode" or not known:
                raise Refused("it contains a dict with keys that are no text or numbers")

    def _json(self, node: dict[str, Any], full: str) -> None:
        _scalar(node)

    def _array(self, node: dict[str, Any], full: str) -> None:
        if node.get("type") == "json":
            _check_elements(node.get("content"))
            return
        name = node.get("file")
        if not isinstance(name, str) or full in _NO_SCALARS:
            raise Refused("one of its arrays has no numbers")
        place = node["__id__"], full != "numpy.ndarray"
        if self.arrays.setdefault(name, place) != place:
            raise Refused(f"two arrays share the part {name}")

    def _random_state(self, node: dict[str, Any], full: str) -> None:
        position = _within(node, "content", "content", "state", "content", "pos")
        value = _scalar(position)
        if not _is_number(value, 0) or value > _LAST_POSITION:
            raise Refused("it contains a random state at an impossible position")

    def _generator(self, node: dict[str, Any], full: str) -> None:
        name = _scalar(_within(node, "content", "bit_generator", "content", "bit_generator"))
        if name not in _GENERATORS:
            self.foreign.add(f"numpy.random.{name}")


_SPECIAL = {
    "ObjectNode": Nodes._object,
    "DictNode": Nodes._dict,
    "JsonNode": Nodes._json,
    "NdArrayNode": Nodes._array,
    "RandomStateNode": Nodes._random_state,
    "RandomGeneratorNode": Nodes._generator,
}


def hollow(names: Collection[tuple[str, str]], protocol: int) -> bytes:
    """Return a file with an empty node of every kind and class: enough to ask skops which it trusts."""
    nothing = _nothing(1)
    states: dict[str, dict[str, Any]] = {
        **{kind: {"content": []} for kind in ("ListNode", "TupleNode", "SetNode")},
        "DictNode": {"content": {}, "key_types": _node("ListNode", "builtins.list", 2, content=[])},
        "SliceNode": {"content": {"start": None, "stop": None, "step": None}},
        "NdArrayNode": {"type": "json", "content": [], "shape": nothing},
        "MaskedArrayNode": {"content": {"data": nothing, "mask": nothing}},
        "LossNode": {"content": nothing, "__reduce__": {"args": nothing}},
    }
    nodes = [
        _node(kind, full, number, **states.get(kind, {"content": nothing}))
        for number, (kind, full) in enumerate(sorted(names), start=3)
    ]
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        top = _node("ListNode", "builtins.list", len(nodes) + 3, content=nodes)
        archive.writestr(SCHEMA, json.dumps(top | {"protocol": protocol}))
    return content.getvalue()


def check_arrays(file: BinaryIO, arrays: Mapping[str, tuple[int, bool]]) -> None:
    """Check that every array has the size that its header declares, before it is allocated."""
    with zipfile.ZipFile(file) as archive:
        for name, (_, scalar) in arrays.items():
            try:
                part = archive.getinfo(name)
            except KeyError:
                raise Refused(f"its part {name} is missing") from None
            with archive.open(part) as content:
                _check_array(name, content, part.file_size, scalar)
                # The declared size of compressed content may be a lie, which only reading shows.
                if part.compress_type != zipfile.ZIP_STORED:
                    _read_through(content, part)


def rewritten(file: BinaryIO, schema: dict[str, Any], arrays: Collection[str]) -> BinaryIO:
    """Return a copy of an archive in memory with another description."""
    copy = io.BytesIO()
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(copy, "w") as new:
        new.writestr(SCHEMA, json.dumps(schema))
        for name in arrays:
            new.writestr(name, archive.read(name))
    copy.seek(0)
    return copy


def check_plain(value: Any, depth: int = 0) -> None:
    """Refuse a dict of anything but text, numbers, None, arrays of them, and such dicts.

    For records in the ``uns`` of an AnnData, whose file another program has read.
    """
    if depth > _RECORD_DEPTH:
        raise _too_deep()
    if isinstance(value, Mapping):
        for inside in value.values():
            check_plain(inside, depth + 1)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind == "O" and not all(isinstance(x, _PLAIN) for x in value.ravel().tolist()):
            raise _foreign_elements()
    elif not isinstance(value, _PLAIN):
        raise Refused(f"it contains a {type(value).__name__}")


class _ShortReads:
    """A file that refuses to read much at once, as a crafted list of parts would require."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if size > LARGEST_LIST:
            raise Refused("it has too many parts")
        return self._file.read(size)


def _check_parts(parts: list[zipfile.ZipInfo], allowed: int) -> None:
    names = [part.filename for part in parts]
    if len(set(names)) < len(names):
        raise Refused("two of its parts have one name")
    if SCHEMA not in names:
        raise zipfile.BadZipFile(f"it has no {SCHEMA}")
    for part in parts:
        if part.flag_bits & 1:
            raise Refused("it is encrypted")
        if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Refused("it is compressed in another way than deflate")
        if part.compress_type == zipfile.ZIP_STORED and part.file_size != part.compress_size:
            raise Refused(f"its part {part.filename} has another size than declared")
    total = sum(part.file_size for part in parts)
    if total > allowed:
        raise TooLarge(f"it would expand to {total / 1e9:,.1f} GB")


def _content(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """Read a part, and never more than it declares."""
    with archive.open(part) as content:
        return b"".join(_pieces(content, part))


def _read_through(content: Any, part: zipfile.ZipInfo) -> None:
    for _ in _pieces(content, part):
        pass


def _pieces(content: Any, part: zipfile.ZipInfo) -> Iterator[bytes]:
    # Small pieces: a large one is expanded to all that the compressed bytes give.
    while piece := content.read(1 << 16):
        yield piece
    if content.tell() != part.file_size:
        raise Refused(f"its part {part.filename} has another size than declared")


def _check_array(name: str, content: Any, size: int, scalar: bool) -> None:
    try:
        shape, _, dtype = _HEADERS[np.lib.format.read_magic(content)](content)
    except (KeyError, ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise Refused(f"its part {name} is no array") from error
    if dtype.hasobject:
        raise Refused(f"its part {name} contains objects")
    values = prod(shape)
    fits = content.tell() + values * dtype.itemsize == size and (dtype.itemsize or not values)
    if not fits or (scalar and shape):
        raise Refused(f"its part {name} has another size than its header")


def _check_elements(content: Any) -> None:
    """Refuse object arrays of anything but text, numbers and None, or lists of these."""
    lists = [content]
    while lists:
        elements = lists.pop()
        if not isinstance(elements, list):
            raise _foreign_elements()
        for element in elements:
            kind = element.get("__loader__") if isinstance(element, dict) else None
            if kind == "ListNode":
                lists.append(element.get("content"))
            elif kind != "JsonNode" and (kind != "NdArrayNode" or element.get("__class__") == "ndarray"):
                raise _foreign_elements()


def _foreign_elements() -> Refused:
    return Refused("it contains an array of other things than text, numbers and None")


def _scalar(node: Any) -> Any:
    """Return the text, number, truth value or None of a JsonNode."""
    text = node.get("content") if isinstance(node, dict) else None
    if not isinstance(text, str) or node.get("__loader__") != "JsonNode" or text.lstrip()[:1] in ("[", "{"):
        raise Refused("it contains a value that is no text, number or None")
    return json.loads(text)


def _within(node: Any, *names: str) -> Any:
    for name in names:
        node = node.get(name) if isinstance(node, dict) else None
    return node


def _node(kind: str, full: str, number: int, **state: Any) -> dict[str, Any]:
    module, _, name = full.rpartition(".")
    return {"__class__": name, "__module__": module, "__loader__": kind, "__id__": number, **state}


def _nothing(number: int) -> dict[str, Any]:
    """Return the node of None."""
    return _node("JsonNode", "builtins.str", number, is_json=True, content="null")


def _is_number(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _too_deep() -> Refused:
    return Refused("its parts are nested too deeply")
