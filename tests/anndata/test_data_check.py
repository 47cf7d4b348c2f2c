"""The data check recognises counts, expression without logarithm, and scaled expression."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

import superfactor.anndata as sfa  # noqa: E402
from superfactor.anndata.reading import data_check, matrix  # noqa: E402

N, P = 900, 60
SAID = {"counts": "look like counts", "normalised": "without its logarithm", "log": None}
SAID |= {"scaled": "looks scaled", "clipped": "looks scaled", "not centred": "looks scaled"}


def forms():
    """One table of counts (N, P) with some rare genes, in the forms that scanpy produces."""
    rng = np.random.default_rng(0)
    depth, rate = rng.lognormal(0, 0.3, (N, 1)), rng.lognormal(-1.5, 1.5, P)
    counts = rng.poisson(depth * rate * rng.gamma(1.0, size=(N, P)))
    counts[0] += 1
    size = counts.sum(axis=1, keepdims=True)
    normalised = counts / size * 1e4
    log = np.log1p(normalised)
    scaled = (log - log.mean(axis=0)) / log.std(axis=0, ddof=1)
    return {
        "counts": counts,
        "normalised": normalised,
        "log": log,
        "scaled": scaled,
        "clipped": np.clip(scaled, -10, 10),
        "not centred": np.clip(log / log.std(axis=0, ddof=1), None, 10),
    }


def line(X, **given):
    return data_check.data_check(matrix.rows_of(X), **{"layer": None, "scale": False} | given)


@pytest.mark.parametrize("form", list(SAID))
@pytest.mark.parametrize("store", [np.asarray, sp.csr_matrix])
def test_each_form_is_recognised(form, store):
    X = forms()[form].astype(np.float32)
    found = line(store(X))
    assert (found is None) if SAID[form] is None else (SAID[form] in found and "\n" not in found)
    if found:
        assert found.startswith("X: ")
        assert line(store(X), layer="raw").startswith("layer 'raw': ")


def test_no_warning_for_other_measurements():
    rng = np.random.default_rng(0)
    for X in (
        rng.integers(0, 3, (N, P)),
        rng.normal(3, 1, (N, P)) * np.arange(1, P + 1),
        rng.normal(size=(N, P)) * np.arange(P),
    ):
        assert line(X.astype(float)) is None


def test_cells_sorted_by_type():
    log = forms()["log"]
    assert line(log[np.argsort(log[:, 0])]) is None
    scaled = forms()["clipped"]
    assert "looks scaled" in line(scaled[np.argsort(scaled[:, 0])])


def test_warning_contains_advice():
    made = forms()
    adata = anndata.AnnData(made["log"], layers={"counts": made["counts"], "scaled": made["scaled"]})
    adata.obs["kind"] = np.where(made["log"][:, 0] > np.median(made["log"][:, 0]), "a", "b")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        sfa.tl.smf(adata, "kind", n_components=1, certify=None)
    with pytest.warns(UserWarning, match=r"layer 'counts'.*sc.pp.log1p\(adata, layer='counts'\)"):
        sfa.tl.smf(adata, "kind", n_components=1, layer="counts", certify=None)
    with pytest.warns(UserWarning, match=r"layer 'scaled': .*; leave scale=False"):
        sfa.tl.smf(adata, "kind", n_components=1, layer="scaled", scale=True, certify=None)


def test_only_some_rows_of_a_file_are_read(tmp_path, monkeypatch):
    counts = np.tile(forms()["counts"], (5, 1)).astype(np.float32)
    adata = anndata.AnnData(sp.csr_matrix(counts))
    adata.write_h5ad(tmp_path / "x.h5ad")
    backed = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    source, rows = matrix.rows_of(backed.X), []
    original = type(source).read_finite

    def counted(self, start, stop):
        rows.append(stop - start)
        return original(self, start, stop)

    monkeypatch.setattr(type(source), "read_finite", counted)
    assert "look like counts" in data_check.data_check(source, None, False)
    assert 0 < sum(rows) <= 512 < len(counts)
    backed.file.close()


def test_cells_of_scanpy_are_scaled_and_their_raw_is_not():
    sc = pytest.importorskip("scanpy")
    adata = sc.datasets.pbmc68k_reduced()
    assert "looks scaled" in line(np.asarray(adata.X))
    raw = adata.raw.to_adata()
    assert line(raw.X) is None
    for center in (True, False):
        scaled = sc.pp.scale(raw, max_value=10, zero_center=center, copy=True)
        assert scaled.X.max() == 10 and "looks scaled" in line(scaled.X)
    assert line(sc.datasets.blobs(n_observations=300).X) is None
