"""Records in ``uns``: what is no plain record is refused in one line, and nothing that it names is opened."""

import copy

import numpy as np
import pytest

anndata = pytest.importorskip("anndata")

import superfactor.anndata as sfa  # noqa: E402


@pytest.fixture(scope="module")
def cells():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    adata = anndata.AnnData(X, obs={"kind": np.where(X[:, 0] > 0, "a", "b")})
    sfa.tl.smf(adata, "kind", n_components=2, xi=0.1, lam=1.0)
    return adata


class Opens:
    """Opens a file when it becomes text or an array."""

    def __init__(self, path):
        self.path = path

    def __str__(self):
        return self.path.write_text("opened") and "a"


def deep(levels):
    return {"a": deep(levels - 1)} if levels else {}


CHANGES = {
    "object": (lambda path: {"genes": np.array([Opens(path)] * 5)}, "text, numbers and None"),
    "value": (lambda path: {"loss": Opens(path)}, "it contains a Opens"),
    "levels": (lambda path: {"coding": deep(100)}, "nested too deeply"),
    "no arrays": (lambda path: {"arrays": {}}, "wrote it, without"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_crafted_records_are_refused(name, cells, tmp_path):
    change, message = CHANGES[name]
    found = copy.deepcopy(cells.uns["smf"])
    found["model"] |= change(tmp_path / "created")
    with pytest.raises(ValueError, match=message) as refusal:
        sfa.tl.project(cells, found, copy=True)
    assert "\n" not in str(refusal.value)
    changed = cells.copy()
    changed.uns["smf"] = found
    with pytest.raises(ValueError, match=message):
        sfa.pl.factor_view(changed)
    assert not (tmp_path / "created").exists()


def test_fits_that_a_record_describes_write_no_checkpoint(cells, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    changed = cells.copy()
    changed.uns["smf"]["params"]["checkpoint"] = str(tmp_path / "mine.txt")
    changed.uns["smf"]["params"]["n_jobs"] = "-" * 100_000 + "1"
    sfa.tl.stable_features(changed, n_pairs=4)
    assert (tmp_path / "mine.txt").read_text() == "mine"
