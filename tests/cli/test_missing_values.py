"""Missing values are filled in, and the user is told how many, where, and what became of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.cli.command import ALL, cohort, refused, superfactor

from superfactor import SMFClassifier, saving
from superfactor.preprocessing import LowRankImputer
from superfactor.tables import read_study

ROLES = ("--target", "status", "--id", "patient", "--covariates", "sex,age")
GENES = [f"gene{j}" for j in range(12)]


def holes(table, share=0.05):
    """The cohort with holes, one feature of nothing else, and one sample of mostly such."""
    gone = np.random.default_rng(0).random((len(table), len(GENES))) < share
    table = table.copy()
    table[GENES] = table[GENES].mask(gone)
    table["gene5"] = np.nan
    table.loc[7, GENES[6:]] = np.nan
    table.loc[7, "gene0"] = np.nan
    return table


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gaps")
    holes(cohort()).to_csv(folder / "t.csv", index=False)
    words = ("fit", folder / "t.csv", *ROLES, *ALL, "--out", folder / "m.skops")
    return folder, superfactor(*words, "--report", folder / "r.html", "--json"), superfactor(*words)


def test_the_model_is_that_of_the_imputer_before_it(fitted):
    _, done, _ = fitted
    assert done.code == 0, done
    data = holes(cohort())
    X = data[[g for g in GENES if g != "gene5"]].assign(F=data["sex"] == "F", age=data["age"])
    model = make_pipeline(
        LowRankImputer(passthrough_columns=[11, 12]),
        StandardScaler(),
        SMFClassifier(2, xi=0.1, lam=1.0, covariate_columns=[11, 12], random_state=0),
    ).fit(X.to_numpy(dtype=float), data["status"])
    assert done.json["certificate"]["objective"] == pytest.approx(model[-1].objective_, rel=1e-9)


def test_output_with_missing_values(fitted):
    folder, done, shown = fitted
    told = done.json["table"]["missing"]
    data = holes(cohort())[[g for g in GENES if g != "gene5"]]
    assert told["share"] == pytest.approx(data.isna().to_numpy().mean())
    assert told["impute"] == "lowrank"
    assert told["features_without_values"] == ["gene5"]
    assert told["samples_missing_half"] == ["P007"]
    assert "note: 1 feature without any value left out: 'gene5'" in shown.err
    assert "of the values are missing and filled in by a low-rank fit" in shown.err
    assert "1 of 40 samples miss more than half of the features: 'P007'" in shown.err
    assert "Optimality (for the table with imputed values): " in " ".join(shown.out.split())
    page = (folder / "r.html").read_text()
    assert "values are missing and filled in" not in page  # as a note: the page has its own words
    assert f"{data.isna().to_numpy().sum()} of 440 values" in page
    assert page.count("refers to the table with imputed missing values") == 2  # Result and Convergence
    assert "1 feature without any value left out" in page


def test_new_samples_may_have_gaps(fitted, tmp_path):
    folder, _, _ = fitted
    new = holes(cohort(seed=4), 0.1).assign(gene5=1.0)
    new.to_csv(tmp_path / "new.csv", index=False)
    done = superfactor("predict", folder / "m.skops", tmp_path / "new.csv", "--out", tmp_path / "p")
    assert done.code == 0, done
    assert "values are missing and filled in by a low-rank fit" in done.err
    found = pd.read_csv(tmp_path / "p").filter(like="probability").to_numpy()
    data = new[[g for g in GENES if g != "gene5"]].assign(F=new["sex"] == "F", age=new["age"])
    model = saving.read(folder / "m.skops").model
    np.testing.assert_allclose(found, model.predict_proba(data.to_numpy(dtype=float)))


# --- models of complete samples -------------------------------------------------------------------


def predicted(folder, model, table, *more):
    """What `superfactor predict` says of a table, and the probabilities it writes."""
    table.to_csv(folder / "new.csv", index=False)
    done = superfactor("predict", model, folder / "new.csv", "--out", folder / "p.csv", *more)
    assert done.code == 0, done
    return done, pd.read_csv(folder / "p.csv").filter(like="probability").to_numpy()


def test_a_model_of_complete_samples_completes_cells_from_its_factors(model, tmp_path):
    complete = cohort(seed=4)
    gone = complete.assign(gene3=complete["gene3"].where(complete.index > 2))
    done, found = predicted(tmp_path, model, gone)
    assert "note: 0.6 % of the values are missing and filled in from the factors of the model\n" in done.err
    assert predicted(tmp_path, model, gone, "--json")[0].json["missing"]["impute"] == "factors"
    saved = saving.read(model)
    data = read_study(tmp_path / "new.csv", like=saved.about).design
    with pytest.warns(UserWarning, match="X: 3 of 480 values are missing, in 3 of 40 samples"):
        expected = saved.model.predict_proba(data)
    np.testing.assert_allclose(found, expected)
    np.testing.assert_array_equal(found[3:], predicted(tmp_path, model, complete)[1][3:])


def test_absent_features_are_completed_and_weighed(model, tmp_path):
    complete = cohort(seed=4)
    done, found = predicted(tmp_path, model, complete.drop(columns=["gene3", "gene7"]))
    smf = saving.read(model).model[-1]
    weight = (smf.coef_[0, :12] * smf.feature_scale_) ** 2
    share = weight[[3, 7]].sum() / weight.sum()
    told = (
        f"2 of the model's 12 features are absent, which carry {100 * share:.0f} % of the prediction's weight"
    )
    assert done.err.startswith(f"note: {told}\n")
    assert "of the values are missing" not in done.err
    assert pd.read_csv(tmp_path / "p.csv")["missing"].tolist() == [0.1667] * 40
    empty = complete.assign(gene3=np.nan, gene7=np.nan)
    done, other = predicted(tmp_path, model, empty)
    np.testing.assert_array_equal(found, other)
    assert "2 of the model's 12 features are absent or empty, which carry" in done.err
    done, _ = predicted(tmp_path, model, complete.drop(columns=["gene3", "gene7"]), "--json")
    told = done.json["missing"]
    assert (told["features_absent"], told["share"]) == (["gene3", "gene7"], 0)
    assert told["absent_weight"] == pytest.approx(share)


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_too_little_is_left_unless_allowed(command, model, tmp_path):
    smf = saving.read(model).model[-1]
    order = np.argsort(-np.abs(smf.coef_[0, :12] * smf.feature_scale_))
    gone = [GENES[j] for j in order[:11]]
    cohort(seed=4).drop(columns=gone).to_csv(tmp_path / "new.csv", index=False)
    words = [command, model, tmp_path / "new.csv"]
    words += ["--out", tmp_path / "p.csv"] if command == "predict" else []
    line = refused(*words)
    assert "new.csv: 11 of the model's 12 features are absent, which carry " in line
    assert "above 90 % predictions mean little: add " in line
    assert line.endswith(" and 8 more, or use --allow-absent\n")
    done = superfactor(*words, "--allow-absent")
    assert done.code == 0, done
    assert "11 of the model's 12 features are absent, which carry " in done.err


def test_evaluate_completes_as_predict_does(model, tmp_path):
    new = cohort(seed=4).assign(patient=[f"Q{i}" for i in range(40)]).drop(columns="gene3")
    predicted(tmp_path, model, new)
    done = superfactor("evaluate", model, tmp_path / "new.csv", "--json")
    right = pd.read_csv(tmp_path / "p.csv")["predicted"] == new["status"]
    assert done.json["summary"]["accuracy"]["mean"] == pytest.approx(right.mean())
    assert sum("features is absent" in line for line in done.json["notes"]) == 1
    assert not any(line.startswith("X:") for line in done.json["notes"])


def test_a_model_that_refuses_missing_values(table, tmp_path):
    path = tmp_path / "m.skops"
    assert superfactor("fit", table, *ROLES, *ALL, "--impute", "none", "--out", path).code == 0
    cohort().drop(columns="gene3").to_csv(tmp_path / "new.csv", index=False)
    line = refused("predict", path, tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert "values are missing, and a model fitted with --impute none completes none; fit it again" in line


def test_a_model_of_version_1_1_predicts_complete_tables_only(model, tmp_path):
    saved = saving.read(model)
    for name in ("impute", "feature_mean_"):
        delattr(saved.model[-1], name)
    about = saved.about | {"versions": saved.about["versions"] | {"superfactor": "1.1.0"}}
    saving.save(saved.model, tmp_path / "old.skops", about=about)
    complete = cohort(seed=4)
    old, new = (predicted(tmp_path, path, complete)[1] for path in (tmp_path / "old.skops", model))
    np.testing.assert_array_equal(old, new)
    complete.drop(columns="gene3").to_csv(tmp_path / "new.csv", index=False)
    line = refused("predict", tmp_path / "old.skops", tmp_path / "new.csv", "--out", tmp_path / "q.csv")
    assert "values are missing, and a model written by superfactor 1.1.0 completes none; fit it again" in line


@pytest.mark.parametrize("adjust", [(), ("--adjust", "batch")], ids=["blocks", "blocks-and-batches"])
def test_a_table_without_a_block(adjust, tmp_path):
    for name, data in {"train": cohort(), "new": cohort(seed=4)}.items():
        data["batch"] = np.random.default_rng(0).choice(["a", "b"], 40)
        columns = ["patient", "status", *GENES[:8], *(["batch"] if adjust else [])]
        data[columns].to_csv(tmp_path / f"{name}_rna.csv", index=False)
        data[["patient", *GENES[8:]]].to_csv(tmp_path / f"{name}_protein.csv", index=False)
    rna, protein = (f"{name}={tmp_path}/train_{name}.csv" for name in ("rna", "protein"))
    words = ("--target", "status", "--id", "patient", *ALL, *adjust)
    done = superfactor("fit", "--block", rna, "--block", protein, *words, "--out", tmp_path / "m.skops")
    assert done.code == 0, done
    done = superfactor(
        "predict", tmp_path / "m.skops", "--block", f"rna={tmp_path}/new_rna.csv", "--out", tmp_path / "p.csv"
    )
    assert done.code == 0, done
    assert "no block 'protein': its features are missing values" in done.err
    assert "4 of the model's 12 features are absent, which carry" in done.err
    assert pd.read_csv(tmp_path / "p.csv")["missing"].tolist() == [0.3333] * 40


def test_sparse_models_complete_nothing(tmp_path):
    counts = pd.DataFrame(np.random.default_rng(0).poisson(0.3, (40, 12)), columns=GENES)
    names = [f"s{i}" for i in range(40)]
    np.savez(tmp_path / "t.npz", X=counts, y=np.arange(40) % 2, features=np.array(GENES), ids=np.array(names))
    import anndata
    import scipy.sparse as sp

    def cells(columns):
        obs = pd.DataFrame({"type": np.where(np.arange(40) % 2, "a", "b")}, index=names)
        matrix = sp.csr_matrix(counts[columns].to_numpy(dtype=float))
        return anndata.AnnData(matrix, obs=obs, var=pd.DataFrame(index=columns))

    cells(GENES).write_h5ad(tmp_path / "t.h5ad")
    cells(GENES[2:]).write_h5ad(tmp_path / "new.h5ad")
    done = superfactor("fit", tmp_path / "t.h5ad", "--target", "type", *ALL, "--out", tmp_path / "m.skops")
    assert done.code == 0, done
    line = refused("predict", tmp_path / "m.skops", tmp_path / "new.h5ad", "--out", tmp_path / "p.csv")
    assert "2 of the model's 12 columns are missing: 'gene0', 'gene1'" in line


def test_report_of_a_table_with_gaps(fitted, tmp_path):
    folder, _, _ = fitted
    done = superfactor("report", folder / "m.skops", folder / "t.csv", "--out", tmp_path / "r.html", "--json")
    assert done.json["samples"] == {"fitted": 40, "held_out": 0}
