"""A column means the same in a CSV file, in an .h5ad file and in the obs of an AnnData in memory."""

import warnings

import numpy as np
import pytest

from superfactor.tables import read_study

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

import superfactor.anndata as sfa  # noqa: E402

N = 60
RNG = np.random.default_rng(0)
ILL = RNG.integers(0, 2, N)
GAP = np.arange(N) % 7 == 0
TIME = RNG.exponential(5, N).round(2) + 0.1
X = RNG.standard_normal((N, 6)) + ILL[:, None]

# The column, and how it is read: the kind, and the classes or the number of samples with an outcome.
COLUMNS = {
    "y/n": (np.where(ILL, "y", "n"), "classes", ["n", "y"]),
    "yes/no": (np.where(ILL, "yes", "no"), "classes", ["no", "yes"]),
    "0/1": (ILL, "classes", ["0", "1"]),
    "text 0/1": (ILL.astype(str), "classes", ["0", "1"]),
    "True/False": (ILL.astype(bool), "classes", ["False", "True"]),
    "nullable": (pd.array(np.where(GAP, None, ILL.astype(bool)), "boolean"), "classes", ["False", "True"]),
    "unused category": (
        pd.Categorical(np.where(ILL, "b", "a"), categories=["unused", "b", "a"]),
        "classes",
        ["a", "b"],
    ),
    "categories 1/2": (pd.Categorical(ILL + 1), "classes", ["1", "2"]),
    "many integers": (RNG.permutation(N) + 100, "numbers", N),
    "counts 0 to 8": (np.arange(N) % 9, "classes", [*"012345678"]),
    "many counts": (RNG.poisson(RNG.gamma(1, 20, N)), "numbers", N),
    "floats": (TIME, "numbers", N),
    "integers with gaps": (np.where(GAP, np.nan, ILL), "classes", ["0", "1"]),
    "text 1 to 3": ((1 + np.arange(N) % 3).astype(str), "classes", ["1", "2", "3"]),
    "text of floats": (TIME.astype(str), "numbers", N),
    "text with zeros": (np.where(ILL, "007", "008"), "classes", ["007", "008"]),
    "NA": (np.where(GAP, "NA", np.where(ILL, "ill", "well")), "classes", ["ill", "well"]),
    "n/a": (np.where(GAP, "n/a", np.where(ILL, "ill", "well")), "classes", ["ill", "well"]),
    "blanks": (np.where(GAP, " ", np.where(ILL, "ill", "well")), "classes", ["ill", "well"]),
    "unknown": (
        np.where(GAP, "unknown", np.where(ILL, "ill", "well")),
        "classes",
        ["ill", "unknown", "well"],
    ),
}


def cells(**columns):
    names = [f"cell{i}" for i in range(N)]
    adata = anndata.AnnData(X.copy(), obs=pd.DataFrame(columns, index=names))
    adata.var_names = [f"gene{j}" for j in range(X.shape[1])]
    return adata


def studies(adata, folder, **roles):
    """The samples as read from a CSV file and from an .h5ad file."""
    table = adata.to_df().join(adata.obs)
    table.to_csv(folder / "cells.csv", index_label="cell")
    adata.write_h5ad(folder / "cells.h5ad")
    yield read_study(folder / "cells.csv", id="cell", **roles)
    yield read_study(folder / "cells.h5ad", **roles)


def fitted(adata, *label, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sfa.tl.smf(adata, *label, n_components=1, certify=None, search="off", **given)
    return adata.uns["smf"]


@pytest.mark.parametrize("name", list(COLUMNS))
def test_one_column(name, tmp_path):
    column, kind, expected = COLUMNS[name]
    adata = cells(outcome=column)
    found = fitted(adata.copy(), "outcome")
    assert found["kind"] == kind
    if kind == "classes":
        assert [str(label) for label in found["classes"]] == expected
    else:
        assert found["n_labeled"] == expected
    for study in studies(adata, tmp_path, target="outcome"):
        assert (study.outcome, study.labeled.sum()) == (kind, found["n_labeled"])
        if kind == "classes":
            assert [str(label) for label in study.record["classes"]] == expected
        else:
            np.testing.assert_array_equal(study.y, np.asarray(column, dtype=float))


def test_a_column_of_clusters_has_classes():
    """Text and categories are labels because of their type, also if there are many."""
    clusters = pd.Categorical((np.arange(N) % 25).astype(str))
    assert fitted(cells(outcome=clusters), "outcome")["kind"] == "classes"
    assert fitted(cells(outcome=np.asarray(clusters)), "outcome")["kind"] == "classes"
    names = np.array([f"type {i // 2}" for i in range(N)])
    assert fitted(cells(outcome=names), "outcome")["kind"] == "classes"


def test_clusters_in_a_file_have_classes(tmp_path):
    adata = cells(outcome=pd.Categorical((np.arange(N) % 25).astype(str)))
    _, study = studies(adata, tmp_path, target="outcome")
    assert study.outcome == "classes"


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [("y/n", "True/False", "flags"), ("yes/no", "0/1", "flags"), ("floats", "many integers", "numbers")],
)
def test_several_columns(a, b, kind, tmp_path):
    adata = cells(a=COLUMNS[a][0], b=COLUMNS[b][0])
    assert fitted(adata.copy(), ["a", "b"])["kind"] == kind
    found = [study.y for study in studies(adata, tmp_path, target=["a", "b"])]
    assert [y.shape for y in found] == [(N, 2)] * 2
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("event", [ILL, ILL.astype(bool), np.where(ILL, "dead", "alive"), ILL + 1])
def test_times(event, tmp_path):
    adata = cells(days=TIME, status=event)
    words = {"event_word": "dead"} if event.dtype.kind == "U" else {}
    found = fitted(adata.copy(), time="days", event="status", **words)
    assert (found["kind"], found["n_labeled"]) == ("times", N)
    for study in studies(adata, tmp_path, time="days", event="status", **words):
        assert study.outcome == "times"
        np.testing.assert_array_equal(study.y["event"], ILL == 1)
        np.testing.assert_array_equal(study.y["time"], TIME)


def test_messages_name_parameters_of_the_call():
    with pytest.raises(ValueError, match=r"adata.obs: column 'outcome' has only one class, 'x'.*label$"):
        fitted(cells(outcome=["x"] * N), "outcome")
    adata = cells(outcome=RNG.permutation(N) + 100)
    with pytest.warns(UserWarning, match="adata.obs: column 'outcome' holds 60 different numbers, predicted"):
        sfa.tl.smf(adata, "outcome", n_components=1, certify=None)
