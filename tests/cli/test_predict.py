"""`superfactor predict`: any table that has the model's columns."""

import numpy as np
import pandas as pd
import pytest
from tests.cli.command import cohort, refused, superfactor

from superfactor import saving


@pytest.fixture
def predict(model, tmp_path):
    def run(data, *words):
        data.to_csv(tmp_path / "new.csv", index=False)
        done = superfactor("predict", model, tmp_path / "new.csv", "--out", tmp_path / "p.csv", *words)
        assert done.code == 0, done
        return pd.read_csv(tmp_path / "p.csv", dtype={0: str})

    return run


def by_hand(model, data):
    """Probabilities of the saved pipeline, its columns put together with pandas."""
    X = data.filter(like="gene").assign(**{"sex=F": data["sex"] == "F", "age": data["age"]})
    return saving.read(model).model.predict_proba(X.astype(float))


def test_one_row_per_sample_in_the_order_of_the_table(model, predict):
    data = cohort(seed=3).sample(frac=1, random_state=0)
    found = predict(data)
    assert found.columns.tolist() == [
        "patient", "predicted", "probability[normal]", "probability[tumoral]", "trained_on", "missing",
    ]  # fmt: skip
    assert found["patient"].tolist() == data["patient"].tolist()
    shares = found.filter(like="probability").to_numpy()
    np.testing.assert_allclose(shares, by_hand(model, data), rtol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    names = np.array(["normal", "tumoral"])[shares.argmax(axis=1)]
    assert found["predicted"].tolist() == names.tolist()
    assert (names == data["status"]).mean() > 0.8


def test_order_of_columns_and_further_columns_do_not_matter(predict):
    data = cohort(seed=3)
    mixed = data.sample(frac=1, axis=1, random_state=1).assign(comment="none of ours", gene99=1.0)
    pd.testing.assert_frame_equal(predict(data), predict(mixed))


def test_labels_are_not_needed(predict):
    data = cohort(seed=3)
    pd.testing.assert_frame_equal(predict(data), predict(data.drop(columns="status")))


def test_samples_without_names_are_numbered(predict):
    found = predict(cohort(n=4).drop(columns="patient"))
    assert found.columns[0] == "row"
    assert found["row"].tolist() == ["1", "2", "3", "4"]


def test_another_column_of_names(predict):
    data = cohort(n=3).rename(columns={"patient": "biopsy"})
    assert predict(data, "--id", "biopsy")["biopsy"].tolist() == ["P000", "P001", "P002"]


def test_names_stay_as_they_are_written(predict):
    assert predict(cohort(n=2).assign(patient=["007", "1e5"]))["patient"].tolist() == ["007", "1e5"]


def test_one_sample(predict):
    assert len(predict(cohort().iloc[:1])) == 1


def test_tab_separated_files(model, table, tmp_path):
    superfactor("predict", model, table, "--out", tmp_path / "p.tsv")
    assert pd.read_csv(tmp_path / "p.tsv", sep="\t").shape == (40, 6)


def test_json(model, table, tmp_path):
    done = superfactor("predict", model, table, "--out", tmp_path / "p.csv", "--json")
    assert done.err == ""
    assert done.json["samples"] == sum(done.json["predicted"].values()) == 40
    assert done.json["trained_on"] == {"yes": 30}
    assert "the model was trained on 30 of these 40 samples" in done.json["notes"][0]
    assert done.json["files"] == {"predictions": str(tmp_path / "p.csv")}


def test_quiet(model, table, tmp_path):
    done = superfactor("predict", model, table, "--out", tmp_path / "p.csv", "-q")
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda d: d.drop(columns=[f"gene{j}" for j in range(12)]),
            "12 of the model's 14 columns are missing: 'gene0', 'gene1', 'gene2', 'gene3', 'gene4' and 7",
        ),
        (lambda d: d.drop(columns="sex"), "columns is missing: 'sex'"),
        (
            lambda d: d.assign(sex=["F", "X"] * 20),
            "covariate 'sex' is 'X' at sample P001 (line 3); the model knows 'F', 'M'",
        ),
        (
            lambda d: d.assign(age=["50", "old"] * 20),
            "'old' is not a number, at sample P001 (line 3), column 'age' (and 19 more such cells)",
        ),
        (
            lambda d: d.assign(gene4=["inf"] + [1.0] * 39),
            "a value out of range (inf) at sample P000 (line 2), column 'gene4'",
        ),
    ],
    ids=["columns", "covariate", "level", "word", "infinite"],
)
def test_tables_that_do_not_fit(change, message, model, tmp_path):
    change(cohort()).to_csv(tmp_path / "new.csv", index=False)
    line = refused("predict", model, tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert message in line
    assert str(tmp_path / "new.csv") in line
    assert not (tmp_path / "p.csv").exists()


def test_unknown_column_of_names(model, table, tmp_path):
    line = refused("predict", model, table, "--id", "patients", "--out", tmp_path / "p.csv")
    assert "--id: there is no column 'patients'; did you mean 'patient'?" in line


# --- samples the model was trained on -------------------------------------------------------------


def names_of(model):
    return set(saving.read(model).about["training_ids"].tolist())


def test_training_samples_are_marked(model, predict):
    found = predict(cohort()).set_index("patient")["trained_on"]
    expected = {name: "yes" if name in names_of(model) else "no" for name in found.index}
    assert found.to_dict() == expected
    assert set(expected.values()) == {"yes", "no"}


def test_training_samples_are_found_by_their_values(model, predict):
    data = cohort()
    seen = data["patient"].isin(names_of(model))
    order = np.random.default_rng(0).permutation(len(data))
    for changed in (
        data.drop(columns="patient"),
        data.assign(patient=[f"new{i}" for i in range(40)]).sample(frac=1, axis=1, random_state=1),
        data.iloc[order],
    ):
        found = predict(changed)["trained_on"]
        assert (found == "yes").tolist() == seen.loc[changed.index].tolist()
        assert set(found) == {"yes", "no"}


def test_names_of_training_samples_with_other_values(model, table, tmp_path):
    data = cohort(seed=3)
    data.to_csv(tmp_path / "new.csv", index=False)
    done = superfactor("predict", model, tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    found = pd.read_csv(tmp_path / "p.csv").set_index("patient")["trained_on"]
    assert set(found[found == "same name"].index) == names_of(model)
    assert set(found) == {"same name", "no"}
    assert done.err.startswith("note: 30 of these 40 samples have the name of a training sample and")


def test_row_numbers_are_not_names(predict):
    assert set(predict(cohort(seed=3).drop(columns="patient"))["trained_on"]) == {"no"}


def test_eight_bytes_per_training_sample(model):
    rows = saving.read(model).about["training_rows"]
    assert (rows.shape, rows.dtype, len(set(rows.tolist()))) == ((30,), np.uint64, 30)
