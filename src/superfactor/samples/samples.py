"""The samples of a problem, divided into blocks that return sums (docs/method.md §10).

The default solver uses samples through sums only: the loss, its gradient, its curvature, products with X. It
requests a sum, and the blocks compute it: blocks in memory, blocks read from disk in passes, or blocks on the
workers of a cluster. Only arrays without a dimension n are sent to and from the blocks.

A question is a method of `Block` with its arguments, and type checkers see both:

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
from superfactor.samples.travel import here, there
from superfactor.samples.vectors import Tall

A = TypeVar("A")
P = ParamSpec("P")

# Matrices that one question may have blocks keep.
_MOST_MADE = 4


@dataclass(frozen=True)
class Call(Generic[A]):
    """A question: a method of `Block` and its arguments. It pickles, by the method's name."""

    method: Callable[..., A]
    arguments: tuple[Any, ...]

    def to(self, block: Block) -> A:
        """A block's answer."""
        return self.method(block, *self.arguments)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.method.__name__

    @property
    def reads(self) -> bool:
        """Whether it is a pass over X."""
        return self.method in READS


#: What changes blocks (`Block.rescale`, `append`, `drop`): done before the question with which it travels.
Errands = tuple[Call[None], ...]


class Samples(ABC):
    """All samples: in memory, on disk or on the workers of a cluster."""

    #: So many threads of this process answer at the same time; those of BLAS would come on top.
    threads: int = 1
    #: What asking a question costs, beside asking one of this process (`Options.a_question`).
    latency: float = 1.0
    #: About how many operations questions about the loss have taken so far: searches compare what they cost.
    operations: float = 0.0

    def __init__(self) -> None:
        self._keys = count(step=_MOST_MADE)
        self._waiting: deque[Call[None]] = deque()

    # --- asking ------------------------------------------------------------------------------------------

    def sum(self, question: Callable[Concatenate[Block, P], A], *args: P.args, **kwargs: P.kwargs) -> A:
        """The sum over all blocks of their answers, arrays in NumPy's float64."""
        return self.summed(_call(question, args, kwargs), self._errands())

    def gather(
        self, question: Callable[Concatenate[Block, P], A], *args: P.args, **kwargs: P.kwargs
    ) -> list[A]:
        """The answer of every block, in the order of the samples."""
        return self.gathered(_call(question, args, kwargs), self._errands())

    def stack(
        self, question: Callable[Concatenate[Block, P], Array], *args: P.args, **kwargs: P.kwargs
    ) -> Array:
        """Rows of all samples (n, j), one below the other."""
        return self.stacked(_call(question, args, kwargs), self._errands())

    def keep(
        self, question: Callable[Concatenate[Block, P], Array], *args: P.args, **kwargs: P.kwargs
    ) -> Tall:
        """Rows (n, j) that stay with the samples: their handle."""
        return self._kept(_call(question, args, kwargs))[0][0]

    def make(
        self, question: Callable[Concatenate[Block, P], Made[A]], *args: P.args, **kwargs: P.kwargs
    ) -> tuple[tuple[Tall, ...], A]:
        """Handles of rows that stay with the samples, and sums, from one question."""
        return self._kept(_call(question, args, kwargs))

    def nothing(self) -> Tall:
        """A tall matrix without columns."""
        return Tall.of(self, Place(next(self._keys), 0))

    def rescale(self, scale: float) -> None:
        """From now on X̃ = diag(√w)X/scale."""
        self.later(Block.rescale, scale)

    def later(self, change: Callable[Concatenate[Block, P], None], *args: P.args, **kwargs: P.kwargs) -> None:
        """Have blocks change before they answer the next question.

        May be called at any moment, also by the garbage collector: nothing is sent now.
        """
        self._waiting.append(_call(change, args, kwargs))

    def _errands(self) -> Errands:
        """What waits; it waits no longer."""
        return tuple(self._waiting.popleft() for _ in range(len(self._waiting)))

    def _kept(self, call: Call[Any]) -> tuple[tuple[Tall, ...], Any]:
        first = next(self._keys)
        columns, sums = self.made(call, self._errands(), first)
        assert len(columns) <= _MOST_MADE, "the keys of the next question begin there"
        talls = tuple(Tall.of(self, Place(first + i, j)) for i, j in enumerate(columns))
        return talls, sums

    # --- who holds them answers ----------------------------------------------------------------------------

    @abstractmethod
    def summed(self, call: Call[A], errands: Errands) -> A:
        """What `sum` asks for."""

    @abstractmethod
    def gathered(self, call: Call[A], errands: Errands) -> list[A]:
        """What `gather` asks for."""

    @abstractmethod
    def made(self, call: Call[Any], errands: Errands, key: int) -> tuple[tuple[int, ...], Any]:
        """What `keep` and `make` ask for: blocks keep rows, or what is `Made`, under `key` and the
        numbers after it; columns of each, and sums.
        """

    def stacked(self, call: Call[Array], errands: Errands) -> Array:
        """What `stack` asks for."""
        parts = self.gathered(call, errands)
        return namespace(*parts).concat(parts)


class LocalSamples(Samples):
    """Blocks in this process, in memory or read from their source when they are asked.

    Parameters
    ----------
    blocks : in the order of the samples
    threads : so many blocks are asked at the same time
    on_block : called as on_block(rows done, rows in all) after each block of a pass over X
    like : an array where the blocks compute; None is NumPy
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

    def summed(self, call: Call[A], errands: Errands) -> A:
        return added(self._answers(self._sent(call), call.reads, errands))

    def gathered(self, call: Call[A], errands: Errands) -> list[A]:
        return list(self._answers(self._sent(call), call.reads, errands))

    def made(self, call: Call[Any], errands: Errands, key: int) -> tuple[tuple[int, ...], Any]:
        columns: tuple[int, ...] = ()
        ask = self._sent(call)

        def kept(block: Block) -> Any:
            nonlocal columns
            answer = ask(block)
            made = answer if isinstance(answer, Made) else Made((answer,), ())
            for i, rows in enumerate(made.rows):
                block.put(key + i, rows)
            columns = tuple(int(rows.shape[1]) for rows in made.rows)
            return made.sums

        sums = added(self._answers(kept, call.reads, errands))
        return columns, sums

    def stacked(self, call: Call[Array], errands: Errands) -> Array:
        whole: Any = None
        done = 0
        for part in self._answers(self._sent(call), call.reads, errands):
            if whole is None:  # not a list of parts first: there may be no room for all of them twice
                whole = zeros_like_of(part, self.n_samples, int(part.shape[1]))
            whole[done : done + part.shape[0], :] = part
            done += int(part.shape[0])
        return whole

    def _sent(self, call: Call[A]) -> Callable[[Block], A]:
        """What asks a block, with arguments that are where the blocks are."""
        if self._like is None or type(self._like) is np.ndarray:
            return call.to
        return replace(call, arguments=there(call.arguments, self._like)).to

    def _answers(self, answer: Callable[[Block], A], reads: bool, errands: Errands) -> Iterator[A]:
        """Answers in order; passes over X are told to `on_block`."""

        def ask(block: Block) -> A:
            for errand in errands:
                errand.to(block)
            return answer(block)

        done, total, heard = 0, self.n_samples, self.on_block if reads else None
        if heard is not None:
            heard(0, total)
        for block, found in zip(self.blocks, self._computed(ask), strict=True):
            yield found
            done += block.n_samples
            if heard is not None:
                heard(done, total)

    def _computed(self, ask: Callable[[Block], A]) -> Iterator[A]:
        """Answers in order, with no more of them under way than there are threads."""
        if self._pool is None:
            yield from map(ask, self.blocks)
            return
        waiting: deque[Future[A]] = deque()
        try:
            for block in self.blocks:
                waiting.append(self._pool.submit(ask, block))
                if len(waiting) > self.threads:
                    yield _result(waiting.popleft())
            while waiting:
                yield _result(waiting.popleft())
        finally:  # after an error no block is at work any more: its files may be deleted
            for future in waiting:
                future.cancel()
            wait(waiting)


def added(answers: Iterator[A] | Sequence[A]) -> A:
    """The sum of answers: numbers, arrays (NumPy's, in float64), or tuples of them, entry by entry."""
    total: Any = None
    for answer in answers:
        fine = here(answer)
        total = fine if total is None else _plus(total, fine)
    return total  # type: ignore[no-any-return]


def _plus(a: Any, b: Any) -> Any:
    return tuple(map(_plus, a, b)) if isinstance(a, tuple) else a + b


def _call(question: Callable[..., A], args: tuple[Any, ...], named: dict[str, Any]) -> Call[A]:
    if named:
        raise TypeError(f"{', '.join(named)}: arguments of questions travel by position")
    return Call(question, args)


def _result(future: Future[A]) -> A:
    try:
        return future.result()
    finally:
        # Its error refers to this frame; a reference back would keep every object on the stack alive.
        del future
