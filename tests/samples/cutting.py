"""Samples of a problem in explicit blocks, in memory or in files."""

from dataclasses import replace
from itertools import pairwise

from superfactor.samples import Block, LocalSamples
from superfactor.samples.block.store import InFiles


def uneven(n, count):
    """0 = c_0 < … < c_count = n, blocks of increasing size."""
    total = count * (count + 1) // 2
    inner = [max(i, n * (i * (i + 1) // 2) // total) for i in range(1, count)]
    return [0, *inner, n]


def blocks_of(problem, cuts, folder=None):
    """A block for each pair of cuts; their tall matrices in folders if `folder` is given."""
    data, known = problem.whole.data, problem.whole.known
    blocks = []
    for start, stop in pairwise(cuts):
        rows, part = data.rows(start, stop), known.between(start, stop)
        store = None if folder is None else InFiles(folder / f"block-{start}")
        blocks.append(
            Block(
                stop - start,
                lambda scale, rows=rows: rows if scale is None else rows.over(scale),
                lambda part=part: part,
                problem.loss,
                store,
                start,
            )
        )
    return blocks


def cut(problem, count, folder=None, **how):
    """The problem with its samples in `count` uneven blocks; the rest goes to `LocalSamples`."""
    blocks = blocks_of(problem, uneven(problem.n_samples, count), folder)
    return replace(problem, samples=LocalSamples(blocks, like=problem.like, **how))
