"""Read one table as a study: X, y and the other attributes, errors and notes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.tables.cohort import GENES, ROLES, cohort, said

from superfactor import SMFClassifier, SMFClassifierCV
from superfactor.preprocessing import Adjuster, LowRankImputer
from superfactor.tables import TableError, read_study
from superfactor.tables.notes import Setting

LABELS = {"target": "status", "id": "patient", "drop": ["sex", "age"]}


def test_a_table_becomes_a_study(read):
    data = cohort()
    study = read(data, **ROLES)
    np.testing.assert_array_equal(study.X, data[GENES])
    np.testing.assert_array_equal(study.y, data["status"])
    assert study.names == tuple(GENES)
    assert study.ids.tolist() == data["patient"].tolist()
    reference, other = data["sex"].value_counts().index
    assert study.encoding["sex"] == [reference, other]
    assert study.model_names[12:] == study.covariate_names == (f"sex={other}", "age")
    np.testing.assert_array_equal(study.design[:, 12], data["sex"] == other)
    np.testing.assert_array_equal(study.design[:, 13], data["age"])
    assert study.covariates["sex"].tolist() == data["sex"].tolist()
    assert (study.notes, study.gaps, study.confounders, study.groups) == ((), None, None, None)
    grouped = read(data, **LABELS | {"drop": "age"}, group="sex", log2=True)
    assert grouped.groups.tolist() == data["sex"].tolist()
    np.testing.assert_allclose(grouped.X, np.log2(np.maximum(data[GENES], 1)))


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (
            lambda d: d.assign(gene3=["oops", *d["gene3"][1:]]),
            "cells",
            "'oops' is not a number, at sample P000 (line 2), column 'gene3'",
        ),
        (
            lambda d: d.assign(gene3=["?", "1,5", *d["gene3"][2:]]),
            "cells",
            "'?' is not a number, at sample P000 (line 2), column 'gene3' (and 1 more such cell)",
        ),
        (
            lambda d: d.assign(gene3=["-inf", *d["gene3"][1:]]),
            "cells",
            "a value out of range (-inf) at sample P000 (line 2), column 'gene3'",
        ),
        (
            lambda d: d.assign(centre="Lyon", batch="b"),
            "cells",
            "no numbers in columns 'centre', 'batch'; leave out with drop, or give their role with id, "
            "covariates or adjust; numeric columns without a role are features",
        ),
        (lambda d: d.assign(status="normal"), "labels", "column 'status' has only one class, 'normal'"),
        (lambda d: d.assign(status=None), "labels", "column 'status' is empty for all 40 samples"),
        (
            lambda d: cohort(n=60).assign(status=[f"s{i}" for i in range(60)]),
            "labels",
            "has 60 different values",
        ),
        (
            lambda d: d.assign(status=["TUMOR", "tumor ", "Tumor", "normal"] * 10),
            "labels",
            "'TUMOR', 'Tumor' and 'tumor' differ only in case or blanks; write them alike",
        ),
        (lambda d: d.drop(columns="status"), "roles", "phenotype='FILE' reads labels from a separate"),
        (lambda d: d.rename(columns={"status": "state"}), "roles", "'status'; did you mean 'state'?"),
        (lambda d: d.rename(columns={"age": "Age"}), "roles", "covariates: there is no column 'age'; did"),
        (lambda d: d.filter(regex="patient|status|sex|age"), "roles", "no columns are left to factorize"),
        (lambda d: d.assign(sex="F"), "covariates", "t.csv: covariate 'sex' is 'F' for every sample"),
        (lambda d: d.assign(sex=[*"fF", *d["sex"][2:]]), "covariates", "differ only in case or blanks"),
        (
            lambda d: cohort(n=60).assign(sex=[f"level {i}" for i in range(60)]),
            "covariates",
            "covariate 'sex' has 60 different values; at most 50",
        ),
        (lambda d: d.assign(age=["unknown", *d["age"][1:] + 0.5]), "cells", "'unknown' is not a number"),
        (lambda d: d.rename(columns={"gene0": "sex=F", "gene1": "sex=M"}), "covariates", "a second column"),
        (lambda d: d.assign(**dict.fromkeys(GENES)), "cells", "no feature has any value"),
        (lambda d: d.iloc[:0], "file", "no samples below the header"),
    ],
)
def test_bad_tables_are_refused(change, kind, message, read):
    with pytest.raises(TableError) as caught:
        read(change(cohort()), **ROLES)
    assert message in str(caught.value)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "target is required, the column with the labels, or time and event; the columns are 'patient',"),
        ({**LABELS, "covariates": "sex"}, "column 'sex' is given both as covariates and as drop"),
        ({**LABELS, "adjust": "site"}, "adjust: there is no column 'site'"),
        ({**LABELS, "adjust": "status"}, "given both as target and as adjust"),
        ({**LABELS, "impute": "x"}, "impute='x': lowrank, mean or none is required"),
        ({**LABELS, "layout": "x"}, "layout='x': auto, samples or features is required"),
        (
            {**LABELS, "min_class": 30},
            "no class has 30 samples or more; two are required: leave out min_class or",
        ),
    ],
)
def test_bad_parameters_are_refused(parameters, message, read):
    with pytest.raises(TableError) as caught:
        read(cohort(), **parameters)
    assert message in str(caught.value)


def test_missing_files_and_groups_are_refused(read):
    with pytest.raises(TableError, match="files or blocks: a table is required"):
        read_study(target="status")
    data = cohort().assign(family=lambda d: d["sex"].where(d.index > 2))
    with pytest.raises(TableError, match="group='family': empty for 3 of 40 samples"):
        read(data, **LABELS, group="family")


def test_messages_with_settings_in_other_words(read):
    with pytest.raises(TableError) as caught:
        read(cohort().assign(centre="Lyon"), **LABELS)
    line = caught.value.said(lambda setting: f"<{setting.name}>")
    assert "leave out with <drop>, or give their role with <id>, <covariates> or <adjust>;" in line
    (note,) = read(cohort().assign(no=range(40)), **LABELS).notes
    assert (note.kind, note.fields) == ("identifier", {"column": "no"})
    assert note.parts[1] == Setting("drop", "no")


# --- labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        (("1_0", "1_1"), None),
        (("007", "8"), None),
        (("+1", "-1"), None),
        (("9", "10"), [9, 10]),
        (("0.0", "1.0"), [0, 1]),
        (("9007199254740993", "9007199254740995"), [9007199254740993, 9007199254740995]),
        (("99999999999999999998", "99999999999999999999"), None),
        (("inf", "1"), None),
        (("1", "1.0"), None),
    ],
    ids=lambda value: "-".join(map(str, value)) if value else "",
)
def test_labels_keep_their_spelling(classes, expected, read):
    study = read(cohort(classes=classes), **LABELS)
    assert study.y.tolist() == list(expected or classes) * 20
    again = read(cohort(classes=classes), like=study, target="status")
    assert again.y.tolist() == study.y.tolist()


def test_samples_without_a_label(read):
    data = cohort().assign(status=lambda d: d["status"].where(d.index > 5, "?"))
    study = read(data.assign(no=1.5), **LABELS)
    assert said(study) == [
        "the label '?' of 6 samples is taken as a class, but looks like a missing label: unlabeled='?' "
        "treats it as missing"
    ]
    study = read(data, **LABELS, unlabeled="?")
    assert study.y[:6].tolist() == [None] * 6
    assert study.labeled.tolist() == [False] * 6 + [True] * 34
    assert said(study) == ["6 of 40 samples have no label: they contribute to the factors and are predicted"]
    assert said(read(cohort(), **LABELS, unlabeled="-1")) == ["unlabeled='-1': no label is '-1'"]


def test_rare_classes(read):
    data = cohort()
    data.loc[[0, 1], "status"], data.loc[2, "status"] = "odd", "lone"
    study = read(data, **LABELS, min_class=3)
    assert (study.rare, len(study.y), study.X.shape) == ({"lone": 1, "odd": 2}, 37, (37, 12))
    assert said(study) == ["2 classes with fewer than 3 samples left out: 'lone' (1), 'odd' (2)"]
    assert study.ids.tolist() == data["patient"].tolist()[3:]
    again = read(data, like=study, target="status")
    assert again.y.tolist() == study.y.tolist()
    assert "3 samples left out, of classes that the fit left out: 'lone', 'odd'" in said(again)
    families = cohort(classes=("a", "b", "c"))
    families["family"] = np.where(families["status"] == "c", "f", families["patient"])
    assert read(families, **LABELS, group="family", min_class=3).rare == {"c": 1}


# --- covariates, confounders, missing values ----------------------------------------------------------------


def fitted(study):
    """The objective of a fit with the study's own preprocessing."""
    search = SMFClassifierCV(2, xi=0.1, lam=1.0, cv=2, certify=None, **study.search_options())
    return search.fit(study.design, study.y).best_estimator_[-1].objective_


def by_hand(X, y, *steps, covariates):
    model = SMFClassifier(2, xi=0.1, lam=1.0, covariate_columns=covariates, certify=None)
    return make_pipeline(*steps, StandardScaler(), model).fit(X, y)[-1].objective_


def test_empty_covariates(read):
    data = cohort()
    data["age"] = data["age"].where(data.index % 5 > 0)
    data["sex"] = data["sex"].where(data.index > 4, "NA")
    study = read(data, **ROLES)
    middle = data["age"].median()
    assert study.encoding["age"] == [middle, "missing"]
    assert study.encoding["sex"][-1] == "(empty)"
    assert said(study) == [
        "covariate 'sex': empty cells are a separate level",
        f"covariate 'age': empty cells are replaced by the median {middle:g} and marked in the column "
        "age=missing",
    ]
    np.testing.assert_array_equal(study.design[:, -1], data.index % 5 == 0)
    np.testing.assert_array_equal(study.design[:, -2], data["age"].fillna(middle))
    np.testing.assert_array_equal(study.design[:, 13], data.index < 5)


def batches(words=("May", "June", "July"), **more):
    data = cohort(n=60)
    data[GENES] += np.random.default_rng(1).normal(scale=4, size=(3, 12))[np.arange(60) // 2 % 3]
    return data.assign(batch=np.array(words)[np.arange(60) // 2 % 3], **more)


def test_confounders_are_removed_as_by_adjuster(read):
    data = batches()
    roles = {"target": "status", "id": "patient", "drop": "sex", "covariates": "age", "adjust": "batch"}
    study = read(data, **roles)
    X = data[[*GENES, "age", "batch"]]
    expected = by_hand(X, data["status"], Adjuster("batch", keep=["age"]), covariates=[12])
    assert fitted(study) == pytest.approx(expected, rel=1e-9)
    assert study.column_names[13:] == ("adjust:batch=July", "adjust:batch=June", "adjust:batch=May")
    assert study.confounders["batch"].tolist() == data["batch"].tolist()
    numbered = read(batches((1, 2, 3)), **roles)
    assert said(numbered) == ["adjust='batch': 3 different integers, taken as categories"]
    assert fitted(numbered) == pytest.approx(expected, rel=1e-9)
    both = read(data, **roles | {"covariates": "batch", "drop": ["sex", "age"]})
    assert (len(both.covariate_names), list(both.levels)) == (2, ["batch"])
    assert read(data, **roles | {"adjust": "gene0", "drop": ["sex", "batch"]}).levels == {"gene0": []}


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (lambda d: "May", "'May' for every sample; there is nothing to adjust for"),
        (lambda d: d["patient"], "60 different values; at most 50 levels, or numbers, are possible"),
        (lambda d: d["status"], "adjust='batch': every level has only one label"),
        (lambda d: np.where(d.index, "a", "b"), "adjust='batch': only one sample of 'b'; adjusting removes"),
        (lambda d: d["sex"].where(d.index > 3), "'batch' is empty or an unknown level for 4 of 60"),
    ],
    ids=["one", "many", "labels", "alone", "unknown"],
)
def test_notes_and_errors_about_batches(batch, message, read):
    data = cohort(n=60).assign(batch=batch)
    try:
        lines = said(read(data, **LABELS, adjust="batch"))
    except TableError as error:
        lines = [str(error)]
    assert any(message in line for line in lines)


def with_missing_values():
    """The cohort with missing values, one empty feature and one sample that is mostly missing."""
    data = cohort()
    data[GENES] = data[GENES].mask(np.random.default_rng(0).random((40, 12)) < 0.05)
    data["gene5"] = np.nan
    data.loc[7, ["gene0", *GENES[6:]]] = np.nan
    return data


@pytest.mark.parametrize("impute", ["lowrank", "mean"])
def test_missing_values_are_imputed(impute, read):
    data = with_missing_values()
    study = read(data, **ROLES, impute=impute)
    X = data[[g for g in GENES if g != "gene5"]]
    share = X.isna().to_numpy().mean()
    assert study.gaps.as_dict() == {
        "share": pytest.approx(share),
        "impute": impute,
        "features_without_values": ["gene5"],
        "samples_missing_half": ["P007"],
        "features_absent": [],
        "absent_weight": None,
    }
    how = {"lowrank": "a low-rank fit", "mean": "means of the features"}[impute]
    assert said(study) == [
        "1 feature without any value left out: 'gene5'",
        f"{100 * share:.1f} % of the values are missing and filled in by {how}",
        "1 of 40 samples miss more than half of the features: 'P007'; results for them are uncertain",
    ]
    np.testing.assert_allclose(study.missing, X.isna().mean(axis=1))
    steps = LowRankImputer(passthrough_columns=[11, 12]) if impute == "lowrank" else SimpleImputer()
    design = np.hstack([X, study.design[:, 11:]])
    expected = by_hand(design, data["status"], steps, covariates=[11, 12])
    assert fitted(study) == pytest.approx(expected, rel=1e-9)
    # With confounders the same steps are a pipeline.
    batch = np.arange(40) // 2 % 2
    steps = read(data.assign(batch=batch), **ROLES, adjust="batch", impute=impute).search_options()
    assert [name for name, _ in steps["preprocess"].steps] == ["imputer", "adjuster", "scaler"]


def test_missing_values_are_refused(read):
    data = with_missing_values()
    row, column = np.argwhere(data[GENES].isna())[0]
    with pytest.raises(TableError) as caught:
        read(data, **ROLES, impute="none")
    where = f"a missing value at sample P{row:03} (line {row + 2}), column 'gene{column}'"
    assert where in str(caught.value) and "impute='lowrank' fills it in" in str(caught.value)


def test_columns_are_only_centered(read):
    options = read(cohort(), **ROLES).search_options(standardize=False)
    assert options == {"impute": "lowrank", "preprocess": "center", "covariate_columns": [12, 13]}


def test_several_sheets_need_a_choice(tmp_path):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        cohort().drop(columns="status").to_excel(book, sheet_name="cover", index=False)
        cohort().to_excel(book, sheet_name="values", index=False)
    with pytest.raises(TableError, match=r"it has the sheets 'cover', 'values'; choose one with sheet$"):
        read_study(tmp_path / "book.xlsx", **LABELS)
    assert len(read_study(tmp_path / "book.xlsx", **LABELS, sheet="values").y) == 40


def test_rows_returns_all_rows_without_copy(read):
    study = read(cohort(), **ROLES)
    assert study.rows(np.arange(40)) is study.design
    for positions in (np.arange(39), np.arange(40)[::-1], [3, 1]):
        np.testing.assert_array_equal(study.rows(positions), study.design[positions])
