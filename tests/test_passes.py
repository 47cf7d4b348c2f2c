"""How often a file is read: the passes of each phase of a fit, as in docs/scaling.md."""

import numpy as np
import pytest
import sklearn
from tests.estimators.data import MODELS
from tests.passes import WEIGHTS, budget, counted, planted

from superfactor import SMFClassifier
from superfactor.losses import resolve_link
from superfactor.problem import state
from superfactor.solvers.newton import solve
from superfactor.spectrum.rows import MemmapRows
from superfactor.theory import certify


class Counted(MemmapRows):
    """Counts how often its first row is read."""

    def __init__(self, X):
        super().__init__(X)
        self.passes = []

    def read(self, start, stop):
        if start == 0:
            self.passes.append(stop)
        return super().read(start, stop)


@pytest.fixture(autouse=True)
def several_blocks():
    with sklearn.config_context(working_memory=4):
        yield


@pytest.mark.parametrize("model", MODELS)
def test_a_file_is_read_as_often_as_the_page_says(model):
    X, y = planted()
    source = Counted(X).settled()

    def stated(options):
        link = resolve_link("logistic", 3)
        problem = state(model, source, y, link, rank=3, options=options, **WEIGHTS[model])
        assert len(problem.samples.blocks) > 2
        return problem

    assert counted(stated, lambda: len(source.passes)) == budget(model)


@pytest.mark.parametrize("model", MODELS)
def test_the_passes_of_a_fit_are_those_of_its_phases(model):
    X, y = planted()
    source = Counted(X).settled()
    fit = SMFClassifier(3, model=model, **WEIGHTS[model]).fit(source, y)
    assert fit.certificate_.is_global
    assert len(source.passes) == budget(model)["whole fit"]


@pytest.mark.parametrize("model", MODELS)
def test_fewer_samples_than_features_are_certified_through_the_basis(model):
    X, y = planted()
    X, y = X[:100], y[:100]
    source, link = Counted(X).settled(), resolve_link("logistic", 3)
    problem = state(model, source, y, link, rank=3, **WEIGHTS[model])
    solution = solve(problem, 3)
    before = len(source.passes)
    assert not certify(problem, 3, solution).exact
    assert len(source.passes) - before == budget(model)["certificate, through the basis"]


@pytest.mark.parametrize("model", MODELS)
def test_a_checkpoint_takes_one_more_pass(model, tmp_path):
    X, y = planted()
    source = Counted(X).settled()
    fit = SMFClassifier(3, model=model, checkpoint=tmp_path / "fit.npz", **WEIGHTS[model])
    fit.fit(source, y)
    assert len(source.passes) == budget(model)["whole fit"] + 1


@pytest.mark.parametrize("model", MODELS)
def test_predictions_take_one_pass(model):
    X, y = planted()
    fit = SMFClassifier(3, model=model, certify=None, **WEIGHTS[model]).fit(X, y)
    for method in (fit.predict, fit.predict_proba, fit.transform):
        source = Counted(X).settled()
        method(source)
        assert len(source.passes) == 1


def test_codes_of_samples_without_weight_take_one_more_pass():
    X, y = planted()
    weight = np.where(np.arange(len(y)) % 5, 1.0, 0.0)
    passes = []
    for rows, weights in ((weight > 0, None), (slice(None), weight)):
        source = Counted(X[rows]).settled()
        SMFClassifier(3, **WEIGHTS["filter"]).fit(source, y[rows], sample_weight=weights)
        passes.append(len(source.passes))
    assert passes[1] == passes[0] + 1
