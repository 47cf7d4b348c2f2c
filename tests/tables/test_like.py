"""Read new samples in the columns of a study: other formats, empty cells, other names of columns."""

import numpy as np
import pandas as pd
import pytest
from tests.tables.cohort import GENES, ROLES, cohort, said

from superfactor import SMFClassifierCV
from superfactor.tables import TableError, read_study

NEW = cohort(seed=7).assign(patient=[f"Q{i}" for i in range(40)])


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "t.csv"
    cohort().to_csv(path, index=False)
    return read_study(path, **ROLES)


@pytest.mark.parametrize("order", ["as it was", "shuffled, with more"])
def test_columns_are_those_of_the_study(order, study, read):
    data = NEW if order == "as it was" else NEW[sorted(NEW)].assign(more="words")
    for like in (study, study.record):
        new = read(data, like=like)
        np.testing.assert_array_equal(new.X, NEW[GENES])
        np.testing.assert_array_equal(new.design[:, 12], NEW["sex"] == study.encoding["sex"][1])
        assert new.ids.tolist() == NEW["patient"].tolist()
        assert (new.y, new.notes, new.names) == (None, (), study.names)


@pytest.mark.parametrize(
    ("change", "parameters", "message"),
    [
        (lambda d: d.drop(columns=["sex", "age"]), {}, "2 of the model's 14 columns are missing: 'sex'"),
        (lambda d: d.drop(columns=GENES), {}, "12 of the model's 14 columns are missing: 'gene0'"),
        (lambda d: d.assign(sex="X"), {}, "covariate 'sex' is 'X' at sample Q0 (line 2); the model knows"),
        (lambda d: d, {"id": "name"}, "id: there is no column 'name'"),
        (lambda d: d.drop(columns="status"), {"target": "status"}, "the one that holds it with target"),
        (lambda d: d, {"target": "diagnosis"}, "with the outcome is missing; add it, or name"),
        (
            lambda d: d.assign(status="?"),
            {"target": "status"},
            "holds '?'; the classes of the model are normal, tumoral",
        ),
    ],
    ids=["columns", "features", "level", "names", "labels", "other-labels", "class"],
)
def test_invalid_input(change, parameters, message, study, read):
    with pytest.raises(TableError) as caught:
        read(change(NEW), like=study, **parameters)
    assert message in str(caught.value)


def test_unknown_level_is_refused_and_names_all_files(study, read, tmp_path):
    people = NEW.assign(sex="X")[["patient", "sex", "age"]]
    with pytest.raises(TableError) as caught:
        read(NEW[["patient", *GENES]], people, like=study)
    assert f"{tmp_path / 't.csv'} + {tmp_path / 'people.csv'}: covariate 'sex' is 'X'" in str(caught.value)
    assert "use one of these, leave the cell empty, or leave such samples out" in str(caught.value)


def test_empty_covariates_in_new_samples(study, read):
    frequent, middle = study.encoding["sex"][0], study.encoding["age"][0]
    new = read(NEW.assign(sex=[None, "NA", *NEW["sex"][2:]], age=NEW["age"].where(NEW.index > 0)), like=study)
    assert new.design[:2, 12].tolist() == [0, 0]
    assert new.design[0, 13] == middle
    assert said(new) == [
        "covariate 'sex' is empty for 2 sample(s), the first at sample Q0 (line 2): fewer than 5 training "
        "samples had an empty cell, too few for an indicator, so the most frequent level "
        f"{frequent!r} is used",
        "covariate 'age' is empty for 1 sample(s), the first at sample Q0 (line 2): fewer than 5 training "
        f"samples had an empty cell, too few for an indicator, so the median {middle:g} is used",
    ]


def test_models_of_earlier_versions_keep_their_reference_level(study, read):
    """The first level is the reference; numbers without a median allow no missing values."""
    about = study.record | {"covariates": {"sex": ["(empty)", "F", "M"], "age": []}}
    new = read(NEW.assign(sex=[None, "F", "M", *NEW["sex"][3:]]), like=about)
    np.testing.assert_array_equal(new.design[:3, 12:14], [[0, 0], [1, 0], [0, 1]])
    assert new.column_names[12:] == ("sex=F", "sex=M", "age")
    with pytest.raises(TableError, match="a missing value at sample Q0"):
        read(NEW.assign(age=NEW["age"].where(NEW.index > 0)), like=about)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_levels_that_all_look_like_numbers(ending, read, tmp_path):
    levels = ["20230101", "20230102", "pilot", ""]
    data = cohort().drop(columns="sex").assign(batch=levels * 10)
    study = read(data, target="status", id="patient", covariates=["batch", "age"], adjust=["batch"])
    # pandas reads them as 20230101.0 if others are missing.
    part = data[data["batch"] != "pilot"].assign(batch=lambda d: pd.to_numeric(d["batch"]))
    path = tmp_path / f"new.{ending}"
    part.to_csv(path, index=False) if ending == "csv" else part.to_parquet(path)
    np.testing.assert_array_equal(read_study(path, like=study).design, study.design[part.index])


def test_new_and_missing_batches(read):
    data = cohort(n=60).assign(batch=np.array(["May", "June", "July"])[np.arange(60) % 3])
    study = read(data, **ROLES, adjust="batch")
    new = read(data.assign(batch=data["batch"].replace("July", "August")), like=study)
    assert np.isnan(new.design[:, 14:]).all(axis=1).tolist() == (data["batch"] == "July").tolist()
    assert any("'batch' is empty or an unknown level for 20 of 60" in line for line in said(new))
    new = read(data.drop(columns="batch"), like=study)
    assert any(
        "no column 'batch', for which the model is adjusted: the features of all" in line
        for line in said(new)
    )


def test_names_of_samples(study, read):
    new = read(NEW.drop(columns="patient"), like=study)
    assert new.ids.tolist() == [str(i) for i in range(1, 41)]
    assert said(new) == ["no column 'patient' with sample names: rows are numbered; id names another column"]
    new = read(NEW.rename(columns={"patient": ""})[["", *NEW.columns[1:]]], like=study)
    assert (new.roles.id, new.ids[0], new.notes) == ("row name", "Q0", ())
    new = read(NEW.rename(columns={"patient": "person"}), like=study, id="person")
    assert new.ids.tolist() == NEW["patient"].tolist()


def test_labels_from_another_column_or_with_another_spelling(study, read):
    table = NEW.assign(status=NEW["status"].where(NEW.index > 4, "?"))
    new = read(table.rename(columns={"status": "diagnosis"}), like=study, target="diagnosis", unlabeled="?")
    assert new.y.tolist() == [None] * 5 + NEW["status"].tolist()[5:]
    numbers = read(cohort(classes=("0", "1")), target="status", id="patient", drop=["sex", "age"])
    floats = cohort(classes=("0.0", "1.0"))
    assert read(floats, like=numbers, target="status").y.tolist() == [0, 1] * 20


def test_missing_values_are_left_to_the_model(study, read):
    new = read(NEW.assign(gene3=NEW["gene3"].where(NEW.index > 2)), like=study)
    assert (new.gaps.impute, new.missing[:4].tolist()) == ("factors", [1 / 12] * 3 + [0])
    assert said(new) == ["0.6 % of the values are missing and filled in from the factors of the model"]
    assert np.flatnonzero(np.isnan(new.design).any(axis=1)).tolist() == [0, 1, 2]


def test_absent_features_are_missing_values(study, read):
    gone = NEW.drop(columns=["gene3", "gene7"])
    new = read(gone, like=study)
    assert np.flatnonzero(np.isnan(new.design).all(axis=0)).tolist() == [3, 7]
    assert (new.gaps.absent, new.gaps.share, new.missing[0]) == (("gene3", "gene7"), 0.0, 2 / 12)
    assert said(new) == [
        "2 of the model's 12 features are absent and filled in from the factors of the model: "
        "'gene3', 'gene7'"
    ]
    new = read(gone.assign(gene0=gone["gene0"].where(NEW.index > 3)), like=study)
    assert new.gaps.share == 4 / 400
    assert said(new)[1].startswith("1.0 % of the values are missing")
    search = SMFClassifierCV(2, xi=0.1, lam=1.0, cv=2, **study.search_options()).fit(study.design, study.y)
    with pytest.warns(
        UserWarning, match="X: 84 of 480 values are missing, in 40 of 40 samples; SMFClassifier"
    ):
        assert search.predict(new.design).shape == (40,)


@pytest.mark.parametrize("like", [3, {}, {"covariates": None}], ids=str)
def test_other_objects_than_a_record_are_refused(like):
    with pytest.raises(TypeError, match=r"like=\w+: a Study is required, or superfactor"):
        read_study("new.csv", like=like)
