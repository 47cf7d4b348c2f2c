"""The samples of a problem, divided into blocks that return sums (docs/method.md §10).

The default solver uses samples through sums only: the loss, its gradient, its curvature, products with X. It
requests a sum, and the blocks compute it: blocks in memory, blocks read from disk in passes, or blocks on the
workers of a cluster. Only arrays without a dimension n are sent to and from the blocks.

A call is a method of `Block` with its arguments, and type checkers see both:

    value, gradient = samples.sum(Block.evaluate, design, coef)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import numpy as np

from superfactor._arrays import Array, namespace, zeros_like_of
from superfactor.samples.block import READS, Block, Made, Place
from superfactor.samples.transfer import here, there
from superfactor.samples.vectors import Tall

A = TypeVar("A")
P = ParamSpec("P")

# Most matrices that blocks may store for one call.
_MOST_MADE = 4


@dataclass(frozen=True)
class Call(Generic[A]):
    """A method of `Block` and its arguments. It can be pickled, by the method's name."""

    method: Callable[..., A]
    arguments: tuple[Any, ...]

    def to(self, block: Block) -> A:
        """Return the result of a block."""
        return self.method(block, *self.arguments)

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.method.__name__

    @property
    def reads(self) -> bool:
        """Whether the method needs a pass over X."""
        return self.method in READS


#: Calls that change blocks (`Block.rescale`, `append`, `drop`). They run before the call they are sent with.
Changes = tuple[Call[None], ...]


class Samples(ABC):
    """All samples: in memory, on disk or on the workers of a cluster."""

    #: Number of threads of this process that compute at the same time, not counting those of BLAS.
    threads: int = 1
    #: Approximate number of operations of all calls about the loss so far. Searches compare costs by it.
    operations: float = 0.0

    def __init__(self) -> None:
        self._keys = count(step=_MOST_MADE)
        self._waiting: deque[Call[None]] = deque()
        self._gram: tuple[Array, Array] | None = None

    # --- calls -------------------------------------------------------------------------------------------

    def sum(self, method: Callable[Concatenate[Block, P], A], *args: P.args, **kwargs: P.kwargs) -> A:
        """Return the sum of the results of all blocks, arrays in NumPy's float64."""
        return self.summed(_call(method, args, kwargs), self._changes())

    def gather(
        self, method: Callable[Concatenate[Block, P], A], *args: P.args, **kwargs: P.kwargs
    ) -> list[A]:
        """Return the result of every block, in the order of the samples."""
        return self.gathered(_call(method, args, kwargs), self._changes())

    def stack(
        self, method: Callable[Concatenate[Block, P], Array], *args: P.args, **kwargs: P.kwargs
    ) -> Array:
        """Return the rows of all samples (n, j)."""
        return self.stacked(_call(method, args, kwargs), self._changes())

    def keep(self, method: Callable[Concatenate[Block, P], Array], *args: P.args, **kwargs: P.kwargs) -> Tall:
        """Return a handle of rows (n, j) that are stored with the samples."""
        return self._kept(_call(method, args, kwargs))[0][0]

    def make(
        self, method: Callable[Concatenate[Block, P], Made[A]], *args: P.args, **kwargs: P.kwargs
    ) -> tuple[tuple[Tall, ...], A]:
        """Return handles of rows that are stored with the samples, and sums, from one call."""
        return self._kept(_call(method, args, kwargs))

    @property
    def knows_gram(self) -> bool:
        """Whether `gram` needs no pass over X."""
        return self._gram is not None

    def gram(self) -> tuple[Array, Array]:
        """Return X̃ᵀX̃ (p, p) and X̃ᵀ√w (p, 1) of few features, computed once."""
        if self._gram is None:
            self._gram = self.sum(Block.gram_and_sum)
        return self._gram

    def row_products(self, rows: int) -> Array:
        """Return X̃X̃ᵀ (n, n) of few samples, NumPy, with this number of rows in memory at a time.

        Takes a pass over X for each group of rows, which also reads the next group, after reading the first.
        """
        columns: list[Any] = []
        known, found = 0, self.gather(Block.stretch, 0, rows)
        while some := [part for part in found if len(part)]:
            chosen = np.concatenate(some)
            known += len(chosen)
            parts = self.gather(Block.images_and_stretch, chosen.T, known, known + rows)
            columns.append(np.concatenate([image for image, _ in parts]))
            found = [part for _, part in parts]
        return np.concatenate(columns, axis=1)

    def nothing(self) -> Tall:
        """Return a tall matrix without columns."""
        return Tall.of(self, Place(next(self._keys), 0))

    def rescale(self, scale: float) -> None:
        """Set the scale: X̃ = diag(√w)X/scale."""
        self._gram = None
        self.later(Block.rescale, scale)

    def later(self, change: Callable[Concatenate[Block, P], None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Change blocks before their next call.

        This sends nothing now, so it may be called at any moment, also by the garbage collector.
        """
        self._waiting.append(_call(change, args, kwargs))

    def _changes(self) -> Changes:
        """Remove and return the pending changes."""
        return tuple(self._waiting.popleft() for _ in range(len(self._waiting)))

    def _kept(self, call: Call[Any]) -> tuple[tuple[Tall, ...], Any]:
        first = next(self._keys)
        columns, sums = self.made(call, self._changes(), first)
        assert len(columns) <= _MOST_MADE, "the keys of the next call begin there"
        talls = tuple(Tall.of(self, Place(first + i, j)) for i, j in enumerate(columns))
        return talls, sums

    # --- implementations ----------------------------------------------------------------------------------

    @abstractmethod
    def summed(self, call: Call[A], changes: Changes) -> A:
        """Return the result of `sum`."""

    @abstractmethod
    def gathered(self, call: Call[A], changes: Changes) -> list[A]:
        """Return the result of `gather`."""

    @abstractmethod
    def made(self, call: Call[Any], changes: Changes, key: int) -> tuple[tuple[int, ...], Any]:
        """Store the rows of `keep` and `make` in the blocks under `key` and the numbers after it.

        Returns the number of columns of each matrix, and the sums.
        """

    def stacked(self, call: Call[Array], changes: Changes) -> Array:
        """Return the result of `stack`."""
        parts = self.gathered(call, changes)
        return namespace(*parts).concat(parts)


class LocalSamples(Samples):
    """Blocks in this process, in memory or read from their source when they are needed.

    Parameters
    ----------
    blocks : in the order of the samples
    threads : number of blocks that compute at the same time
    on_block : called as on_block(rows done, rows in all) after each block of a pass over X
    like : an array of the library and device where the blocks compute; None is NumPy
    """

    on_block: Callable[[int, int], None] | None
    blocks: list[Block]

    def __init__(
        self,
        blocks: Sequence[Block],
        threads: int = 1,
        on_block: Callable[[int, int], None] | None = None,
        like: Array | None = None,
    ):
        super().__init__()
        self.blocks, self.on_block, self._like = list(blocks), on_block, like
        self.threads: int = min(threads, len(self.blocks))
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    @property
    def n_samples(self) -> int:
        """n."""
        return sum(block.n_samples for block in self.blocks)

    def summed(self, call: Call[A], changes: Changes) -> A:
        return added(self._results(self._sent(call), call.reads, changes))

    def gathered(self, call: Call[A], changes: Changes) -> list[A]:
        return list(self._results(self._sent(call), call.reads, changes))

    def made(self, call: Call[Any], changes: Changes, key: int) -> tuple[tuple[int, ...], Any]:
        columns: tuple[int, ...] = ()
        compute = self._sent(call)

        def kept(block: Block) -> Any:
            nonlocal columns
            result = compute(block)
            made = result if isinstance(result, Made) else Made((result,), ())
            for i, rows in enumerate(made.rows):
                block.put(key + i, rows)
            columns = tuple(int(rows.shape[1]) for rows in made.rows)
            return made.sums

        sums = added(self._results(kept, call.reads, changes))
        return columns, sums

    def stacked(self, call: Call[Array], changes: Changes) -> Array:
        whole: Any = None
        done = 0
        for part in self._results(self._sent(call), call.reads, changes):
            if whole is None:  # filled part by part: memory may not hold all parts twice
                whole = zeros_like_of(part, self.n_samples, int(part.shape[1]))
            whole[done : done + part.shape[0], :] = part
            done += int(part.shape[0])
        return whole

    def _sent(self, call: Call[A]) -> Callable[[Block], A]:
        """Return the call as a function of a block, with arguments on the device of the blocks."""
        if self._like is None or type(self._like) is np.ndarray:
            return call.to
        return replace(call, arguments=there(call.arguments, self._like)).to

    def _results(self, compute: Callable[[Block], A], reads: bool, changes: Changes) -> Iterator[A]:
        """Yield results in order; passes over X are reported to `on_block`."""

        def changed(block: Block) -> A:
            for change in changes:
                change.to(block)
            return compute(block)

        done, total, progress = 0, self.n_samples, self.on_block if reads else None
        if progress is not None:
            progress(0, total)
        for block, found in zip(self.blocks, self._computed(changed), strict=True):
            yield found
            done += block.n_samples
            if progress is not None:
                progress(done, total)

    def _computed(self, compute: Callable[[Block], A]) -> Iterator[A]:
        """Yield results in order; at most one block more than there are threads is in progress."""
        if self._pool is None:
            yield from map(compute, self.blocks)
            return
        waiting: deque[Future[A]] = deque()
        try:
            for block in self.blocks:
                waiting.append(self._pool.submit(compute, block))
                if len(waiting) > self.threads:
                    yield _result(waiting.popleft())
            while waiting:
                yield _result(waiting.popleft())
        finally:  # after an error, wait for all blocks: their files may be deleted
            for future in waiting:
                future.cancel()
            wait(waiting)


def added(results: Iterator[A] | Sequence[A]) -> A:
    """Return the sum of results: numbers, arrays (NumPy, float64), or tuples of them, entry by entry."""
    total: Any = None
    for result in results:
        fine = here(result)
        total = fine if total is None else _plus(total, fine)
    return total  # type: ignore[no-any-return]


def _plus(a: Any, b: Any) -> Any:
    return tuple(map(_plus, a, b)) if isinstance(a, tuple) else a + b


def _call(method: Callable[..., A], args: tuple[Any, ...], named: dict[str, Any]) -> Call[A]:
    if named:
        raise TypeError(f"{', '.join(named)}: arguments are passed by position")
    return Call(method, args)


def _result(future: Future[A]) -> A:
    try:
        return future.result()
    finally:
        # Its error refers to this frame; a reference back would keep every object on the stack alive.
        del future
