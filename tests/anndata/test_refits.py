"""The page and the stable genes of an AnnData, compared with the estimator on the same arrays."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from superfactor import SMFClassifier, SMFRegressor
from superfactor.interpretation import stable_features
from superfactor.report import write_report

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

import superfactor.anndata as sfa  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:X. genes have standard deviations near 1:UserWarning")


@pytest.fixture
def adata():
    wine = load_wine()
    obs = pd.DataFrame({"kind": pd.Categorical(np.array(["a", "b", "c"])[wine.target])})
    obs.index = [f"cell{i}" for i in range(len(obs))]
    obs["donor"] = np.arange(len(obs)) // 3 % 20
    obs["site"] = np.array(["here", "there"])[np.arange(len(obs)) % 2]
    made = anndata.AnnData(scale(wine.data), obs=obs, var=pd.DataFrame(index=wine.feature_names))
    made.var["used"] = np.arange(made.n_vars) != 2
    return made


@pytest.mark.parametrize("label", ["kind", "number"])
def test_stable_genes_equal_the_estimator(adata, label, tmp_path):
    adata.obs["number"] = 3.0 * adata.X[:, 0] + adata.X[:, 6]
    given = {"class_weight": {"a": 2.0}} if label == "kind" else {}
    sfa.tl.smf(adata, label, n_components=2, mask_var="used", covariates="site", **given)
    adata.write_h5ad(tmp_path / "x.h5ad")
    read = anndata.read_h5ad(tmp_path / "x.h5ad")
    sfa.tl.stable_features(read, groups="donor", n_pairs=5)
    X = pd.DataFrame(adata.X[:, adata.var["used"]], columns=adata.var_names[adata.var["used"]])
    y, beside = np.asarray(adata.obs[label]), adata.obs[["site"]]
    made = SMFClassifier if label == "kind" else SMFRegressor
    weights = {name: adata.uns["smf"][name] for name in ("xi", "lam")}
    model = made(2, **weights, **given).fit(X, y, covariates=beside)
    plain = stable_features(model, X, y, covariates=beside, groups=adata.obs["donor"].astype(str), n_pairs=5)
    expected = plain.table.set_index("feature")["share"].reindex(adata.var_names)
    np.testing.assert_allclose(read.var["smf_share"], expected)
    assert np.isnan(read.var["smf_share"]["ash"]) and not read.var["smf_stable"]["ash"]
    assert list(read.uns["smf_stable"]["selected"]) == plain.selected
    assert set(read.var_names[read.var["smf_stable"]]) == set(plain.selected)
    assert read.uns["smf_stable"]["statement"] == plain.statement
    read.write_h5ad(tmp_path / "y.h5ad")
    again = anndata.read_h5ad(tmp_path / "y.h5ad")
    assert again.uns["smf_stable"]["n_top"] == plain.n_top
    np.testing.assert_allclose(again.uns["smf_stable"]["table"]["share"], plain.table["share"])


def test_page_equals_that_of_the_estimator(adata, tmp_path):
    pytest.importorskip("jinja2")
    sfa.tl.smf(adata, "kind", n_components=2, covariates="site")
    quick = {"held_out": False, "stable": False, "nearness": False}
    found = sfa.tl.report(adata, tmp_path / "cells.html", groups="donor", **quick).read_text("utf-8")
    for text in ("proline", "cell17", "Supervised factors of kind", "site"):
        assert text in found
    X = pd.DataFrame(adata.X, columns=adata.var_names, index=adata.obs_names)
    weights = {name: adata.uns["smf"][name] for name in ("xi", "lam")}
    beside, y = adata.obs[["site"]], np.asarray(adata.obs["kind"])
    model = SMFClassifier(2, **weights).fit(X, y, covariates=beside)
    path = write_report(tmp_path / "plain.html", model, X, y, covariates=beside, target="kind", **quick)
    plain = path.read_text("utf-8")
    assert abs(len(found) - len(plain)) < 0.02 * len(plain)
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist"):
        sfa.tl.report(adata, tmp_path / "nowhere" / "x.html")


def test_every_cell_needs_a_group(adata):
    sfa.tl.smf(adata, "kind", n_components=2)
    adata.obs["donor"] = adata.obs["donor"].where(adata.obs["donor"] > 0)
    with pytest.raises(ValueError, match="groups='donor': a group of every cell is required"):
        sfa.tl.stable_features(adata, groups="donor")
