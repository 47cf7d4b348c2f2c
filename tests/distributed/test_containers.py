"""Fits on a cluster have the weights and the objective of fits in memory."""

import dask.array as da
import pytest
import sklearn
from tests.estimators.data import MODELS
from tests.estimators.test_containers import agree, estimator_of, table

from superfactor.distributed import DaskSMFClassifier, DaskSMFRegressor


@pytest.mark.parametrize("shape", [(300, 60), (600, 150), (300, 300), (280, 640)], ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", ["classes", "counts"])
def test_weights_and_objective_are_those_of_an_array(client, kind, model, shape):
    X, y = table(shape, kind, planted=kind == "classes")
    estimator, options = estimator_of(kind)
    remote = DaskSMFRegressor if kind == "counts" else DaskSMFClassifier
    rows = -(-len(X) // 3)
    with sklearn.config_context(working_memory=4):
        there = remote(2, model=model, client=client, **options)
        there.fit(da.from_array(X, chunks=(rows, -1)), da.from_array(y, chunks=rows))
    agree({"array": estimator(2, model=model, **options).fit(X, y), "Dask": there}, 1e-9)


def test_wide_rows_beyond_the_working_memory(client):
    X, y = table((280, 640), "numbers")
    fit = DaskSMFRegressor(2, client=client, search="off")
    with sklearn.config_context(working_memory=2):
        fit.fit(da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100))
    assert fit.lam_ == pytest.approx(estimator_of("numbers")[0](2, search="off").fit(X, y).lam_, rel=1e-10)
