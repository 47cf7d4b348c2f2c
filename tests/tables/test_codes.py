"""Numbers that stand for missing values, such as -999, are named, and declared by `missing`."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from tests.cli.command import QUICK, superfactor

from superfactor.datasets import load_prostate, load_t_cells
from superfactor.tables import read_study

N, P = 60, 30
HOLES = np.random.default_rng(1).random((N, P)) < 0.04


def values(kind):
    rng = np.random.default_rng(0)
    return {
        "intensities": lambda: rng.uniform(1, 50, (N, P)),
        "scores": lambda: rng.normal(size=(N, P)),
        "counts": lambda: rng.poisson(2, (N, P)),
        "sparse counts": lambda: rng.negative_binomial(0.1, 0.02, (N, P)),
        "likert": lambda: rng.integers(1, 6, (N, P)),
        "signs": lambda: rng.choice([-1, 1], (N, P)),
        "genotypes": lambda: rng.integers(-1, 2, (N, P)),
        "one-hot": lambda: rng.random((N, P)) < 0.1,
        "percentages": lambda: rng.uniform(0, 100, (N, P)).round(),
        "heavy tails": lambda: rng.pareto(1, (N, P)).round(),
    }[kind]().astype(float)


@pytest.fixture
def read(tmp_path):
    def run(X, **more):
        table = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
        table.insert(0, "kind", np.resize(["a", "b"], len(X)))
        table.to_parquet(tmp_path / "t.parquet")
        return read_study(tmp_path / "t.parquet", target="kind", **more)

    return run


def codes(study):
    return [note for note in study.notes if note.kind == "code"]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("intensities", -999), ("intensities", 9999), ("intensities", -1), ("intensities", -9),
        ("scores", -99.9), ("scores", -999), ("scores", 1e30), ("counts", -1), ("counts", 999),
        ("likert", 99), ("likert", -32768), ("one-hot", -9), ("sparse counts", -1), ("percentages", 999),
    ],
)  # fmt: skip
def test_repeated_extreme_values_are_named(kind, code, read):
    X = values(kind)
    X[HOLES] = code
    study = read(X)
    (note,) = codes(study)
    columns = HOLES.any(axis=0)
    assert note.fields["value"] == code
    assert note.fields["columns"] == [f"g{j}" for j in np.flatnonzero(columns)]
    assert note.fields["share"] == pytest.approx(HOLES[:, columns].mean())
    assert str(note).startswith(f"{code} stands in {HOLES[:, columns].mean():.1%}".replace("%", " %"))
    assert str(note).endswith(f"if it means a missing value, missing={code} declares it")
    # The fit goes on; declared, they are missing values.
    assert (study.design == code).sum() == HOLES.sum()
    declared = read(X, missing=code)
    np.testing.assert_array_equal(np.isnan(declared.design), HOLES)
    assert not codes(declared)


@pytest.mark.parametrize(
    "kind", ["intensities", "scores", "counts", "sparse counts", "likert", "signs", "genotypes", "one-hot",
             "percentages", "heavy tails"],
)  # fmt: skip
def test_ordinary_values_are_not(kind, read):
    assert codes(read(values(kind))) == []


@pytest.mark.parametrize(
    "load", [load_breast_cancer, load_diabetes, load_digits, load_wine, load_prostate, load_t_cells]
)
def test_ordinary_tables_have_none(load, read):
    data = load()
    X = data.X if hasattr(data, "X") else data.data
    assert codes(read(X.astype(float))) == []


def test_two_codes_and_gaps(read):
    X = values("scores")
    X[HOLES], X[HOLES[::-1]], X[0] = -999, 9999, np.nan
    X[:, 3] = np.where(np.arange(N) < 2, -999, np.nan)  # nothing but the code
    study = read(X)
    assert [note.fields["value"] for note in codes(study)] == [-999, 9999]
    both = read(X, missing=[-999, "9999"])
    assert codes(both) == []
    assert np.nanmax(np.abs(both.design)) < 10
    assert "g3" not in both.names  # left out, as a feature without any value


def test_sparse_values_stay_sparse(tmp_path):
    X = sp.csr_array(values("sparse counts"))
    X.data[::9] = -1
    np.savez(tmp_path / "t.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape,
             kind=np.resize(["a", "b"], N))  # fmt: skip
    study = read_study(tmp_path / "t.npz", target="kind")
    assert sp.issparse(study.design)
    (note,) = codes(study)
    assert note.fields["value"] == -1
    with pytest.raises(
        ValueError, match=r"^missing=0: the zeros of a sparse table are values; leave it out$"
    ):
        read_study(tmp_path / "t.npz", target="kind", missing=0)


def clinical():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(80, 6)), columns=[f"g{j}" for j in range(6)]).round(3)
    table["patient"] = [f"{i}" for i in range(901, 981)]  # one is called 977, and none is lost
    table["age"] = np.where(np.arange(80) % 8, rng.integers(20, 90, 80), 999)
    table["sex"] = np.resize(["F", "M", "M", "not done", "F"], 80)
    table["months"] = np.where(np.arange(80) % 10, rng.integers(1, 60, 80), -1)
    table["event"] = np.resize([0, 1, 1], 80)
    table["score"] = np.where(np.arange(80) % 16, rng.normal(50, 5, 80).round(2), -999)
    table["g5"] = np.where(np.arange(80) % 9, table["g5"].astype(str), "not done")
    return table


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_words_and_other_columns(ending, tmp_path):
    data = clinical()
    path = tmp_path / f"t.{ending}"
    data.to_csv(path, index=False) if ending == "csv" else data.to_parquet(path)
    more = {"id": "patient", "covariates": ["age", "sex"], "drop": ["event"]}
    plain = read_study(
        path, target="score", task="regression", **(more | {"drop": ["event", "g5", "months"]})
    )
    assert {note.fields["value"]: note.fields["columns"] for note in codes(plain)} == {
        999: ["age"],
        -999: ["score"],
    }
    study = read_study(path, target="score", task="regression", missing=["not done", -999, 999], **more)
    assert np.isnan(study.y).sum() == 5
    assert study.covariates["age"].isna().sum() == 10
    assert study.covariates["sex"].isna().sum() == 16
    assert np.isnan(study.X[:, study.names.index("g5")]).sum() == 9
    assert study.ids.tolist() == data["patient"].tolist()
    timed = read_study(
        path, time="months", event="event", missing=(-1, "not done"), id="patient", drop=["score", "sex"]
    )
    assert np.isnan(timed.y["time"]).sum() == 8
    again = read_study(path, like=study)  # declared once
    np.testing.assert_array_equal(again.design, study.design)
    assert not codes(again)


def test_the_command_line_shows_its_option_and_remembers_it(tmp_path):
    data = clinical()[["patient", "g0", "g1", "g2", "g3", "g4", "age"]]
    data["kind"] = np.where(data["g0"] + data["g1"] > 0, "case", "control")
    data.to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", tmp_path / "t.csv", "--target", "kind", "--id", "patient", *QUICK, "--out", tmp_path / "m")
    done = superfactor(*fit)
    line = "note: 999 stands in 12.5 % of the cells of column 'age'; if it means a missing value, "
    assert line + "--missing 999 declares it\n" in done.err
    done = superfactor(*fit, "--missing", "999,-1", "--json")
    assert done.code == 0, done
    said = json.loads(done.out)["notes"]
    assert not any("999" in line for line in said)
    assert any("1.8 % of the values are missing" in line or "2.1 % of" in line for line in said)
    new = superfactor("predict", tmp_path / "m", tmp_path / "t.csv", "--out", tmp_path / "p.csv", "--json")
    assert json.loads(new.out)["missing"]["share"] == pytest.approx(10 / 80 / 6)


def test_words_among_decimal_commas(tmp_path):
    data = clinical()[["g0", "g1", "score"]].astype(object)
    data.loc[[2, 5], "g1"] = "n.a."
    data.to_csv(tmp_path / "t.csv", sep=";", decimal=",", index=False)
    study = read_study(tmp_path / "t.csv", target="score", task="regression", missing=["n.a.", -999])
    expected = pd.to_numeric(data["g1"], errors="coerce")
    np.testing.assert_allclose(study.X[:, 1], expected)
