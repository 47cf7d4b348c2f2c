import json

import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.scale import growth, memory, million, planted, precision
from tests import naive

from superfactor import SMFClassifier

SMALL = planted.Dense(30, 3, 3)


@pytest.mark.parametrize("source", [SMALL, planted.Sparse(200, 3)], ids=["dense", "sparse"])
def test_more_samples_begin_with_the_same_ones(source, monkeypatch):
    monkeypatch.setattr(planted, "BLOCK", 40)
    X, y = planted.in_memory(source, 100)
    fewer, labels = planted.in_memory(source, 50)
    assert X.shape == (100, source.p) and X.dtype == np.float32
    assert abs(X[:50] - fewer).max() == 0 and np.array_equal(y[:50], labels)
    assert abs(X[:40] - X[40:80]).max() > 0
    assert set(y) == {0, 1, 2}


@pytest.mark.slow
def test_growth_has_exponents_for_every_series():
    rows = list(growth.growth(quick=True))
    assert [row["exponent in"] for row in rows if "exponent in" in row] == ["n", "nnz", "κ"]
    assert all(row[cost] > 0 for row in rows if "n" in row for cost in growth.COSTS)
    assert all(0 < row["iterations"] <= growth.ITERATIONS for row in rows if "n" in row)


@pytest.mark.slow
def test_memory_is_that_beside_the_codes():
    pytest.importorskip("zarr")
    rows = list(memory.memory(quick=True))
    assert [row["storage"] for row in rows] == ["npy"] * 3 + ["zarr"] * 3
    sizes = [row for row in rows if "n" in row]
    for row in sizes:
        # Codes are float32, labels are integers of eight bytes.
        assert row["codes and y MB"] == pytest.approx(row["n"] * (memory.RANK * 4 + 8) / 1e6)
        assert row["anonymous MB"] > row["before MB"] and row["scratch MB"] > 0
    key = "anonymous MB, less codes and y"
    peaks = [row[key] for row in sizes[:2]]
    assert rows[2][key] == pytest.approx(max(peaks) / min(peaks) - 1)


@pytest.mark.slow
def test_the_million_is_fitted_from_a_file_and_from_memory():
    file, exact, memory = million.million(quick=True)
    assert [row["X"] for row in (file, exact, memory)] == ["file", "NumPy, float64", "memory"]
    assert file["objective"] == pytest.approx(memory["objective"], rel=1e-5)
    assert file["s"] > 0
    assert file["passes"] == int(file["passes"]) > 2
    assert exact["relative difference"] < precision.ASKED


@pytest.mark.parametrize("classes", [2, 4], ids=["two", "four"])
def test_the_objective_by_numpy_is_the_papers(classes, monkeypatch):
    monkeypatch.setattr(planted, "BLOCK", 25)
    X, y = planted.in_memory(planted.Dense(12, 3, classes, "float64"), 60)
    model = SMFClassifier(3, xi=0.3, lam=0.7).fit(X, y)
    Y = np.eye(classes)[y][:, 1:]
    kappa = classes - 1
    beta, gamma = model.factor_coef_.T[:, -kappa:], model.intercept_[None, -kappa:]
    W = model.components_.T
    theirs = naive.objective("filter", X, Y, W, (X @ W).T, beta, gamma, 0.3, 0.7)
    assert precision.objective(model, X, y) == pytest.approx(theirs, rel=1e-10)


@pytest.mark.slow
def test_two_workers_have_the_objective_of_a_plain_process():
    pytest.importorskip("distributed")
    from benchmarks.scale.cluster import APART, cluster

    rows = {row["who"]: row for row in cluster(quick=True)}
    assert list(rows) == ["plain process", "1 worker", "2 workers", "2 workers against 1", "overhead"]
    for who in ("1 worker", "2 workers"):
        assert rows[who]["relative difference"] <= APART
    steps = rows["overhead"]
    assert steps["questions"] > steps["iterations"] > 0
    assert steps["ms a question, whole fit"] >= steps["ms a question, alone"] > 0


@pytest.mark.slow
def test_a_fit_whose_worker_is_killed_says_so_and_ends_at_the_same_objective():
    pytest.importorskip("distributed")
    from benchmarks.scale.faults import ASKED, faults

    _, row = faults(quick=True)
    assert row["relative difference"] <= ASKED
    assert row["killed"] is ("was lost" in row["said"])


@pytest.mark.slow
def test_the_gpu_figure_compares_both_types():
    pytest.importorskip("torch")
    from benchmarks.scale.gpu import QUICK, gpu

    rows = list(gpu(QUICK | {"n": 2_500}, "cpu", ("torch",)))
    assert [(row["type"], row["model"]) for row in rows] == [
        (kind, model) for model in ("filter", "feature") for kind in ("float64", "float32")
    ]
    assert all(0 < row["relative difference"] < 1e-4 for row in rows[1::2])
    assert all(row["s"] > 0 and row["certificate"].endswith(".") for row in rows[1::2])


def test_figures_are_kept_as_they_come(tmp_path, monkeypatch, capsys):
    def broken(quick):
        yield {"quick": quick}
        raise KeyboardInterrupt

    monkeypatch.setattr(precision, "precision", broken)
    out = tmp_path / "scale.json"
    with pytest.raises(KeyboardInterrupt):
        main(["scale", "precision", "--quick", "--out", str(out)])
    kept = json.loads(out.read_text())["precision"]
    assert kept["rows"] == [{"quick": True}] and kept["machine"]["cores"] > 0
    assert "precision, after 0 s" in capsys.readouterr().out
