"""Plots of an AnnData, compared with those of the estimator."""

import numpy as np
import pytest

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402
from sklearn.datasets import load_wine  # noqa: E402
from sklearn.preprocessing import scale  # noqa: E402

import superfactor.anndata as sfa  # noqa: E402
from superfactor import SMFClassifier  # noqa: E402
from superfactor.interpretation import factor_view  # noqa: E402

FIELDS = ("correlations", "patterns", "weights", "coef", "share", "contribution", "scores", "turn", "center")
COLORS = ["#ff0000", "#00ff00", "#0000ff"]


@pytest.fixture(scope="module")
def fitted():
    X, y = load_wine(return_X_y=True)
    names = pd.DataFrame(index=[f"cell{i}" for i in range(len(y))])
    adata = anndata.AnnData(scale(X), obs=names)
    adata.obs["kind"] = pd.Categorical(np.array(["a", "b", "c"])[y])
    adata.var["symbol"] = [f"G{j}" for j in range(adata.n_vars)]
    adata.uns["kind_colors"] = COLORS
    sfa.tl.smf(adata, "kind", n_components=3)
    return adata


@pytest.fixture
def adata(fitted):
    yield fitted.copy()
    plt.close("all")


def test_view_equals_that_of_the_estimator(adata):
    model = SMFClassifier(3, lam=adata.uns["smf"]["lam"]).fit(adata.X, adata.obs["kind"])
    expected, view = factor_view(model), sfa.pl.factor_view(adata, gene_symbols="symbol")
    assert_same_view(view, expected)
    assert list(view.features) == list(adata.var["symbol"])
    # Another rotation, and another class up, as of the model itself.
    for choice in ({"rotation": "varimax"}, {"rotation": "variance"}, {"positive": "b"}):
        assert_same_view(factor_view(view, **choice), factor_view(model, **choice))


def assert_same_view(view, expected):
    for name in FIELDS:
        np.testing.assert_allclose(getattr(view, name), getattr(expected, name), atol=1e-6)
    assert view.outputs == expected.outputs and view.classes == expected.classes


def test_view_from_a_file_and_from_some_genes(adata, tmp_path):
    sfa.tl.smf(adata, "kind", n_components=3, rotation="varimax")
    expected = sfa.pl.factor_view(adata)
    adata.write_h5ad(tmp_path / "kinds.h5ad")
    part = anndata.read_h5ad(tmp_path / "kinds.h5ad")[:, 3:].copy()
    view = sfa.pl.factor_view(part, gene_symbols="symbol")
    assert_same_view(view, expected)
    assert list(view.features) == [*map(str, adata.var_names[:3]), *adata.var["symbol"][3:]]


def test_factors_show_the_names_of_genes(adata):
    display = sfa.pl.factors(adata, n=2, gene_symbols="symbol", max_factors=2)
    shown = {label.get_text() for ax in display.axes_.ravel() for label in ax.get_yticklabels()}
    assert display.axes_.shape == (1, 2) and len(shown & set(adata.var["symbol"])) >= 4


@pytest.mark.parametrize("by", ["correlation", "weight"])
def test_bars_equal_the_written_values(adata, by):
    display = sfa.pl.factors(adata, n=13, by=by, max_factors=1)
    place = {"correlation": "SMF", "weight": "SMF_weights"}[by]
    column = adata.varm[place][:, 0]
    expected = sorted(column if by == "correlation" else column / np.abs(column).max())
    found = sorted(bar.get_width() for bar in display.bars_[0, 0])
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_cells_of_the_fit_have_no_ellipses(adata):
    display = sfa.pl.samples(adata)
    assert not display.ellipses_ and "has seen their labels" in display.said
    assert len(sfa.pl.samples(adata, ellipses=True).ellipses_) == 3
    new = anndata.AnnData(adata.X)
    sfa.tl.project(new, adata)
    assert len(sfa.pl.samples(new).ellipses_) == 3


def test_colours_are_those_of_scanpy_and_grey_without_label(adata):
    adata.obs.loc[adata.obs_names[:20], "kind"] = np.nan
    display = sfa.pl.samples(adata, factors=(1, 3))
    kinds = adata.obs["kind"]
    for name, color in zip("abc", COLORS, strict=True):
        points = display.points_[name]
        np.testing.assert_allclose(points.get_facecolor()[0, :3], to_rgb(color))
        np.testing.assert_allclose(points.get_offsets(), adata.obsm["X_smf"][kinds == name][:, [0, 2]])
    assert len(display.points_["unlabelled"].get_offsets()) == 20


def drawn(display):
    """Number of cells by their name in the plot."""
    return {name: len(points.get_offsets()) for name, points in display.points_.items()}


def test_cells_without_a_label_have_a_separate_row(adata):
    adata.obs.loc[adata.obs_names[:20], "kind"] = np.nan
    display = sfa.pl.samples(adata, factors=1)
    counts = adata.obs["kind"].value_counts()
    assert drawn(display) == {**{name: counts[name] for name in "abc"}, "unlabelled": 20}
    grey = display.points_["unlabelled"]
    np.testing.assert_allclose(grey.get_facecolor()[0, :3], to_rgb("#D3D3D3"))
    assert grey.get_offsets()[:, 1].max() < display.points_["c"].get_offsets()[:, 1].min()
    adata.obs["age"] = np.where(np.arange(adata.n_obs) < 30, np.nan, 1.0 * np.arange(adata.n_obs))
    display = sfa.pl.samples(adata, color="age", factors=2)
    assert drawn(display) == {"all": adata.n_obs - 30, "unlabelled": 30}
    np.testing.assert_allclose(
        np.ma.getdata(display.points_["unlabelled"].get_offsets())[:, 0], adata.obsm["X_smf"][:30, 1]
    )


@pytest.mark.parametrize("factors", [1, (1, 2)])
def test_unlabeled_value_is_no_class(adata, factors):
    adata.obs["known"] = adata.obs["kind"].astype(str).where(np.arange(adata.n_obs) % 3 > 0, "?")
    adata.obs["known"] = adata.obs["known"].astype("category")
    sfa.tl.smf(adata, "known", n_components=2, unlabeled="?")
    assert adata.uns["smf"]["n_labeled"] == np.sum(adata.obs["known"] != "?")
    counts = adata.obs["known"].value_counts()
    found = drawn(sfa.pl.samples(adata, factors=factors))
    assert found == {**{name: counts[name] for name in "abc"}, "unlabelled": counts["?"]}


@pytest.mark.parametrize("kind", ["float64", "Int64"])
def test_numbers_that_were_fitted_as_classes_are_classes(adata, kind):
    codes = adata.obs["kind"].cat.codes.astype("Int64").mask(np.arange(adata.n_obs) % 4 == 0)
    adata.obs["code"] = codes.astype(kind)
    sfa.tl.smf(adata, "code", n_components=2)
    counts = codes.value_counts()
    found = drawn(sfa.pl.samples(adata))
    assert found.pop("unlabelled") == codes.isna().sum()
    assert {float(name): count for name, count in found.items()} == counts.to_dict()


def test_projected_cells_are_coloured_by_their_prediction(adata):
    new = anndata.AnnData(adata.X[:50])
    sfa.tl.project(new, adata)
    display = sfa.pl.samples(new)
    assert "predictions, not labels" in display.said
    new.obs["own"] = "a"
    assert not sfa.pl.samples(new, color="own").said
    assert sum(len(points.get_offsets()) for points in display.points_.values()) == 50


def test_numbers_have_a_colour_scale(adata):
    adata.obs["age"] = np.linspace(0, 1, adata.n_obs)
    assert list(sfa.pl.samples(adata, color="age").points_) == ["all"]


def test_error_without_a_fit(adata):
    with pytest.raises(ValueError, match=r"no uns\['other'\]; superfactor.anndata.tl.smf writes"):
        sfa.pl.factors(adata, key="other")
    with pytest.raises(ValueError, match=r"no obsm\['X_other'\]"):
        sfa.pl.samples(adata, key="other")


def test_cells_are_coloured_by_a_gene(adata):
    name = adata.var_names[4]
    adata.layers["twice"] = 2 * adata.X
    adata.raw = adata.copy()
    adata.raw.X[:, 4] = np.arange(adata.n_obs)
    for given, expected in (
        ({}, np.arange(adata.n_obs)),
        ({"use_raw": False}, adata.X[:, 4]),
        ({"layer": "twice"}, 2 * adata.X[:, 4]),
    ):
        points = sfa.pl.samples(adata, color=name, **given).points_["all"]
        order = np.argsort(expected, kind="stable")
        np.testing.assert_allclose(points.get_array(), expected[order])
        np.testing.assert_allclose(points.get_offsets(), adata.obsm["X_smf"][order][:, :2])
    with pytest.raises(ValueError, match=r"color='gone': neither a column of adata.obs nor a gene"):
        sfa.pl.samples(adata, color="gone")


def test_colours_show_outcomes_of_any_kind(adata):
    rng = np.random.default_rng(0)
    adata.obs["number"] = adata.X[:, 0] + 0.1 * rng.normal(size=adata.n_obs)
    adata.obs["seen"] = rng.random(adata.n_obs) < 0.7
    adata.obs["until"] = rng.exponential(np.exp(adata.X[:, 0]))
    adata.obs["whole"] = np.arange(adata.n_obs)
    sfa.tl.smf(adata, "number", n_components=2)
    np.testing.assert_allclose(sfa.pl.samples(adata).points_["all"].get_array(), sorted(adata.obs["number"]))
    assert drawn(sfa.pl.samples(adata, color="whole")) == {"all": adata.n_obs}
    assert set(drawn(sfa.pl.samples(adata, color="seen"))) == {"False", "True"}
    sfa.tl.smf(adata, time="until", event="seen", n_components=2)
    seen = int(adata.obs["seen"].sum())
    assert drawn(sfa.pl.samples(adata)) == {"event": seen, "censored": adata.n_obs - seen}
    new = anndata.AnnData(adata.X)
    sfa.tl.project(new, adata)
    assert drawn(sfa.pl.samples(new)) == {"all": adata.n_obs}
