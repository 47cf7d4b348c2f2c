"""Passes over X on a cluster equal those for a file (docs/scaling.md)."""

from __future__ import annotations

import dask.array as da
import pytest
from tests.passes import WEIGHTS, budget, counted, planted

from superfactor.distributed import DaskSMFClassifier
from superfactor.distributed.samples import RemoteSamples


@pytest.fixture
def passes(monkeypatch):
    """Names of the queries so far for which workers read their rows of X."""
    asked = []

    def watched(operation):
        answer = getattr(RemoteSamples, operation)

        def asking(self, call, *more):
            if call.reads:
                asked.append(call.name)
            return answer(self, call, *more)

        monkeypatch.setattr(RemoteSamples, operation, asking)

    for operation in ("summed", "gathered", "made"):
        watched(operation)
    return asked


def test_numbers_of_passes_equal_the_documentation(client, passes, monkeypatch):
    model, (X, y) = "filter", planted()
    lazy, held = da.from_array(X, chunks=(400, -1)), []

    def stated(options):
        monkeypatch.setattr(DaskSMFClassifier, "options", options)
        fit = DaskSMFClassifier(3, model=model, client=client, **WEIGHTS[model])
        problem = fit.state(lazy, y).problem
        held.append(problem.samples)
        return problem

    try:
        assert counted(stated, lambda: len(passes)) == budget(model)
    finally:
        for samples in held:
            samples.close()


def test_passes_of_a_fit_are_the_sum_of_its_phases(client, passes):
    model, (X, y) = "feature", planted()
    fit = DaskSMFClassifier(3, model=model, client=client, **WEIGHTS[model])
    fit.fit(da.from_array(X, chunks=(400, -1)), y)
    assert len(passes) == budget(model)["whole fit"]
