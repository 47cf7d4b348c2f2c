"""A smaller problem of the same kind, from a share of the samples: where to begin with a large one."""

from __future__ import annotations

from dataclasses import fields, replace

import scipy.sparse as sp

from superfactor._arrays import Array, namespace
from superfactor.lifting.facts import Facts
from superfactor.lifting.sampled import SampledProblem
from superfactor.lifting.samples import in_memory
from superfactor.spectrum import DataMatrix, working_memory

# A sample is drawn where at least so many times as many samples are to be had …
_LEAST_RATIO = 8
# … its rows of X may take this share of scikit-learn's `working_memory` …
_SHARE = 0.5
_FEWEST = 4096
# … and so many, or so many for each feature, are enough to begin with.
_ENOUGH, _ENOUGH_A_FEATURE = 8192, 16


def subsample_share(problem: SampledProblem) -> float | None:
    """Which share of the samples to begin with; None where all of them are few, or their rows long."""
    n, p = problem.shape
    itemsize = 4 if problem.epsilon > 1e-10 else 8  # float32 or float64
    row = (p if problem.row_size is None else problem.row_size + 1) * itemsize
    room = _SHARE * working_memory()
    enough = max(_ENOUGH, _ENOUGH_A_FEATURE * p)
    count = min(n // _LEAST_RATIO, room / row, enough)
    return count / n if count >= max(_FEWEST, 2 * problem.n_outputs) else None


def subsampled(problem: SampledProblem, share: float) -> SampledProblem:
    """About this share of the samples of every block, in memory.

    The ridge of the filter model is one for all samples and shrinks with their number, so that the optimum
    stays about where it was; that of the feature model belongs to the samples.
    """
    parts = problem.samples.gather("some_rows", share)
    X = _stacked([rows for rows, _ in parts])
    facts = _joined([facts for _, facts in parts])
    weight = None if facts.root_weight is None else facts.root_weight[:, 0] ** 2
    data = DataMatrix(X, weight, scale=1.0)
    n = data.shape[0]
    fewer = n / problem.n_samples
    return replace(
        problem,
        samples=in_memory(data, facts.between, problem.loss),
        shape=data.shape,
        lam=problem.lam * (fewer if problem.name == "filter" else 1.0),
        covariate_ridge=problem.covariate_ridge * fewer,
        squared_norm=data.sum_of_squares(),
        null_loss=problem.null_loss * fewer,
        smaller_gram=data.gram,
    )


def _stacked(blocks: list[Array]) -> Array:
    if sp.issparse(blocks[0]):
        return sp.vstack(blocks, format="csr")
    return namespace(*blocks).concat(blocks)


def _joined(parts: list[Facts]) -> Facts:
    """The facts of several blocks, one below the other."""
    columns = []
    for field in fields(Facts):
        values = [getattr(part, field.name) for part in parts]
        columns.append(None if values[0] is None else namespace(*values).concat(values))
    return Facts(*columns)
