"""Methods do not change a block, declare whether they read X, and compute in the type of X."""

import copy
from dataclasses import fields

import numpy as np
import pytest
from tests.samples.block_methods import BENT, DUAL, METHODS, ROWS
from tests.samples.block_world import LAST, TALL, K, P, world

from superfactor.samples import Along, Annotations, Block, Made
from superfactor.samples.block import READS
from superfactor.samples.block.store import InFiles

# These change a block.
CHANGES = {"put", "append", "drop", "rescale"}
every_method = pytest.mark.parametrize("method", METHODS)


def asked_block(folder=None):
    w = world("weighted")
    if folder is not None:
        w.block._store = InFiles(folder)
        w.block.put(TALL.key, w.tall)
    with_dual_and_bent_points(w)
    return w.block


def with_dual_and_bent_points(w):
    """Dual points p − y of some probabilities p, always float64, and a curvature by its 2κ columns."""
    p = np.random.default_rng(0).uniform(0, 0.3, (w.block.n_samples, 3))
    w.block.put(DUAL.key, p - w.targets)
    rows = np.hstack([p * (1 - p), p])
    w.block.put(BENT.key, rows.astype(w.block.rows_of(TALL).dtype))


def arrays_of(x):
    """Every array and number in a result."""
    if isinstance(x, Made):
        return [*arrays_of(x.rows), *arrays_of(x.sums)]
    if isinstance(x, Annotations):
        return [np.asarray(getattr(x, field.name)) for field in fields(x)]
    if isinstance(x, tuple):
        return [a for part in x for a in arrays_of(part)]
    return [np.asarray(x)]


def test_every_method_is_tested():
    public = {name for name in dir(Block) if not name.startswith("_")}
    assert public == set(METHODS) | CHANGES
    assert {method.__name__ for method in READS} < set(METHODS)


@every_method
def test_a_method_changes_nothing(method, tmp_path):
    """A call changes neither stored matrices nor X nor annotations; a second call gives the same."""
    block, arguments = asked_block(tmp_path), copy.deepcopy(METHODS[method])

    def everything():
        kept = [block.rows_of(place) for place in (TALL, DUAL, BENT)]
        return [*kept, block.images(np.eye(P)), *arrays_of(block._annotations()), *_numbers(arguments)]

    before = [x.copy() for x in everything()]
    first = [x.copy() for x in arrays_of(getattr(block, method)(*arguments))]
    assert set(block._store._types) == {0, 4, 8} and block._scale is None
    again = arrays_of(getattr(block, method)(*arguments))
    for a, b in zip([*before, *first], [*everything(), *again], strict=True):
        np.testing.assert_array_equal(a, b)


def _numbers(x):
    """The arrays among the arguments of a method."""
    if isinstance(x, np.ndarray):
        return [x]
    if isinstance(x, Along):
        return [x.coef, x.directions]
    return [a for part in x for a in _numbers(part)] if isinstance(x, tuple | list) else []


@every_method
def test_methods_that_read_x_declare_it(method):
    """Methods that do not need X do not read a source; each of the others is one pass over it."""
    block = asked_block()
    reads, read = [], block._read
    block._read = lambda scale: (reads.append(scale), read(scale))[1]
    getattr(block, method)(*METHODS[method])
    assert len(reads) == (getattr(Block, method) in READS)  # once only


# --- types ----------------------------------------------------------------------------------------

TYPED = [name for name in METHODS if name not in ("some_rows", "digest")]


def typed_block(dtype):
    w = world("weighted", dtype=dtype)
    with_dual_and_bent_points(w)
    return w.block


@pytest.mark.parametrize("method", TYPED)
def test_single_precision_is_close_to_double(method):
    """The solver's small arrays are float64; the block computes in the type of X."""
    exact, found = (
        arrays_of(getattr(typed_block(dtype), method)(*METHODS[method])) for dtype in (np.float64, np.float32)
    )
    if method == "triangle":  # up to the signs of its rows
        exact, found = [np.abs(exact[0])], [np.abs(found[0])]
    if method == "scored":  # the last is an estimate of rounding errors
        assert np.all(found.pop() > 1e10 * exact.pop())
    for a, b in zip(exact, found, strict=True):
        assert np.abs(a - b).max() < 1e-5 * np.abs(a).max()


FINE = {"inner": 0, "dual_points": 0, "rebalanced": 0, "dual_terms": 1, "dual_sizes": 1}


def test_which_results_have_the_type_of_the_block_and_which_are_double():
    """Dual points, and products that make vectors orthonormal, are always double."""
    for dtype in (np.float32, np.float64):
        block = typed_block(dtype)
        for method in set(ROWS) - {"given", *FINE}:
            rows = getattr(block, method)(*METHODS[method])
            assert rows.dtype == dtype and rows.shape[0] == LAST - 3, method
        for method, i in FINE.items():
            found = arrays_of(getattr(block, method)(*METHODS[method]))
            assert found[i].dtype == np.float64, method
        made = block.grown(*METHODS["grown"])
        refined = block.refined(TALL, np.eye(K), TALL, np.eye(K))
        assert made.rows[0].dtype == refined.rows[0].dtype == dtype
        assert {part.dtype for part in (*made.sums[1:3], *refined.sums)} == {np.dtype(np.float64)}
