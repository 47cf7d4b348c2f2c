"""`superfactor fit`: held against scikit-learn and the library itself, given the same samples."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from tests.cli.command import QUICK, SETTING, cohort, refused, roles, superfactor

from superfactor import SMFClassifierCV, saving
from superfactor.cli.output.out_of_fold import recorded
from superfactor.interpretation import covariate_effects
from superfactor.selection.rows import blocks


def test_says_what_it_did(table, tmp_path):
    done = superfactor("fit", table, *roles(), *QUICK, "--out", tmp_path / "m.skops")
    assert done.code == 0, done
    assert done.err == ""
    for words in (
        "40 (normal: 20, tumoral: 20)",
        "30 samples; the other 10 are held out",
        "12, standardized",
        "sex, age",
        "filter, rank 2, xi 0.1, lam 1",
        "5-fold cross-validation of 1 setting:",
        "log-odds of tumoral",
        "gene0",
        "On 10 held-out samples: accuracy",
        "global optimum",
        "m.skops",
    ):
        assert words in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_is_the_library_on_the_same_samples(table, tmp_path):
    options = ("--rank", "2,3", "--seed", "5", "--no-standardize", "--balance", "--json")
    options += ("--test-size", "0.25", "--repeats", "0", "--no-stable")
    done = superfactor(
        "fit", table, "--target", "status", "--drop", "sex,age,patient", *options,
        "--out", tmp_path / "m.skops",
    )  # fmt: skip
    data = cohort()
    X, y = data.filter(like="gene").to_numpy(), data["status"].to_numpy(dtype=str)
    train, test = train_test_split(np.arange(40), test_size=0.25, stratify=y, random_state=5)
    train, test = np.sort(train), np.sort(test)
    search = SMFClassifierCV(
        [2, 3],
        preprocess="center",
        cv=StratifiedKFold(5, shuffle=True, random_state=5),
        class_weight="balanced",
        random_state=5,
    ).fit(X[train], y[train])
    told = done.json
    assert {k: told["params"][k] for k in search.best_params_} == search.best_params_
    assert told["params"]["preprocess"] == "center"
    assert told["params"]["class_weight"] == "balanced"
    assert told["selection"]["log_likelihood"] == search.best_score_
    right = accuracy_score(y[test], search.predict(X[test]))
    assert told["scores"]["held_out"]["accuracy"] == right
    assert told["scores"]["held_out"]["samples"] == 10
    assert told["certificate"]["statement"] == search.best_estimator_[-1].certificate_.statement
    loaded = saving.read(tmp_path / "m.skops")
    named = data.filter(like="gene")
    np.testing.assert_array_equal(loaded.model.predict_proba(named), search.predict_proba(X))


def test_json_has_all_a_script_needs(table, tmp_path):
    out, page = tmp_path / "m.skops", tmp_path / "r.html"
    done = superfactor(
        "fit", table, *roles(), *QUICK, "--stability", "3", "--out", out, "--report", page, "--json"
    )  # fmt: skip
    assert done.err == ""
    told = done.json
    assert told["files"] == {"model": str(out), "report": str(page)}
    assert told["table"]["classes"] == {"normal": 20, "tumoral": 20}
    assert told["table"]["covariates"] == ["sex=F", "age"]
    assert told["params"]["n_components"] == 2
    assert told["certificate"]["is_global"] in (True, False)
    assert len(told["factors"]) == len(told["stability"]) == 2
    best = max(told["factors"][0]["high"], key=lambda feature: feature["weight"])
    assert best["feature"] == "gene0"
    assert set(told["versions"]) > {"superfactor", "numpy", "scikit-learn"}
    assert {"read", "select and fit", "save", "report", "total"} <= set(told["seconds"])
    assert told["command"].startswith("superfactor fit ")
    assert told["scores"]["held_out"]["roc_auc"] > 0.5


def test_quiet_prints_nothing(table, tmp_path):
    done = superfactor("fit", table, *roles(), *QUICK, "--out", tmp_path / "m.skops", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "m.skops").stat().st_size > 0


def test_all_samples_without_held_out_ones(table, tmp_path):
    done = superfactor("fit", table, *roles(), *QUICK, "--test-size", "0", "--out", tmp_path / "m.skops")
    assert "all samples" in done.out
    assert "optimistic; there is no evaluation" in " ".join(done.out.split())
    assert len(saving.read(tmp_path / "m.skops").about["training_ids"]) == 40


def test_cumida_needs_no_options(tmp_path):
    data = cohort().drop(columns=["sex", "age"])
    data = data.rename(columns={"patient": "samples", "status": "type"})
    data.to_csv(tmp_path / "cumida.csv", index=False)
    done = superfactor("fit", tmp_path / "cumida.csv", *QUICK, "--out", tmp_path / "m.skops", "--json")
    assert done.json["table"]["target"] == "type"
    about = saving.read(tmp_path / "m.skops").about
    assert about["id"] == "samples"
    assert about["held_out_ids"][0].startswith("P0")


# Parquet files have types; in CSV files all labels are text.
@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        *((kind, "parquet") for kind in ("int", "bool", "float", "words", "three")),
        ("bool", "csv"),
        ("float", "csv"),
    ],
)
def test_kinds_of_labels(kind, ending, tmp_path):
    data = cohort(classes=("a", "b", "c") if kind == "three" else ("a", "b")).drop(columns="sex")
    number = data["status"].map({"a": 0, "b": 1, "c": 2})
    kinds = {"int": number + 1, "bool": number == 1, "float": number.astype(float)}
    data["status"] = kinds.get(kind, data["status"])
    path = tmp_path / f"t.{ending}"
    data.to_csv(path, index=False) if ending == "csv" else data.to_parquet(path)
    words = ("--target", "status", "--id", "patient", *QUICK)
    done = superfactor("fit", path, *words, "--out", tmp_path / "m.skops", "--json")
    expected = {
        "int": ["1", "2"], "bool": ["False", "True"], "float": ["0", "1"], "words": ["a", "b"],
        "three": ["a", "b", "c"],
    }  # fmt: skip
    assert list(done.json["table"]["classes"]) == expected[kind]
    done = superfactor("predict", tmp_path / "m.skops", path, "--out", tmp_path / "p.csv")
    assert done.code == 0, done
    predicted = pd.read_csv(tmp_path / "p.csv", dtype=str)["predicted"]
    assert set(predicted) <= set(expected[kind])
    assert (predicted == data["status"].astype(str).str.replace(".0", "")).mean() > 0.7


def test_log2_of_what_is_at_least_one(tmp_path):
    data = cohort().drop(columns=["sex", "age"])
    genes = [name for name in data if name.startswith("gene")]
    raw = data.copy()
    raw[genes] = 2 ** (5 * data[genes]) - 1  # some of them negative
    logged = data.copy()
    logged[genes] = np.log2(np.maximum(raw[genes], 1))
    raw.to_csv(tmp_path / "raw.csv", index=False)
    logged.to_csv(tmp_path / "logged.csv", index=False)
    words = ("--target", "status", "--id", "patient", *QUICK, "--out")
    superfactor("fit", tmp_path / "raw.csv", *words, tmp_path / "a.skops", "--log2")
    superfactor("fit", tmp_path / "logged.csv", *words, tmp_path / "b.skops")
    superfactor("predict", tmp_path / "a.skops", tmp_path / "raw.csv", "--out", tmp_path / "a.csv")
    superfactor("predict", tmp_path / "b.skops", tmp_path / "logged.csv", "--out", tmp_path / "b.csv")
    a, b = pd.read_csv(tmp_path / "a.csv"), pd.read_csv(tmp_path / "b.csv")
    np.testing.assert_allclose(a["probability[tumoral]"], b["probability[tumoral]"], rtol=1e-6)


def test_hint_at_values_without_a_logarithm(tmp_path):
    data = cohort(n=20, p=300).drop(columns=["sex", "age"])
    plain = tmp_path / "plain.csv"
    data.to_csv(plain, index=False)
    genes = [name for name in data if name.startswith("gene")]
    data[genes] = 2 ** (data[genes] * 2 + 6)
    data.to_csv(tmp_path / "raw.csv", index=False)
    words = ("--target", "status", "--id", "patient", *QUICK, "--out", tmp_path / "m.skops")
    assert "--log2 may help" in superfactor("fit", tmp_path / "raw.csv", *words).err
    assert superfactor("fit", tmp_path / "raw.csv", *words, "--log2").err == ""
    assert superfactor("fit", plain, *words).err == ""


def test_categorical_covariates_are_indicators(table, model):
    about = saving.read(model).about
    # The reference comes first: most of these patients are men.
    assert about["covariates"] == {"sex": ["M", "F"], "age": [cohort()["age"].median()]}
    estimator = saving.read(model).model
    data = cohort()
    X = data.filter(like="gene").assign(F=data["sex"] == "F", age=data["age"]).to_numpy(dtype=float)
    assert estimator[-1].covariate_coef_.shape == (1, 2)
    np.testing.assert_allclose(
        estimator[0].mean_, X[np.isin(data["patient"], about["training_ids"])].mean(axis=0)
    )


def test_empty_covariate_cells_are_a_level_and_noted(tmp_path):
    data = cohort()
    data.loc[:24, "sex"] = None  # the most frequent level now, and yet no reference
    data.to_csv(tmp_path / "t.csv", index=False)
    done = superfactor("fit", tmp_path / "t.csv", *roles(), *QUICK, "--out", tmp_path / "m.skops")
    assert done.err == "note: covariate 'sex': empty cells are a separate level\n"
    assert saving.read(tmp_path / "m.skops").about["covariates"]["sex"] == ["M", "F", "(empty)"]


def test_markers_are_shown(table, tmp_path):
    (tmp_path / "known.csv").write_text("feature,note\ngene0,KRAS\n")
    words = ("fit", table, *roles(), *QUICK, "--markers", tmp_path / "known.csv", "--out", tmp_path / "m")
    assert "gene0 [KRAS]" in superfactor(*words).out


def test_feature_model_and_folds(table, tmp_path):
    words = ("fit", table, *roles(), *QUICK, "--model", "feature", "--cv", "3", "--out", tmp_path / "m")
    told = superfactor(*words, "--json").json
    assert told["params"]["model"] == "feature"
    assert told["selection"]["folds"] == 3


def test_small_classes_make_fewer_folds(tmp_path):
    data = cohort()
    data = data[(data["status"] == "normal") | (data.index < 8)]  # four tumours, three to learn from
    data.to_csv(tmp_path / "t.csv", index=False)
    done = superfactor("fit", tmp_path / "t.csv", *roles(), *QUICK, "--out", tmp_path / "m", "--json")
    assert done.json["selection"]["folds"] == 3


def test_large_tables_have_three_folds_two_at_once(table, tmp_path, monkeypatch):
    """In single precision: the same figures to a few digits as with three folds of a small table."""
    words = ("fit", table, *roles(), *SETTING, "--no-stable", "--out", tmp_path / "m", "--json")
    expected = superfactor(*words, "--cv", "3").json
    monkeypatch.setattr(blocks, "LARGE", 100)
    found = superfactor(*words).json
    assert found["selection"]["folds"] == 3
    assert superfactor(*words, "--cv", "4").json["selection"]["folds"] == 4
    for figure in ("accuracy", "log_loss"):
        ours, others = (each["nested"]["summary"][figure] for each in (found, expected))
        assert ours == pytest.approx(others, abs=1e-3)


def test_everything_is_chosen_without_options(table, tmp_path):
    words = ("--repeats", "0", "--no-stable", "--json")
    done = superfactor("fit", table, *roles(), *words, "--out", tmp_path / "m")
    assert done.json["selection"]["settings"] > 1
    assert done.json["params"]["n_components"] in (2, 3)  # two classes, or half as many again


def test_results_do_not_change_from_run_to_run(table, tmp_path):
    told = []
    for name in ("a", "b"):
        done = superfactor("fit", table, *roles(), *QUICK, "--out", tmp_path / name, "--json")
        told.append({k: v for k, v in done.json.items() if k not in ("seconds", "files", "command")})
    assert told[0] == told[1]


def test_comparison_with_the_most_frequent_class(table, tmp_path):
    done = superfactor("fit", table, *roles(), *QUICK, "--out", tmp_path / "m.skops", "--json")
    y = cohort()["status"].to_numpy(dtype=str)
    _, test = train_test_split(np.arange(40), test_size=0.25, stratify=y, random_state=0)
    always = done.json["scores"]["held_out"]["most_frequent_class"]
    assert always["accuracy"] == np.mean(y[test] == always["label"])
    said = superfactor("fit", table, *roles(), *QUICK, "--out", tmp_path / "m.skops").out
    assert f"always '{always['label']}' {100 * always['accuracy']:.1f} %" in " ".join(said.split())


def test_markers_that_are_no_features_are_noted(table, tmp_path):
    (tmp_path / "m.csv").write_text("feature,note\ngene1,known\nTP53,famous\n")
    done = superfactor(
        "fit", table, *roles(), *QUICK, "--markers", tmp_path / "m.csv", "--out", tmp_path / "m.skops"
    )
    assert "note: --markers: 1 of 2 are features of this table\n" in done.err


def test_odds_ratios_of_covariates(tmp_path):
    table, out = tmp_path / "t.csv", tmp_path / "m.skops"
    data = cohort(80)
    data.to_csv(table, index=False)
    words = ("fit", table, "--target", "status", "--id", "patient", "--covariates", "sex,age")
    found = superfactor(*words, *QUICK, "--out", out, "--json").json["covariates"]
    assert [row["covariate"] for row in found] == ["sex: M vs F", "age (per unit)"]
    model = saving.read(out).model
    # One year more, and nothing else, as the model itself answers; the features are left as they are.
    X = data.filter(like="gene").assign(M=data["sex"] == "M", age=data["age"]).to_numpy(dtype=float)
    for row, column in zip(found, (12, 13), strict=True):
        change = model.decision_function(X + np.eye(14)[column]) - model.decision_function(X)
        np.testing.assert_allclose(np.exp(change), row["estimate"], rtol=1e-8)
        assert row["low"] < row["estimate"] < row["high"]
        assert (row["output"], row["against"]) == ("tumoral", "normal")
    shown = superfactor(*words, *QUICK, "--out", out).out
    assert "Covariates: odds ratio of tumoral against normal, with 95 % interval" in shown
    age = found[1]
    line = next(line for line in shown.splitlines() if line.startswith("age (per unit)"))
    assert f"{age['estimate']:.2f} ({age['low']:.2f} to {age['high']:.2f})" in line
    assert line.rstrip().endswith(f"{age['estimate_per_sd']:.2f}")
    assert max(map(len, shown.splitlines())) <= 80


def test_covariates_with_many_features_are_estimated_out_of_fold(tmp_path):
    data, out = cohort(), tmp_path / "m.skops"
    data.to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", *roles(), *QUICK, "--out", out)
    found = superfactor(*words, "--json").json["covariates"]
    read = saving.read(out)
    data = data.set_index("patient").loc[list(read.about["training_ids"])]
    X = data.filter(like="gene").assign(F=data["sex"] == "F", age=data["age"]).to_numpy(dtype=float)
    held = recorded(read.about, rotation=None, positive=None)
    table = covariate_effects(read.model, X, data["status"], out_of_fold=held)
    np.testing.assert_allclose([row["estimate"] for row in found], table["estimate"])
    shown = " ".join(superfactor(*words).out.split())
    assert "of tumoral against normal, adjusted for out-of-fold factors, with 95 % interval" in shown


def test_covariates_of_several_classes_and_of_the_feature_model(tmp_path):
    cohort(90, classes=("a", "b", "c")).to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", *roles(), *QUICK, "--out", tmp_path / "m.skops")
    shown = superfactor(*words).out
    for name in "bc":
        assert f"odds ratio of {name} against a" in shown
    done = superfactor(*words, "--model", "feature")
    assert "note: model='feature': no intervals of the covariates" in done.err
    assert " to " not in next(x for x in done.out.splitlines() if x.startswith("age (per unit)"))


def test_predictive_factors_come_first(table, tmp_path):
    words = ("fit", table, *roles(), *QUICK, "--out", tmp_path / "m")
    told = superfactor(*words, "--stability", "2", "--json").json
    assert [factor["role"] for factor in told["factors"]] == ["predictive", "background"]
    assert [factor["role"] for factor in told["stability"]] == ["predictive", "background"]
    assert told["factors"][0]["coef"]["tumoral"] > 0
    assert told["factors"][1]["coef"] == {"tumoral": 0.0}
    assert "background" in superfactor(*words).out


def test_the_user_chooses_rotation_and_class(table, tmp_path):
    words = ("fit", table, *roles(), *QUICK, "--out", tmp_path / "m", "--positive", "normal")
    told = superfactor(*words, "--rotation", "variance", "--json").json
    assert [factor["role"] for factor in told["factors"]] == ["predictive"] * 2
    assert all(factor["coef"]["normal"] > 0 for factor in told["factors"])
    for more, line in [
        (("--rotation", "promax"), "--rotation promax: predictive, variance or varimax is required"),
        (("--positive", "cured"), "--positive cured: one of the labels normal, tumoral"),
    ]:
        assert line in refused("fit", table, *roles(), *QUICK, "--out", tmp_path / "x", *more)
