"""Sparse values stay sparse, from the file to the page."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler
from tests.cli.command import ALL, superfactor

from superfactor import SMFClassifier, saving

anndata = pytest.importorskip("anndata")


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.poisson(0.2, (90, 30)).astype(float)
    X[:, :3] += 2 * np.eye(3)[y]
    folder = tmp_path_factory.mktemp("sparse")
    obs = pd.DataFrame({"type": np.array(["a", "b", "c"])[y]}, index=[f"c{i}" for i in range(90)])
    obs["batch"] = np.where(rng.random(90) < 0.5, "p", "q")
    made = anndata.AnnData(sp.csr_matrix(X), obs=obs)
    made.var_names = [f"g{j}" for j in range(30)]
    made.write_h5ad(folder / "t.h5ad")
    return folder / "t.h5ad", X, obs["type"].to_numpy()


def test_sparse_stays_sparse(counts, tmp_path, monkeypatch):
    path, X, y = counts
    monkeypatch.setattr(sp.csr_matrix, "toarray", _refuse_to_write_out)
    words = ("fit", path, "--target", "type", *ALL, "--out", tmp_path / "m.skops")
    done = superfactor(*words, "--json")
    assert done.code == 0, done
    S = StandardScaler(with_mean=False).fit_transform(sp.csr_matrix(X))
    same = SMFClassifier(2, xi=0.1, lam=1.0, random_state=0).fit(S, y)
    assert done.json["certificate"]["objective"] == pytest.approx(same.objective_, rel=1e-9)
    done = superfactor("predict", tmp_path / "m.skops", path, "--out", tmp_path / "p.csv", "--json")
    assert done.json["trained_on"] == {"yes": 90}
    # A plain table of the same samples is taken as the model takes them.
    table = pd.DataFrame(X, columns=[f"g{j}" for j in range(30)])
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ("predict", tmp_path / "m.skops", tmp_path / "t.csv", "--out", tmp_path / "q.csv")
    assert superfactor(*words, "--json").json["trained_on"] == {"yes": 90}
    one, other = (pd.read_csv(tmp_path / name).iloc[:, 1:] for name in ("p.csv", "q.csv"))
    pd.testing.assert_frame_equal(one, other)
    assert saving.read(tmp_path / "m.skops").about["sparse"]


def _refuse_to_write_out(self, *args, **kwargs):
    assert self.shape != (90, 30), "X was written out"
    return sp.csr_array(self).toarray()


@pytest.mark.parametrize("more", [(), ("--covariates", "batch"), ("--adjust", "batch"), ("--log2",)])
def test_pages_of_sparse_data(more, counts, tmp_path):
    words = ("fit", counts[0], "--target", "type", *ALL, *more, "--out", tmp_path / "m.skops")
    done = superfactor(*words, "--report", tmp_path / "r.html")
    assert done.code == 0, done
    again = ("report", tmp_path / "m.skops", counts[0], "--out", tmp_path / "q.html")
    assert superfactor(*again).code == 0
