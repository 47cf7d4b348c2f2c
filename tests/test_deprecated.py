"""Names, parameters and attributes of superfactor 1.0 still work, and a FutureWarning names the new ones."""

import warnings

import numpy as np
import pytest

import superfactor
from superfactor import losses, options, selection
from superfactor._deprecated import renamed_attributes, renamed_parameters

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6))
Y = np.where(X[:, 0] > 0, "a", "b")


def warns(old, new):
    message = rf"^{old} is deprecated and will be removed in superfactor 1\.2; use {new}"
    return pytest.warns(FutureWarning, match=message)


@renamed_parameters(old="new")
def doubled(x, new=1):
    """Return twice the sum."""
    return 2 * (x + new)


@renamed_attributes(a="b", c=("twice b", lambda record: 2 * record.b))
class Record:
    def __init__(self, b):
        self.b = b


def test_an_old_parameter_sets_the_new_one():
    with warns("parameter old", "new") as caught:
        assert doubled(1, old=3) == 8
    assert caught[0].filename == __file__  # the line of the caller
    assert doubled.__doc__ == "Return twice the sum."
    with pytest.raises(TypeError, match=r"^old, new: the same parameter; only new is allowed$"):
        doubled(1, old=3, new=3)


def test_an_old_attribute_returns_the_new_one():
    with warns("parameter a", "b"):
        record = Record(a=5)
    with warns("Record.a", "b") as caught:
        assert record.a == 5
    assert caught[0].filename == __file__
    with warns("Record.c", "twice b"):
        assert record.c == 10
    with pytest.raises(AttributeError, match=r"^'Record' object has no attribute 'd'$"):
        _ = record.d


def test_new_names_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert doubled(1, new=3) == 8 and Record(b=5).b == 5


@pytest.mark.parametrize("name", ["TableFile", "open_table", "read_table"])
def test_tables_can_be_imported_from_datasets(name):
    pytest.importorskip("pandas")
    from superfactor import datasets, tables

    with warns(f"superfactor.datasets.{name}", f"superfactor.tables.{name}"):
        assert getattr(datasets, name) is getattr(tables, name)
    assert name not in datasets.__all__


def test_the_curvature_of_the_loss_has_its_old_name():
    from superfactor import theory

    with warns("superfactor.theory.bends", "superfactor.theory.loss_curvature"):
        assert theory.bends is theory.loss_curvature
    assert "bends" not in theory.__all__


def test_readers_of_the_paper_name_their_place():
    message = r"^superfactor\.datasets\.load_mnist: it is reproduction\.data\.load_mnist since"
    with pytest.raises(ImportError, match=message):
        from superfactor.datasets import load_mnist  # noqa: F401
    with pytest.raises(AttributeError, match="no attribute 'load_nothing'"):
        _ = superfactor.datasets.load_nothing


@pytest.mark.parametrize("given", ["search", "options", "keywords"])
def test_nested_scores_takes_the_data_first(given):
    search = superfactor.SMFClassifierCV([2], xi=[0.1], lam=[1.0], cv=2, preprocess=None)
    folds = {"n_splits": 2, "n_repeats": 1, "baselines": False}
    with warns(r"nested_scores\(X, y, search=…\)", r"nested_scores\(search, X, y\)"):
        if given == "search":
            old = selection.nested_scores(X, Y, search=search, preprocess="standardize", **folds)
        elif given == "options":
            old = selection.nested_scores(X, Y, preprocess=None, **folds)
        else:
            old = selection.nested_scores(X=X, y=Y, preprocess=None, **folds)
    if given != "search":
        search = superfactor.SMFClassifierCV(preprocess=None, scoring="neg_log_loss")
    new = selection.nested_scores(search, X, Y, **folds)
    np.testing.assert_array_equal(old.predictions, new.predictions)


def test_baselines_were_rivals():
    search = superfactor.SMFClassifierCV([2], xi=[0.1], lam=[1.0], cv=2, preprocess=None)
    with warns("parameter rivals", "baselines"):
        found = selection.nested_scores(search, X, Y, n_splits=2, n_repeats=1, rivals=True)
    with warns("NestedScores.rivals", "baselines"):
        assert found.rivals == found.baselines


def test_missing_values_were_gaps():
    with warns("superfactor.preprocessing.describe_gaps", "superfactor.preprocessing.describe_missing"):
        assert superfactor.preprocessing.describe_gaps is superfactor.preprocessing.describe_missing


def test_factors_have_scaled_weights_and_codes():
    pytest.importorskip("pandas")
    from superfactor.interpretation import factor_view

    view = factor_view(superfactor.SMFClassifier(2).fit(X, Y))
    with warns("FactorView.codes", "scores"):
        np.testing.assert_array_equal(view.codes, view.scores)
    with warns("FactorView.scaled", r"shown\('weight'\)"):
        scaled = view.scaled
    np.testing.assert_allclose(scaled, view.weights / np.abs(view.weights).max(axis=1, keepdims=True))


def test_displays_take_ellipse_and_their_old_arrays():
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    from superfactor.plotting import BiplotDisplay, SamplesDisplay

    model = superfactor.SMFClassifier(2).fit(X, Y)
    for display in (SamplesDisplay, BiplotDisplay):
        for shown in (True, False):
            with warns("parameter ellipse", "ellipses"):
                drawn = display.from_estimator(model, X, Y, samples="training", ellipse=shown)
            samples = drawn if display is SamplesDisplay else drawn.samples
            assert bool(samples.ellipses_) == shown
    with warns("BiplotDisplay.weights", "directions"):
        assert drawn.weights is drawn.directions
    with warns("SamplesDisplay.codes", "scores"):
        assert samples.codes is samples.scores
    with warns("parameter codes", "scores"):
        again = SamplesDisplay(codes=samples.scores, factors=["1", "2"])
    with warns("parameter ellipse", "ellipses"):
        again.plot(ellipse=False)
    plt.close("all")


def test_cells_take_ellipse():
    anndata = pytest.importorskip("anndata")
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    from superfactor.anndata import pl, tl

    cells = anndata.AnnData(X.copy(), obs={"kind": Y})
    tl.smf(cells, "kind", n_components=2)
    with warns("parameter ellipse", "ellipses"):
        assert pl.samples(cells, ellipse=True).ellipses_
    plt.close("all")


def test_options_take_the_cost_of_a_question():
    with warns("parameter a_question", "call_overhead"):
        chosen = options.Options(a_question=5.0)
    with warns("Options.a_question", "call_overhead"):
        assert chosen.a_question == chosen.call_overhead == 5.0


def test_the_cumulative_hazard_is_that_of_the_log():
    times = np.arange(1.0, 11.0)
    loss = losses.CoxPartialLikelihood(times, np.ones(10))
    a = RNG.normal(size=(10, 1))
    with warns("CoxPartialLikelihood.cumulative_hazard", "log_cumulative_hazard"):
        at, hazard = loss.cumulative_hazard(a)
    np.testing.assert_array_equal(at, times)
    risk = np.cumsum(np.exp(a[::-1, 0]))[::-1]  # of those still at risk
    np.testing.assert_allclose(hazard, np.cumsum(1 / risk))
