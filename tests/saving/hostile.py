"""Crafted model files: each takes an honest one apart, changes it, and is to be refused."""

import io
import json
import os
import struct
import zipfile
import zlib

import numpy as np

JSON = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "is_json": True}
FILES = {}


def file(name):
    """Enter a function of (parts of an honest file, its description, path) that writes a crafted file."""

    def enter(write):
        FILES[name] = write
        return write

    return enter


def node(kind, full, number, **more):
    module, _, name = full.rpartition(".")
    return {"__class__": name, "__module__": module, "__loader__": kind, "__id__": number, **more}


def scalar(value, number=10**6):
    return JSON | {"content": json.dumps(value), "__id__": number}


def listed(content, number):
    return node("ListNode", "builtins.list", number, content=content)


def of_dict(content, number):
    names = [node("TypeNode", "builtins.str", 10**7) for _ in content]
    return node("DictNode", "builtins.dict", number, content=content, key_types=listed(names, number + 10**8))


def write(path, parts, schema, more=(), method=zipfile.ZIP_STORED):
    """Write an archive; `more` are further members (name, bytes)."""
    parts = {**parts, "schema.json": json.dumps(schema).encode(), **dict(more)}
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def note(schema, value):
    """Store one more value in the record of a file."""
    about = schema["content"]["metadata"]
    about["content"]["note"] = value
    about["key_types"]["content"].append(node("TypeNode", "builtins.str", 10**7))
    return schema


def array(number, name="new.npy", full="numpy.ndarray"):
    return node("NdArrayNode", full, number, type="numpy", file=name)


def npy(values):
    content = io.BytesIO()
    np.save(content, values)
    return content.getvalue()


def header(shape, descr="<f8"):
    """An .npy that declares this shape and has eight numbers."""
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": descr, "fortran_order": False, "shape": shape})
    return content.getvalue() + bytes(64)


def bomb(size):
    """Return zeros, compressed a thousandfold, without computing all of them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(10**6)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (size // 10**6) + packer.flush()


def raw_member(path, name, packed, size, method=8, flags=0):
    """Append a member with these compressed bytes and this declared size to an archive."""
    content = path.read_bytes()
    end = content.rindex(b"PK\5\6")
    count, length, start = struct.unpack("<HLL", content[end + 10 : end + 20])
    listing = content[start : start + length]
    fields = struct.pack("<HHHHHLLLHH", 20, flags, method, 0, 0, 0, len(packed), size, len(name), 0)
    local = b"PK\3\4" + fields + name.encode() + packed
    entry = (
        b"PK\1\2" + struct.pack("<H", 20) + fields + struct.pack("<HHHLL", 0, 0, 0, 0, start) + name.encode()
    )
    listing += entry
    tail = struct.pack("<HHHHLLH", 0, 0, count + 1, count + 1, len(listing), start + len(local), 0)
    path.write_bytes(content[:start] + local + listing + b"PK\5\6" + tail)


@file("pipe")
def _(parts, schema, path):
    os.mkfifo(path)


@file("device")
def _(parts, schema, path):
    path.symlink_to("/dev/zero")


@file("link to a pipe")
def _(parts, schema, path):
    os.mkfifo(path.with_suffix(".fifo"))
    path.symlink_to(path.with_suffix(".fifo"))


@file("class that opens a file")
def _(parts, schema, path):
    os.mkfifo(path.with_suffix(".fifo"))
    place = node("TupleNode", "builtins.tuple", 4, content=[scalar(0, number) for number in (5, 6, 7, 8)])
    state = of_dict({"_path": scalar(str(path.with_suffix(".fifo")), 3), "_array": place}, 9)
    rows = node("ObjectNode", "superfactor.spectrum.rows.mapped.MemmapRows", 10, content=state)
    write(path, parts, note(schema, rows))


@file("class that is called")
def _(parts, schema, path):
    arguments = node("TupleNode", "builtins.tuple", 3, content=[scalar(str(path.parent), 4), scalar(None, 5)])
    full = "superfactor.spectrum.rows.pieces.ParquetPlace"
    write(path, parts, note(schema, node("ConstructorFromReduceNode", full, 6, content=arguments)))


@file("text read from a file by a vectorizer")
def _(parts, schema, path):
    full = "sklearn.feature_extraction.text.CountVectorizer"
    state = of_dict({"input": scalar("filename", 3)}, 4)
    write(path, parts, note(schema, node("ObjectNode", full, 5, content=state)))


@file("function of Python")
def _(parts, schema, path):
    write(path, parts, note(schema, node("FunctionNode", "os.system", 3)))


@file("method of a model")
def _(parts, schema, path):
    owner = schema["content"]["estimator"]
    full = f"{owner['__module__']}.{owner['__class__']}"
    method = node("MethodNode", full, 3, content={"obj": owner, "func": "fit"})
    write(path, parts, note(schema, method))


@file("call of an operator")
def _(parts, schema, path):
    attrs = node("TupleNode", "builtins.tuple", 3, content=[scalar("mkdir", 4)])
    write(path, parts, note(schema, node("OperatorFuncNode", "operator.methodcaller", 5, attrs=attrs)))


@file("8.4 GB in 8 MB")
def _(parts, schema, path):
    write(path, parts, note(schema, listed([array(n, f"{n}.npy") for n in (3, 4, 5)], 6)))
    head = header((350_000_000,))[:-64]
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH) + bomb(2_800_000_000)
    for number in (3, 4, 5):
        raw_member(path, f"{number}.npy", packed, len(head) + 2_800_000_000)


@file("much more than declared")
def _(parts, schema, path):
    write(path, parts, note(schema, array(3)))
    raw_member(path, "new.npy", bomb(2 * 10**9), len(npy(np.zeros(8))))


@file("description much longer than declared")
def _(parts, schema, path):
    write(path, parts, schema)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", npy(np.zeros(2)))
    raw_member(path, "schema.json", bomb(2 * 10**9), 1000)


@file("compressed by bzip2")
def _(parts, schema, path):
    write(path, parts, note(schema, array(3)), [("new.npy", npy(np.zeros(10**7)))], zipfile.ZIP_BZIP2)


@file("many commas")
def _(parts, schema, path):
    write(path, parts, note(schema, listed([], 3)))
    with zipfile.ZipFile(path) as archive:
        text = archive.read("schema.json").decode()
    text = text.replace('"content": []', '"content": [' + "[]," * 3 * 10**7 + "[]]", 1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", text)


@file("array of impossible shape")
def _(parts, schema, path):
    write(path, parts, note(schema, array(3)), [("new.npy", header((10**13,)))])


@file("array of empty text")
def _(parts, schema, path):
    write(path, parts, note(schema, array(3)), [("new.npy", header((10**15,), "<U0")[:-64])])


@file("scalar of ten gigabytes")
def _(parts, schema, path):
    number = npy(np.asarray(10**10))
    write(path, parts, note(schema, array(3, full="numpy.void")), [("new.npy", number)])


@file("array of pickles")
def _(parts, schema, path):
    content = io.BytesIO()
    np.save(content, np.array([{}], dtype=object), allow_pickle=True)
    write(path, parts, note(schema, array(3)), [("new.npy", content.getvalue())])


@file("object array of models")
def _(parts, schema, path):
    shape = node("TupleNode", "builtins.tuple", 3, content=[scalar(1, 4)])
    inside = [schema["content"]["estimator"]]
    objects = node("NdArrayNode", "numpy.ndarray", 5, type="json", content=inside, shape=shape)
    write(path, parts, note(schema, objects))


@file("object array of dicts")
def _(parts, schema, path):
    shape = node("TupleNode", "builtins.tuple", 3, content=[scalar(1, 4)])
    inside = [of_dict({"a": scalar(1, 6)}, 7)]
    objects = node("NdArrayNode", "numpy.ndarray", 5, type="json", content=inside, shape=shape)
    write(path, parts, note(schema, objects))


@file("thousands of levels")
def _(parts, schema, path):
    value = scalar(1, 3)
    for number in range(4, 300):
        value = listed([value], number)
    text = json.dumps(note(schema, value)).encode()
    write(path, parts, {}, [("schema.json", text)])


@file("brackets without end")
def _(parts, schema, path):
    write(path, parts, {}, [("schema.json", b"[" * 10**6)])


@file("brackets in a value")
def _(parts, schema, path):
    write(path, parts, note(schema, JSON | {"content": "[" * 10**5 + "]" * 10**5, "__id__": 3}))


@file("list that contains itself")
def _(parts, schema, path):
    write(path, parts, note(schema, listed([listed([], 3)], 3)))


@file("cached node")
def _(parts, schema, path):
    cached = node("CachedNode", "builtins.list", schema["__id__"])
    write(path, parts, note(schema, listed([cached], 3)))


@file("a billion laughs")
def _(parts, schema, path):
    value = scalar("ha", 3)
    for number in range(4, 40):
        value = listed([value, {"__id__": value["__id__"]}], number)
    write(path, parts, note(schema, value))


@file("two contents of one number")
def _(parts, schema, path):
    harmless, other = of_dict({"memory": scalar(None, 5)}, 3), of_dict({"memory": scalar("/tmp", 6)}, 3)
    pipeline = node("ObjectNode", "sklearn.pipeline.Pipeline", 7, content=harmless)
    write(path, parts, note(schema, listed([other, pipeline], 8)))


@file("array in a thousand places")
def _(parts, schema, path):
    arrays = listed([array(number) for number in range(100, 2100)], 3)
    write(path, parts, note(schema, arrays), [("new.npy", npy(np.zeros(10**6)))])


@file("random state at an impossible position")
def _(parts, schema, path):
    key = array(3)
    inside = of_dict({"key": key, "pos": scalar(10**8, 4)}, 5)
    state = {"bit_generator": scalar("MT19937", 6), "state": inside, "has_gauss": scalar(0, 7)}
    state = of_dict(state | {"gauss": scalar(0.0, 8)}, 9)
    value = node("RandomStateNode", "numpy.random.mtrand.RandomState", 10, content=state)
    write(path, parts, note(schema, value), [("new.npy", npy(np.zeros(624, np.uint32)))])


@file("sparse matrix with a huge array")
def _(parts, schema, path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("format.npy", npy(np.asarray(b"csr")))
        archive.writestr("shape.npy", npy(np.asarray([1, 1])))
        for name in ("data", "indices", "indptr"):
            archive.writestr(f"{name}.npy", header((10**13,)))
    value = node("SparseMatrixNode", "scipy.sparse._matrix.spmatrix", 3, type="scipy", file="new.npz")
    write(path, parts, note(schema, value), [("new.npz", inner.getvalue())])


@file("two parts of one name")
def _(parts, schema, path):
    write(path, parts, schema)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("schema.json", "{}")


@file("encrypted")
def _(parts, schema, path):
    write(path, parts, note(schema, array(3)))
    raw_member(path, "new.npy", bytes(100), 88, flags=1)


@file("missing array")
def _(parts, schema, path):
    write(path, parts, note(schema, array(3)))


@file("cut off")
def _(parts, schema, path):
    write(path, parts, schema)
    path.write_bytes(path.read_bytes()[:-300])


@file("half a million parts")
def _(parts, schema, path):
    write(path, parts, schema)
    content = path.read_bytes()
    end = content.rindex(b"PK\5\6")
    fields = struct.pack("<HHHHHLLLHH", 20, 0, 0, 0, 0, 0, 0, 0, 6, 0) + struct.pack("<HHHLL", 0, 0, 0, 0, 0)
    listing = b"".join(b"PK\1\2\0\0" + fields + f"{n:06d}".encode() for n in range(500_000))
    tail = struct.pack("<HHHHLLH", 0, 0, 0xFFFF, 0xFFFF, len(listing), end, 0)
    path.write_bytes(content[:end] + listing + b"PK\5\6" + tail)


@file("old protocol")
def _(parts, schema, path):
    write(path, parts, schema | {"protocol": 0})


@file("names of columns that are none")
def _(parts, schema, path):
    about = schema["content"]["metadata"]
    about["content"]["columns"] = scalar(7, 3)
    about["key_types"]["content"].append(node("TypeNode", "builtins.str", 10**7))
    write(path, parts, schema)


@file("name in several lines")
def _(parts, schema, path):
    write(path, parts, note(schema, node("ObjectNode", "os." + "\n\x1b[31mError " * 500, 3)))


@file("description in other words")
def _(parts, schema, path):
    write(path, parts, note(schema, {"__loader__": ["ListNode"], "__id__": {}, "content": 1}))


@file("no estimator")
def _(parts, schema, path):
    schema["content"]["estimator"] = scalar("model", 3)
    write(path, parts, schema)


@file("record that is a list")
def _(parts, schema, path):
    schema["content"]["metadata"] = listed([], 3)
    write(path, parts, schema)


@file("numbers of parts that are none")
def _(parts, schema, path):
    write(path, parts, note(schema, {**scalar(1), "__id__": True}))


@file("path in a scalar of NumPy")
def _(parts, schema, path):
    place = array(3, full="numpy.str_") | {"content": "null"}
    pipeline = node("ObjectNode", "sklearn.pipeline.Pipeline", 7, content=of_dict({"memory": place}, 4))
    write(path, parts, note(schema, pipeline), [("new.npy", npy(np.asarray("/tmp")))])


@file("keys that are made by a function")
def _(parts, schema, path):
    value = of_dict({"memory": scalar("/tmp", 3)}, 4)
    value["key_types"]["content"] = [node("FunctionNode", "numpy.isnan", 5)]
    write(path, parts, note(schema, value))
