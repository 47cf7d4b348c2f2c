"""Data checks: identifiers, raw intensities and copies of the target are noted, and nothing else is."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from tests.tables.cohort import cohort, said

from superfactor.tables.columns import checks
from superfactor.tables.columns.checks import about_copies, about_intensities, identifiers

N = 60
RNG = np.random.default_rng(0)
SHUFFLED = RNG.permutation(N)


def found(**columns):
    frame = pd.DataFrame(columns).astype(float)
    return identifiers(list(frame), frame.to_numpy())


@pytest.mark.parametrize(
    "values",
    [np.arange(N), SHUFFLED, SHUFFLED + 1, 14305 + np.arange(N)[::-1]],
    ids=["from-0", "shuffled", "from-1", "from-anywhere"],
)
def test_consecutive_integers_are_identifiers(values):
    assert found(gene=RNG.normal(size=N), x=values, count=RNG.poisson(9, N)) == ["x"]


@pytest.mark.parametrize(
    "name", ["id", "ID", "patient", "Patient_ID", "patientId", "job_id", "sample no.", "Unnamed: 0", "index"]
)
def test_names_of_identifiers(name):
    accession = 3_000_000 + 7 * SHUFFLED
    assert found(**{name: accession}) == [name]
    # Every patient occurs four times.
    assert found(**{name: accession[np.arange(N) // 4]}) == [name]
    assert found(**{name: np.arange(N) % 3}) == []
    assert found(**{name: accession + 0.5}) == []


@pytest.mark.parametrize("name", ["ID1", "ID2", "NID", "acid", "index_of_refraction", "age", "rowan"])
def test_distinct_integers_with_other_names_are_features(name):
    assert found(**{name: 3_000_000 + 7 * SHUFFLED}) == []


def test_counts_are_not_identifiers():
    words = RNG.poisson(30, size=(N, 500)).astype(float)
    assert identifiers([f"word{j}" for j in range(500)], words) == []
    assert identifiers(["x"], np.arange(5.0)[:, None]) == []  # too few samples


@pytest.mark.parametrize("load", [load_digits, load_breast_cancer, load_wine, load_diabetes])
def test_real_tables_have_no_identifiers_or_intensities(load):
    data = load(as_frame=True).data
    assert identifiers(list(data), data.to_numpy(float)) == []
    assert about_intensities(np.tile(data.to_numpy(float), (1, 20))) == []


def test_identifier_note_names_the_remedies(read):
    data = cohort().assign(**{"chip no": np.arange(40)})
    expected = (
        "column 'chip no' looks like an identifier and is used as a feature: drop='chip no' leaves it out"
    )
    roles = {"target": "status", "drop": ["sex"]}
    assert said(read(data, **roles, id="patient")) == [expected]
    data = data.drop(columns="patient")
    assert said(read(data, **roles)) == [f"{expected}, id='chip no' uses it as sample names"]
    assert said(read(data, **roles, id="chip no")) == []


# --- intensities ----------------------------------------------------------------------------------


def intensities(n=80, p=600):
    """Raw intensities of genes around different levels."""
    return np.exp2(RNG.normal(RNG.normal(6, 2, size=p), 1.2, size=(n, p)))


LIKE_EXPRESSION = {
    "intensities": intensities(),
    "background-corrected": intensities() - 30,
    "reads": RNG.poisson(intensities()).astype(float),
}
UNLIKE = {
    "logarithms": np.log2(intensities()),
    "few-columns": intensities(p=150),
    "centred": intensities() - intensities().mean(axis=0),
    "words": RNG.poisson(np.exp(RNG.normal(-3, 2, size=600)), size=(80, 600)) * 40.0,
    "pixels": np.where(RNG.random((80, 600)) < 0.8, 0.0, RNG.integers(1, 256, (80, 600))),
    "photographs": RNG.integers(0, 256, (80, 600)).astype(float),
    "units-of-their-own": RNG.normal(5, 1, (80, 600)) * 10.0 ** RNG.uniform(-2, 5, 600),
}


@pytest.mark.parametrize("kind", LIKE_EXPRESSION)
def test_expression_without_logarithm_is_noted(kind):
    values = LIKE_EXPRESSION[kind]
    (note,) = about_intensities(values)
    assert str(note) == f"values reach {values.max():,.0f} with a long tail: log2=True may help"
    assert about_intensities(np.log2(np.maximum(values, 1))) == []


@pytest.mark.parametrize("kind", UNLIKE)
def test_other_data_are_not_noted(kind):
    assert about_intensities(UNLIKE[kind]) == []


def test_intensities_of_many_samples():
    values = intensities(5000, 300)
    assert len(about_intensities(values)) == 1
    assert about_intensities(np.log2(np.maximum(values, 1))) == []


# --- copies ---------------------------------------------------------------------------------------


def test_copies_are_found_in_every_chunk_of_columns(monkeypatch):
    values, y = RNG.normal(size=(50, 30)), RNG.normal(size=(50, 1))
    y[7] = np.nan
    values[:, [4, 23]] = 3 * y + 1
    values[7, [4, 23]] = 0.0
    names = [f"g{j}" for j in range(30)]
    whole = [str(note) for note in about_copies(names, values, y, ["dose"])]
    assert [line.split("'")[1] for line in whole] == ["g4", "g23"]
    monkeypatch.setattr(checks, "_ENTRIES", 200)
    assert [str(note) for note in about_copies(names, values, y, ["dose"])] == whole
