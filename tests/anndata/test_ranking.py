"""Markers in scanpy's form, compared with plain statistics and read by scanpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control, mannwhitneyu

from superfactor import SMFClassifier

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

import superfactor.anndata as sfa  # noqa: E402

N, P = 150, 20
TYPES = np.array(["B", "NK/T", "T"])


def cells(n_types=3):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, n_types, N)
    rate = np.full((n_types, P), 0.7)
    for k in range(n_types):
        rate[k, 3 * k : 3 * k + 3] = 4.0
    X = np.log1p(rng.poisson(rate[kind])).astype(np.float64)
    obs = pd.DataFrame({"kind": pd.Categorical(TYPES[kind], categories=["T", "B", "NK/T"])})
    obs.index = [f"cell{i}" for i in range(N)]
    obs["kind"] = obs["kind"].cat.remove_unused_categories()
    return anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=[f"gene{j}" for j in range(P)]))


def table_of(adata, group, key="rank_genes_groups"):
    """Written values of one group, with genes in the order of ``var``."""
    columns = ("names", "scores", "logfoldchanges", "pvals", "pvals_adj")
    table = pd.DataFrame({name: adata.uns[key][name][group] for name in columns})
    return table.set_index("names").loc[[name for name in adata.var_names if name in set(table["names"])]]


def expected_of(X, y, group, log_odds, weights):
    """Score, p and q of every gene for a group, one by one."""
    mine, rows = y == group, []
    for x, weight in zip(X.T, weights, strict=True):
        a, b = x[mine], x[~mine]
        pooled = ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / (len(x) - 2)
        d = (a.mean() - b.mean()) / np.sqrt(pooled)
        r = np.corrcoef(x, log_odds)[0, 1]
        score = d * abs(r) if d <= 0 or (r > 0 and weight > 0) else 0.0
        change = np.log2((np.expm1(a.mean()) + 1e-9) / (np.expm1(b.mean()) + 1e-9))
        rows.append((score, change, mannwhitneyu(a, b, method="asymptotic").pvalue))
    scores, changes, p = np.array(rows).T
    return scores, changes, p, false_discovery_control(p)


def assert_ranked(adata, X, y, model, fitted):
    """X as it was given, and as it was fitted."""
    log_odds, weights = model.decision_function(fitted), model.coef_
    if log_odds.ndim == 1:
        log_odds, weights = np.column_stack([-log_odds, log_odds]), np.vstack([-weights, weights])
    log_odds = log_odds - log_odds.mean(axis=1, keepdims=True)
    weights = weights - weights.mean(axis=0)
    planted = {str(group): {f"gene{j}" for j in range(3 * k, 3 * k + 3)} for k, group in enumerate(TYPES)}
    for k, group in enumerate(model.classes_):
        assert set(adata.uns["rank_genes_groups"]["names"][group][:3]) == planted[group]
        found = table_of(adata, group)
        expected = expected_of(X, y, group, log_odds[:, k], weights[k])
        for name, values in zip(found, expected, strict=True):
            np.testing.assert_allclose(found[name], values, rtol=1e-4, atol=1e-6, err_msg=name)
        ranked = adata.uns["rank_genes_groups"]["scores"][group]
        assert (np.diff(ranked) <= 0).all()
        assert 0 < np.sum(ranked > 0) < P


@pytest.mark.parametrize(("n_types", "scale"), [(2, True), (3, False)])
def test_scores_equal_plain_statistics(n_types, scale):
    adata = cells(n_types)
    sfa.tl.smf(adata, "kind", n_components=2, scale=scale)
    assert sfa.tl.rank_genes_smf(adata) is None
    X, y = np.asarray(adata.X), np.asarray(adata.obs["kind"]).astype(str)
    scaled = X / X.std(axis=0) if scale else X
    model = SMFClassifier(2, lam=adata.uns["smf"]["lam"]).fit(scaled, y)
    assert_ranked(adata, X, y, model, scaled)
    order = ["T", "B", "NK/T"] if n_types == 3 else ["B", "NK/T"]
    assert list(adata.uns["rank_genes_groups"]["names"].dtype.names) == order


def test_cells_without_a_label_and_genes_left_out():
    adata = cells()
    adata.var["highly_variable"] = np.arange(P) < 12
    adata.obs["known"] = adata.obs["kind"].astype(str).where(np.arange(N) % 4 > 0, "?")
    sfa.tl.smf(adata, "known", n_components=2, unlabeled="?")
    sfa.tl.rank_genes_smf(adata, key_added="markers")
    part = adata[np.arange(N) % 4 > 0].copy()
    sfa.tl.rank_genes_smf(part)
    for name in ("names", "scores", "pvals"):
        there, here = adata.uns["markers"][name], part.uns["rank_genes_groups"][name]
        assert there.dtype == here.dtype and (there == here).all()
    assert set(there.dtype.names) == set(TYPES)
    assert len(adata.uns["markers"]["names"]) == 12


def test_ranking_survives_a_file(tmp_path):
    adata = cells()
    adata.layers["log"] = adata.X.copy()
    sfa.tl.smf(adata, "kind", n_components=2, model="feature", layer="log")
    sfa.tl.rank_genes_smf(adata)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    for other in (read, backed):
        sfa.tl.rank_genes_smf(other, key_added="again")
        for name in ("names", "scores", "pvals_adj"):
            for group in TYPES:
                stored = read.uns["rank_genes_groups"][name][group]
                again = other.uns["again"][name][group]
                assert list(again) == list(adata.uns["rank_genes_groups"][name][group])
                assert list(stored) == list(again)
    backed.file.close()


def test_some_groups_and_copies():
    adata = cells()
    sfa.tl.smf(adata, "kind", n_components=2)
    made = sfa.tl.rank_genes_smf(adata, groups=["T"], n_genes=5, copy=True)
    assert "rank_genes_groups" not in adata.uns
    assert made.uns["rank_genes_groups"]["names"].dtype.names == ("T",)
    assert made.uns["rank_genes_groups"]["names"].shape == (5,)
    cases = [
        ({"groups": ["T", "X"]}, r"groups=\['T', 'X'\]: 'all' or a list of some of \['T', 'B'"),
        ({"groups": "T"}, "groups='T': 'all' or a list"),
        ({"groups": []}, r"groups=\[\]: 'all' or a list"),
        ({"n_genes": 0}, "n_genes=0: an integer >= 1 is required"),
        ({"key": "other"}, r"adata: no model in its uns\['other'\]"),
        ({"key_added": "a/b"}, "key_added='a/b': a name without '/'"),
    ]
    for given, message in cases:
        with pytest.raises(ValueError, match=message) as caught:
            sfa.tl.rank_genes_smf(adata, **given)
        assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def blood():
    """700 log-normalised cells that are included in scanpy."""
    sc = pytest.importorskip("scanpy")
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    adata.raw = None
    sfa.tl.smf(adata, "bulk_labels", n_components=10, certify=None)
    sfa.tl.rank_genes_smf(adata)
    return adata


def test_markers_of_blood_cells_are_the_known_ones(blood):
    names = pd.DataFrame(blood.uns["rank_genes_groups"]["names"])
    first = names.head(10)
    known = {
        "CD19+ B": {"CD79A", "MS4A1", "CD79B"},
        "CD56+ NK": {"GNLY", "NKG7", "GZMB", "PRF1"},
        "CD14+ Monocyte": {"LST1", "AIF1", "FCGR3A", "FCN1"},
        "CD8+ Cytotoxic T": {"NKG7", "CCL5", "GZMA"},
        "CD34+": {"PRSS57", "SPINK2", "GATA2"},
        "Dendritic": {"LYZ", "CST3", "HLA-DQA1", "FCER1A"},
        "CD4+/CD25 T Reg": {"CD3D", "IL32", "CD3E"},
    }
    for group, markers in known.items():
        assert markers <= set(first[group]), group
    assert first["CD19+ B"][0] == "CD79A" and first["Dendritic"][0] == "LYZ"
    # Regulatory T cells have none of it: it marks monocytes.
    scores = table_of(blood, "CD4+/CD25 T Reg")["scores"]
    assert scores["C1QA"] < 0 < table_of(blood, "CD14+ Monocyte")["scores"]["C1QA"]


def test_structure_equals_that_of_scanpy(blood):
    sc = pytest.importorskip("scanpy")
    options = {"method": "wilcoxon", "tie_correct": True, "use_raw": False, "key_added": "scanpy"}
    sc.tl.rank_genes_groups(blood, "bulk_labels", **options)
    own, theirs = blood.uns["rank_genes_groups"], blood.uns["scanpy"]
    assert set(own) == set(theirs)
    assert set(own["params"]) == set(theirs["params"])
    assert {**own["params"], "method": "wilcoxon"} == theirs["params"]
    for name in set(own) - {"params"}:
        assert type(own[name]) is type(theirs[name])
        assert own[name].dtype == theirs[name].dtype and own[name].shape == theirs[name].shape
    for group in blood.obs["bulk_labels"].cat.categories:
        a, b = table_of(blood, group), table_of(blood, group, "scanpy")
        np.testing.assert_allclose(a["logfoldchanges"], b["logfoldchanges"], atol=1e-5)
        # scanpy has no correction for continuity.
        rare = (blood.obs["bulk_labels"] == group).sum() < 20
        np.testing.assert_allclose(a["pvals"], b["pvals"], atol=0.05 if rare else 0.02)
    table = sc.get.rank_genes_groups_df(blood, "CD19+ B", pval_cutoff=0.01, log2fc_min=1)
    assert table["names"].iloc[0] == "CD79A" and len(table) > 5


def test_scanpy_plots_the_ranking(blood):
    sc = pytest.importorskip("scanpy")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    axes = sc.pl.rank_genes_groups(blood, n_genes=5, sharey=False, show=False)
    shown = {ax.get_title(): [text.get_text() for text in ax.texts] for ax in axes}
    assert shown["CD19+ B vs. rest"][0] == "CD79A"
    dots = sc.pl.rank_genes_groups_dotplot(
        blood, n_genes=2, dendrogram=False, values_to_plot="logfoldchanges", return_fig=True
    )
    assert "CD79A" in dots.var_names
    sc.pl.rank_genes_groups_violin(blood, groups=["CD19+ B"], n_genes=3, show=False)
    sc.pl.rank_genes_groups_heatmap(blood, n_genes=2, dendrogram=False, show=False)
    plt.close("all")
