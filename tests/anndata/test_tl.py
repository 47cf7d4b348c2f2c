"""AnnData tools, compared with the estimator on the same arrays."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.interpretation import factor_view, supervised_factors

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

import superfactor.anndata as sfa  # noqa: E402

N, P = 240, 40


def counts(seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, N)
    rate = np.full((3, P), 0.5)
    for k in range(3):
        rate[k, 4 * k : 4 * k + 4] = 4.0
    return rng.poisson(rate[kind]), np.array(["B", "T", "NK/T"])[kind]


@pytest.fixture
def adata():
    X, kind = counts()
    rng = np.random.default_rng(1)
    obs = pd.DataFrame(
        {
            "cell_type": pd.Categorical(kind, categories=["T", "B", "NK/T"]),
            "age": rng.normal(50, 10, N),
            "donor": pd.Categorical(rng.choice(["d1", "d2", "d3"], N)),
        },
        index=[f"cell{i}" for i in range(N)],
    )
    var = pd.DataFrame(index=[f"gene{j}" for j in range(P)])
    X = sp.csr_matrix(np.log1p(X).astype(np.float32))
    return anndata.AnnData(X, obs=obs, var=var, layers={"counts": sp.csr_matrix(counts()[0])})


def fitted(X, adata, **parameters):
    """The estimator on plain arrays, with the λ that was used."""
    covariates = parameters.pop("covariates", None)
    parameters = {"n_components": 3, "lam": adata.uns["smf"]["lam"], **parameters}
    return SMFClassifier(**parameters).fit(X, np.asarray(adata.obs["cell_type"]), covariates)


def centred(scores):
    return scores - scores.mean(axis=0)


@pytest.mark.parametrize(("model", "covariates"), [("filter", ["age", "donor"]), ("feature", ())])
def test_written_values_equal_the_estimator(adata, model, covariates):
    assert sfa.tl.smf(adata, "cell_type", n_components=3, model=model, covariates=covariates) is None
    table = adata.obs[list(covariates)] if covariates else None
    plain = fitted(adata.X, adata, model=model, covariates=table)
    view = factor_view(plain)
    found = adata.uns["smf"]
    scores = view.scores_of(plain.transform(adata.X))
    np.testing.assert_allclose(adata.obsm["X_smf"], scores, atol=2e-3)
    np.testing.assert_allclose(adata.varm["SMF"], view.correlations.T, atol=1e-3)
    np.testing.assert_allclose(adata.varm["SMF_weights"], view.weights.T, atol=1e-3)
    probabilities = plain.predict_proba(adata.X, table)
    np.testing.assert_allclose(adata.obsm["smf_probabilities"], probabilities, atol=1e-5)
    np.testing.assert_allclose(adata.obs["smf_probability"], probabilities.max(axis=1), atol=1e-5)
    assert (adata.obs["smf_predicted"] == plain.predict(adata.X, table)).all()
    assert list(adata.obs["smf_predicted"].cat.categories) == ["T", "B", "NK/T"]
    assert list(found["classes"]) == list(plain.classes_)
    assert found["objective"] == pytest.approx(plain.objective_, rel=1e-6)
    assert found["certificate"]["statement"] == plain.certificate_.statement
    np.testing.assert_allclose(found["effects"]["coef"], view.coef, atol=1e-3)
    np.testing.assert_allclose(found["contribution"], view.contribution, atol=1e-3)
    assert list(found["roles"]) == list(supervised_factors(plain)["role"])
    assert adata.obsm["X_smf"].dtype == adata.varm["SMF"].dtype == np.float32
    assert found["covariates"]["coef"].shape == (3, 3 if covariates else 0)
    assert found["intercept"].shape == (3,)
    dense = adata.X.toarray().astype(float)  # λ is in units of what varies
    largest = np.linalg.norm(dense - dense.mean(axis=0), 2) ** 2
    assert model == "feature" or found["lam"] == pytest.approx(1e-3 * largest, rel=2e-3)


@pytest.mark.parametrize(("model", "rotation"), [("filter", "varimax"), ("feature", None)])
def test_genes_have_their_correlations_with_the_scores(adata, model, rotation):
    sfa.tl.smf(adata, "cell_type", n_components=3, model=model, rotation=rotation)
    scores = adata.obsm["X_smf"].astype(float)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(np.cov(scores.T, bias=True), np.eye(3), atol=1e-4)
    expected = np.corrcoef(adata.X.toarray().T.astype(float), scores.T)[:P, P:]
    np.testing.assert_allclose(adata.varm["SMF"], expected, atol=1e-4)


@pytest.mark.parametrize(("store", "scale"), [("sparse", True), ("dense", False), ("int sparse", False)])
def test_results_on_disk_equal_those_in_memory(adata, store, scale, tmp_path):
    X = adata.X if "int" not in store else adata.layers["counts"]
    adata.X = X.toarray() if "dense" in store else X
    adata.write_h5ad(tmp_path / "cells.h5ad")
    options = {"n_components": 3, "scale": scale, "covariates": "age"}
    sfa.tl.smf(adata, "cell_type", **options)
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    assert backed.isbacked
    with sklearn.config_context(working_memory=0.1):
        sfa.tl.smf(backed, "cell_type", **options)
    assert backed.uns["smf"]["objective"] == pytest.approx(adata.uns["smf"]["objective"], rel=1e-4)
    np.testing.assert_allclose(backed.obsm["X_smf"], adata.obsm["X_smf"], atol=0.02)
    assert backed.obsm["X_smf"].dtype == np.float32
    new = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    sfa.tl.project(new, backed)
    np.testing.assert_allclose(new.obsm["X_smf"], backed.obsm["X_smf"], atol=1e-4)
    for file in (backed, new):
        file.file.close()


def test_sparse_stays_sparse(adata, monkeypatch):
    def few_rows(self, *args, **kwargs):
        assert self.shape[0] <= 128, "made dense"
        return sp.coo_array(self).toarray()

    monkeypatch.setattr(sp.csr_matrix, "toarray", few_rows)
    monkeypatch.setattr(sp.csr_array, "toarray", few_rows)
    sfa.tl.smf(adata, "cell_type", n_components=3, scale=True)
    scaled = StandardScaler(with_mean=False).fit(adata.X).transform(adata.X)
    np.testing.assert_allclose(centred(scaled @ adata.varm["SMF_weights"]), adata.obsm["X_smf"], atol=1e-4)
    sfa.tl.project(adata, adata, key_added="again")
    np.testing.assert_allclose(adata.obsm["X_again"], adata.obsm["X_smf"], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("model", ["filter", "feature"])
def test_results_survive_a_file(adata, model, tmp_path):
    adata.uns["cell_type_colors"] = ["red", "green", "blue"]
    options = {"n_components": 3, "model": model, "covariates": ["age", "donor"], "scale": True}
    sfa.tl.smf(adata, "cell_type", **options, class_weight={"B": 2.0})
    adata.write_h5ad(tmp_path / "fitted.h5ad")
    read = anndata.read_h5ad(tmp_path / "fitted.h5ad")
    assert (read.obs["smf_predicted"] == adata.obs["smf_predicted"]).all()
    assert list(read.uns["smf_predicted_colors"]) == ["red", "green", "blue"]
    assert read.uns["smf"]["certificate"]["statement"] == adata.uns["smf"]["certificate"]["statement"]
    assert read.uns["smf"]["params"]["class_weight"] == "{'B': 2.0}"
    for reference in (adata, read, read.uns["smf"]):
        new = adata[::-1, ::-1].copy()
        del new.obsm, new.uns
        sfa.tl.project(new, reference)
        np.testing.assert_allclose(new.obsm["X_smf"][::-1], adata.obsm["X_smf"], atol=1e-5)
        np.testing.assert_allclose(
            new.obsm["smf_probabilities"][::-1], adata.obsm["smf_probabilities"], atol=1e-5
        )
        assert (new.obs["smf_predicted"][::-1] == adata.obs["smf_predicted"]).all()


def test_results_of_version_1_0_are_refused(adata):
    sfa.tl.smf(adata, "cell_type", n_components=3)
    kept = adata.uns["smf"]["model"]
    kept["arrays"] = {"coef": kept["arrays"]["factor_coef"][1:], "components": kept["arrays"]["components"]}
    message = r"uns\['smf'\]: superfactor .* wrote it, without .*tl\.smf again"
    for job in (
        lambda: sfa.tl.project(adata, adata),
        lambda: sfa.tl.project(adata, adata.uns["smf"]),
        lambda: sfa.pl.factor_view(adata),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            job()
        assert "\n" not in str(caught.value)


def test_missing_genes_of_new_cells_are_zero(adata):
    sfa.tl.smf(adata, "cell_type", n_components=3, scale=True)
    new = adata[:, 8:].copy()
    with pytest.warns(UserWarning, match=r"20\.0% of the model's 40 genes are missing"):
        sfa.tl.project(new, adata)
    without = adata.copy()
    without.X[:, :8] = 0
    sfa.tl.project(without, adata)
    np.testing.assert_allclose(new.obsm["X_smf"], without.obsm["X_smf"], atol=1e-5)
    with pytest.raises(ValueError, match="52% of the model's 40 genes are missing"):
        sfa.tl.project(adata[:, 21:].copy(), adata)


def test_highly_variable_genes_are_used(adata):
    adata.var["highly_variable"] = np.arange(P) % 2 == 0
    sfa.tl.smf(adata, "cell_type", n_components=3)
    for place in ("SMF", "SMF_weights"):
        assert not adata.varm[place][1::2].any() and adata.varm[place][::2].all()
    np.testing.assert_allclose(centred(adata.X @ adata.varm["SMF_weights"]), adata.obsm["X_smf"], atol=1e-4)
    every = adata.copy()
    sfa.tl.smf(every, "cell_type", n_components=3, mask_var=None)
    assert every.varm["SMF"].all()
    sfa.tl.project(every, adata)
    np.testing.assert_allclose(every.obsm["X_smf"], adata.obsm["X_smf"], atol=1e-5)


def test_layers_and_names(adata):
    sfa.tl.smf(adata, "cell_type", layer="counts", n_components=2, key_added="raw")
    assert adata.obsm["X_raw"].shape == (N, 2) and adata.varm["RAW"].shape == (P, 2)
    expected = centred(adata.layers["counts"] @ adata.varm["RAW_weights"])
    np.testing.assert_allclose(adata.obsm["X_raw"], expected, atol=1e-4)
    sfa.tl.project(adata, adata, key="raw", key_added="same")
    with pytest.raises(ValueError, match="key_added='a/b': a name without '/' is required"):
        sfa.tl.project(adata, adata, key="raw", key_added="a/b")
    np.testing.assert_allclose(adata.obsm["X_same"], expected, atol=1e-4)
    sfa.tl.project(adata, adata, key="raw", layer="X", key_added="other")
    assert not np.allclose(adata.obsm["X_other"], expected, atol=1e-2)


def test_copies_and_views(adata):
    made = sfa.tl.smf(adata, "cell_type", n_components=2, copy=True)
    assert "smf" in made.uns and not adata.uns and not adata.obsm
    assert sfa.tl.project(adata, made, copy=True).obsm["X_smf"].shape == (N, 2)
    assert not adata.obsm
    view = adata[: N // 2]
    with pytest.warns(UserWarning, match="view"):
        sfa.tl.smf(view, "cell_type", n_components=2)
    assert not view.is_view and view.obsm["X_smf"].shape == (N // 2, 2) and not adata.obsm


@pytest.mark.parametrize("kind", ["int", "bool", "category of numbers"])
def test_labels_of_any_type(adata, kind, tmp_path):
    codes = adata.obs["cell_type"].cat.codes
    adata.obs["label"] = {
        "int": codes.astype(int),
        "bool": codes == 1,
        "category of numbers": pd.Categorical(codes.astype(int)),
    }[kind]
    sfa.tl.smf(adata, "label", n_components=2)
    same = adata.obs["smf_predicted"].astype(str) == adata.obs["label"].astype(str)
    assert same.mean() > 0.8
    adata.write_h5ad(tmp_path / "labels.h5ad")
    read = anndata.read_h5ad(tmp_path / "labels.h5ad")
    sfa.tl.project(read, read, key_added="new")
    assert (read.obs["new_predicted"].astype(str) == adata.obs["smf_predicted"].astype(str)).all()


@pytest.mark.parametrize(("kind", "missing"), [("category", np.nan), ("words", None), ("numbers", np.nan)])
def test_cells_without_a_label_are_predicted(adata, kind, missing, tmp_path):
    truth = adata.obs["cell_type"].astype(str)
    labels = truth.astype(object)
    if kind == "numbers":
        labels = adata.obs["cell_type"].cat.codes.astype(object)
        truth = labels.astype(str)
    labels.iloc[::4] = missing
    if kind == "category":
        labels = labels.astype("category")
    adata.obs["label"] = labels.astype(float) if kind == "numbers" else labels
    sfa.tl.smf(adata, "label", n_components=3)
    assert adata.uns["smf"]["n_labeled"] == N - N // 4
    assert (adata.obs["smf_predicted"].astype(str) == truth)[::4].mean() > 0.8
    labels = np.asarray(adata.obs["label"], dtype=float if kind == "numbers" else object)
    same = SMFClassifier(3, lam=adata.uns["smf"]["lam"]).fit(adata.X, labels)
    np.testing.assert_allclose(adata.obsm["smf_probabilities"], same.predict_proba(adata.X), atol=1e-5)
    adata.write_h5ad(tmp_path / "some.h5ad")


def test_missing_covariates_are_filled_as_at_the_fit(adata, tmp_path):
    adata.obs["age"] = adata.obs["age"].where(np.arange(N) % 5 > 0)
    sfa.tl.smf(adata, "cell_type", n_components=3, covariates=["age", "donor"])
    table = adata.obs[["age", "donor"]]
    plain = fitted(adata.X, adata, covariates=table)
    adata.write_h5ad(tmp_path / "gaps.h5ad")
    read = anndata.read_h5ad(tmp_path / "gaps.h5ad")
    sfa.tl.project(read, read)
    expected = plain.predict_proba(adata.X, table)
    np.testing.assert_allclose(read.obsm["smf_probabilities"], expected, atol=1e-5)


def test_one_modality_of_several(adata):
    mudata = pytest.importorskip("mudata")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = anndata.AnnData(np.ones((N, 2)), obs=adata.obs[[]].copy())
        alone = adata.copy()
        kind = adata.obs.pop("cell_type")
        both = mudata.MuData({"rna": adata, "atac": other})
        both.obs["cell_type"] = kind
        sfa.tl.smf(both, "cell_type", mod="rna", n_components=2)
    sfa.tl.smf(alone, "cell_type", n_components=2)
    np.testing.assert_array_equal(both["rna"].obsm["X_smf"], alone.obsm["X_smf"])
    with pytest.raises(ValueError, match=r"mod=None: one of the modalities 'rna', 'atac'"):
        sfa.tl.smf(both, "cell_type")
    new = anndata.AnnData(alone.X, var=alone.var[[]].copy())
    sfa.tl.project(new, both, mod="rna")  # the modality of the reference
    np.testing.assert_allclose(new.obsm["X_smf"], alone.obsm["X_smf"], rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="only a MuData has modalities"):
        sfa.tl.project(new, alone, mod="rna")


def test_invalid_input(adata, tmp_path):
    adata.write_h5ad(tmp_path / "x.h5ad")
    backed = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    column = adata.copy()
    column.X = sp.csc_matrix(column.X)
    column.write_h5ad(tmp_path / "csc.h5ad")
    twice = adata.copy()
    twice.var_names = ["gene"] * P
    cases = [
        (lambda: sfa.tl.smf(adata, "kind"), "label='kind': no such column in adata.obs"),
        (lambda: sfa.tl.smf(adata, "cell_type", layer="z"), "layer='z': no such layer; 'counts'"),
        (lambda: sfa.tl.smf(twice, "cell_type"), "'gene' occurs twice"),
        (lambda: sfa.tl.smf(adata, "cell_type", covariates="bmi"), "covariates='bmi': no such"),
        (lambda: sfa.tl.smf(adata, "cell_type", mask_var=[True]), "for each of 40 genes"),
        (lambda: sfa.tl.smf(adata, "cell_type", mask_var="x"), "mask_var='x': no such column"),
        (lambda: sfa.tl.smf(adata, "cell_type", mod="rna"), "only a MuData has modalities"),
        (lambda: sfa.tl.smf(adata.X, "cell_type"), "an AnnData is required, got csr_matrix"),
        (lambda: sfa.tl.smf(backed, "cell_type", copy=True), "copy=True: X is on disk"),
        (lambda: sfa.tl.smf(backed[:9], "cell_type"), "a view of a file"),
        (
            lambda: sfa.tl.smf(
                anndata.read_h5ad(tmp_path / "csc.h5ad", backed="r"), "cell_type", n_components=2
            ),
            r"adata.to_memory\(\) makes one",
        ),
        (lambda: sfa.tl.smf(adata, "cell_type", link=object()), "link: 'logistic' or 'probit'"),
        (lambda: sfa.tl.smf(adata, "cell_type", key_added="a/b"), "a name without '/' is required"),
        (lambda: sfa.tl.project(adata, adata), r"no model in its uns\['smf'\]"),
    ]
    for call, message in cases:
        with pytest.raises((ValueError, TypeError), match=message) as raised:
            call()
        assert "\n" not in str(raised.value)
    backed.file.close()
