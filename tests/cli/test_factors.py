"""What is said of factors and features: held against the library, and silent where nothing was found."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from tests.cli.command import ALL, QUICK, SETTING, cohort, refused, roles, superfactor

from superfactor import interpretation, saving
from superfactor.cli.output import files
from superfactor.interpretation import factor_view, feature_effects, held_out_scores, nearness, top_features
from superfactor.interpretation.refits import progress

# Fewer halves than the program fits, everywhere in this file.
stable_features = partial(interpretation.stable_features, n_pairs=8)

PLAIN = ("--target", "status", "--id", "patient", "--drop", "sex,age")


def numbers(data):
    """X and labels as the command line reads them without covariates."""
    return data.filter(like="gene").to_numpy(), data["status"].to_numpy(dtype=str)


@pytest.fixture(scope="module", autouse=True)
def few_halves():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpretation, "stable_features", stable_features)
        yield


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A table, the model of all its samples, and what a script is told."""
    folder = tmp_path_factory.mktemp("kept")
    cohort().to_csv(folder / "t.csv", index=False)
    words = ("fit", folder / "t.csv", *PLAIN, *SETTING, "--repeats", "1", "--json")
    done = superfactor(*words, "--stability", "4", "--out", folder / "m.skops")
    assert done.code == 0, done
    return folder, done.json


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """The same of labels that mean nothing."""
    folder = tmp_path_factory.mktemp("noise")
    data = cohort(p=300, seed=3)
    data["status"] = np.random.default_rng(0).permutation(data["status"])
    data[["gene0", "gene1"]] = np.random.default_rng(1).normal(size=(40, 2))
    data.to_csv(folder / "t.csv", index=False)
    words = ("fit", folder / "t.csv", *PLAIN, *SETTING, "--repeats", "1", "--cv", "5", "--stability", "4")
    return folder, superfactor(*words, "--out", folder / "m.skops")


# --- correlations first -----------------------------------------------------------------------------


def test_correlations_are_those_of_the_scores(kept):
    folder, told = kept
    X, _ = numbers(cohort())
    model = saving.read(folder / "m.skops").model
    scores = factor_view(model).scores_of(model.transform(pd.DataFrame(X, columns=model.feature_names_in_)))
    for factor in told["factors"]:
        t = scores[:, factor["factor"] - 1]
        for end, sign in (("high", 1), ("low", -1)):
            for feature in factor[end]:
                x = X[:, int(feature["feature"][4:])]
                assert feature["correlation"] == pytest.approx(np.corrcoef(x, t)[0, 1], abs=1e-9)
                assert sign * feature["correlation"] > 0
                assert feature["disagrees"] == (feature["correlation"] * feature["weight"] < 0)


def test_the_terminal_shows_both_and_marks_opposite_signs(kept):
    folder, _ = kept
    model = saving.read(folder / "m.skops").model
    for by in ("correlation", "weight"):
        lines = superfactor("factors", folder / "m.skops", "--by", by, "--n", "12").out.splitlines()
        top = top_features(model, 12, by=by)
        if by == "correlation":  # below two standard errors a feature may go with the factor or not
            clear = abs(top["correlation"]) >= 2 / np.sqrt(40)
            assert 0 < clear.sum() < len(top)
            top = top[clear]
        shown = [" ".join(line.split()) for line in lines]
        for row in top.itertuples():
            weight = f"{'* ' * row.disagrees}{row.weight:+z.2f}"
            figures = [f"{row.correlation:+z.2f}", weight]
            cells = " ".join(figures if by == "correlation" else figures[::-1])
            assert any(f"{row.feature} {cells}" in line for line in shown)
        figures = re.findall(r"gene\d+ +(?:\* )?[-+]\d\.\d\d", "\n".join(lines))
        assert len(figures) == len(top)
        assert any(line.startswith("* ") for line in lines) == top["disagrees"].any()


def test_ranking_by_weight(kept, table, tmp_path):
    folder, _ = kept
    by_weight = superfactor("factors", folder / "m.skops", "--by", "weight", "--json").json
    expected = top_features(saving.read(folder / "m.skops").model, 5, by="weight")
    names = [f["feature"] for factor in by_weight["factors"] for e in ("high", "low") for f in factor[e]]
    assert names == expected["feature"].tolist()
    out = tmp_path / "m.skops"
    words = ("fit", table, *roles(), *QUICK, "--out", out, "--by", "weight")
    assert "Features by weight" in superfactor(*words).out
    assert "Features by weight" in superfactor("factors", out).out  # as the model was fitted
    assert "Features that go with" in superfactor("factors", out, "--by", "correlation").out
    line = refused("factors", out, "--by", "size")
    assert line == "error: --by size: correlation or weight is required\n"


# --- what a factor is good for ----------------------------------------------------------------------


def test_roles_and_areas_use_held_out_samples(kept):
    folder, told = kept
    X, y = numbers(cohort())
    loaded = saving.read(folder / "m.skops")
    held = held_out_scores(loaded.model, X, y, cv=5, random_state=0)
    for j, factor in enumerate(told["factors"]):
        alone = factor["alone_out_of_fold"]
        area = roc_auc_score(y == "tumoral", held.scores[:, j])
        assert alone["value"] == pytest.approx(max(area, 1 - area) if j else area)
        assert factor["contribution_out_of_fold"] == pytest.approx(held.contribution[j])
    assert [factor["role"] for factor in told["factors"]] == ["predictive", "background"]
    said = " ".join(superfactor("factors", folder / "m.skops").out.split())
    assert "adds nothing to the prediction beyond factor 1" in said
    assert f"{told['factors'][0]['alone_out_of_fold']['value']:.2f}" in said
    np.testing.assert_allclose(loaded.about["out_of_fold"]["scores"], held.scores)


def test_random_labels_suggest_nothing(noise):
    folder, done = noise
    assert done.code == 0, done
    for said in (done.out, superfactor("factors", folder / "m.skops").out):
        words = " ".join(said.split())
        assert "It is not shown that the factors predict 'status' in held-out samples" in words
        assert "Not shown to be better than guessing" in words
        assert "No feature was among the top" in words
        assert "predictive" not in words
        assert "Better than" not in words
    told = superfactor("factors", folder / "m.skops", "--json").json
    assert {factor["role"] for factor in told["factors"]} <= {"not shown", "background"}
    assert told["stable_features"]["selected"] == []


def test_factors_that_add_nothing_to_the_covariates(tmp_path):
    data = cohort(n=60, p=30, seed=5)
    data[["gene0", "gene1"]] = np.random.default_rng(1).normal(size=(60, 2))
    data["age"] = 50 + 20 * (data["status"] == "tumoral") + np.random.default_rng(2).normal(size=60)
    data.to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", *roles(), *SETTING, "--repeats", "1", "--no-stable")
    said = " ".join(superfactor(*words, "--out", tmp_path / "m").out.split())
    assert "Better than guessing" in said
    assert "It is not shown that the factors improve the prediction of 'status' from the covariates" in said
    told = superfactor("factors", tmp_path / "m", "--json").json
    assert told["verdict"]["adds"] is False
    assert {factor["role"] for factor in told["factors"]} <= {"not shown", "background"}


def test_factors_in_another_rotation_or_class(kept):
    folder, told = kept
    other = superfactor("factors", folder / "m.skops", "--positive", "normal", "--json").json
    assert [factor["role"] for factor in other["factors"]] == ["predictive", "background"]
    assert other["factors"][0]["alone_out_of_fold"] is None
    assert other["factors"][0]["high"][0]["feature"] == told["factors"][0]["low"][0]["feature"]
    turned = superfactor("factors", folder / "m.skops", "--rotation", "variance", "--json").json
    assert turned["factors"][0]["contribution_out_of_fold"] is None
    assert "cured: one of the labels" in refused("factors", folder / "m.skops", "--positive", "cured")


def test_several_classes(tmp_path):
    cohort(60, classes=("a", "b", "c")).to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", *PLAIN, *ALL, "--out", tmp_path / "m")
    said = superfactor(*words).out
    told = superfactor("factors", tmp_path / "m", "--json").json["factors"]
    for factor in told:
        assert factor["alone_out_of_fold"]["of"] in "abc"
        if factor["role"] == "predictive":
            assert factor["direction"].split(", ")[0] in said


def test_comparison_with_plain_methods(kept, noise):
    folder, told = kept
    X, y = numbers(cohort())
    model = saving.read(folder / "m.skops").model
    found = nearness(model, pd.DataFrame(X, columns=model.feature_names_in_), y)
    assert told["nearness"]["cosine"] == pytest.approx(found.cosine)
    assert told["nearness"]["variance_kept"] == pytest.approx(found.variance_kept)
    said = " ".join(superfactor("factors", folder / "m.skops").out.split())
    assert f"{found.statement}" in said[said.index("Better than guessing") :]
    # A model that is not shown to predict is not compared with plain methods.
    assert "ridge regression;" not in " ".join(noise[1].out.split())


def test_large_tables_are_not_regressed(table, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "MOST_ENTRIES", 1)
    words = ("fit", table, *roles(), *SETTING, "--repeats", "1", "--no-stable", "--json")
    told = superfactor(*words, "--out", tmp_path / "m").json
    assert told["verdict"] is not None and told["nearness"] is None
    assert [note for note in told["notes"] if "ridge regression" in note]


# --- which features return --------------------------------------------------------------------------


def test_stable_features_are_the_library_s(kept):
    folder, told = kept
    X, y = numbers(cohort())
    names = [f"gene{j}" for j in range(12)]
    model = saving.read(folder / "m.skops").model
    found = stable_features(model, pd.DataFrame(X, columns=names), y, random_state=0)
    assert told["stable_features"]["statement"] == found.statement
    selected = found.table[found.table["selected"]]
    assert [row["feature"] for row in told["stable_features"]["selected"]] == found.selected
    for row, expected in zip(told["stable_features"]["selected"], selected.to_dict("records"), strict=True):
        for name in ("share", "share_shuffled", "correlation", "low", "high"):
            assert row[name] == pytest.approx(expected[name], abs=1e-6)
    said = " ".join(superfactor("factors", folder / "m.skops").out.split())
    assert found.statement in said
    for name in found.selected[:5]:
        assert f"{name} " in said
    # Between these the correlation lay in the halves; it is no interval for that of all samples.
    assert "corr. 95 % of halves" in said


def test_stability_is_compared_with_shuffled_labels(kept):
    folder, told = kept
    for row in told["stability"]:
        assert 0 <= row["frequency_shuffled"] <= 1
        assert 0 <= row["similarity_shuffled"] <= 1
    done = superfactor("report", folder / "m.skops", folder / "t.csv", "--stability", "4",
                       "--out", folder / "r.html")  # fmt: skip
    lines = [line.split() for line in done.out.splitlines()]
    for row in told["stability"]:
        shown = [str(row["factor"])]
        shown += [f"{row[name]:.2f}" for name in ("similarity", "similarity_shuffled")]
        shown += [f"{row[name]:.0%}" for name in ("frequency", "frequency_shuffled")]
        assert shown in lines


def test_slow_stable_features_are_omitted(table, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "MOST_SECONDS", 0)
    words = ("fit", table, *roles(), *SETTING, "--repeats", "0", "--out", tmp_path / "m", "--json")
    told = superfactor(*words).json
    assert told["stable_features"] is None
    assert [note for note in told["notes"] if "--stable computes them" in note]
    told = superfactor(*words, "--stable").json  # no time limit if requested
    assert told["stable_features"]["n_pairs"] == 8
    told = superfactor(*words, "--no-stable").json
    assert told["stable_features"] is None
    assert told["notes"] == []


def test_too_few_samples_for_halves(tmp_path):
    cohort(n=12).to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", *PLAIN, "--rank", "7", "--repeats", "0", "--out", tmp_path / "m")
    done = superfactor(*words)
    assert done.code == 0, done
    assert "note: no stable features: " in done.err
    assert "--stable: X: halves of 6 samples are too small for 7 factors" in refused(*words, "--stable")


# --- all of it on disk ------------------------------------------------------------------------------


def read(path):
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".xlsx":
        return pd.read_excel(path)
    return pd.read_csv(path, sep="\t" if ".tsv" in path.name else ",")


def test_table_of_all_features(kept, tmp_path):
    folder, _ = kept
    X, y = numbers(cohort())
    model = saving.read(folder / "m.skops").model
    frame = pd.DataFrame(X, columns=model.feature_names_in_)
    done = superfactor("report", folder / "m.skops", folder / "t.csv", "--out", tmp_path / "r.html",
                       "--features-out", tmp_path / "f.csv", "--json")  # fmt: skip
    assert done.code == 0, done
    assert done.json["files"]["features"] == str(tmp_path / "f.csv")
    written = read(tmp_path / "f.csv")
    expected = feature_effects(model, frame, y)
    pd.testing.assert_frame_equal(
        written[expected.columns], expected, check_dtype=False, check_index_type=False, rtol=1e-9
    )
    halves = stable_features(model, frame, y, random_state=0).table.set_index("feature")
    np.testing.assert_allclose(written["half_samples"], halves["share"].loc[written["feature"]])
    assert written["stable"].tolist() == halves["selected"].loc[written["feature"]].tolist()


@pytest.mark.parametrize("name", ["f.csv", "f.tsv", "f.csv.gz", "f.parquet", "f.xlsx", "f"])
def test_tables_in_the_format_of_the_name(name, tmp_path):
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"a": ["x", "y"], "b": [1.5, np.nan], "c": [True, False]})
    files.write_frame(tmp_path / name, frame)
    pd.testing.assert_frame_equal(read(tmp_path / name), frame, check_dtype=False)
    first = (tmp_path / name).read_bytes()
    if not name.endswith("xlsx"):  # which has the time in it
        files.write_frame(tmp_path / name, frame)
        assert (tmp_path / name).read_bytes() == first


def test_the_fit_writes_them_too(table, tmp_path):
    words = ("fit", table, *roles(), *QUICK, "--out", tmp_path / "m", "--features-out", tmp_path / "f.csv")
    assert superfactor(*words).code == 0
    written = read(tmp_path / "f.csv")
    assert written["feature"].tolist() == [f"gene{j}" for j in range(12)]  # covariates are none
    assert "half_samples" not in written  # --no-stable


def test_factors_of_all_features(kept, tmp_path):
    folder, _ = kept
    assert superfactor("factors", folder / "m.skops", "--out", tmp_path / "f.csv").code == 0
    view = factor_view(saving.read(folder / "m.skops").model)
    written = read(tmp_path / "f.csv")
    np.testing.assert_allclose(written["correlation"], view.correlations.ravel())
    np.testing.assert_allclose(written["weight"], view.shown("weight").ravel())
    assert written["feature"].tolist() == 2 * list(view.features)


@pytest.mark.parametrize("name", ["f.xls", "f.json", "f.h5ad"])
def test_unsupported_formats(name, table, kept, tmp_path):
    words = ("fit", table, *roles(), *QUICK, "--out", tmp_path / "m")
    line = refused(*words, "--features-out", tmp_path / name)
    assert f"--features-out {tmp_path / name}: a name that ends in .csv" in line
    assert "a name that ends in" in refused("factors", kept[0] / "m.skops", "--out", tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_predictions_as_parquet(model, table, tmp_path):
    for name in ("p.parquet", "p.csv"):
        assert superfactor("predict", model, table, "--out", tmp_path / name).code == 0
    one, other = (read(tmp_path / name) for name in ("p.parquet", "p.csv"))
    pd.testing.assert_frame_equal(one, other, check_dtype=False)


def test_the_other_positive_class_changes_every_sign(kept):
    folder, told = kept
    (up,) = told["factors"][0]["coef"]
    (other,) = set(pd.read_csv(folder / "t.csv")["status"].astype(str)) - {up}
    again = superfactor("factors", folder / "m.skops", "--positive", other, "--json").json
    signs = {row["feature"]: row["correlation"] for row in told["stable_features"]["selected"]}
    turned = {row["feature"]: row for row in again["stable_features"]["selected"]}
    assert signs
    for feature, correlation in signs.items():
        assert turned[feature]["correlation"] == pytest.approx(-correlation)
        assert turned[feature]["low"] <= turned[feature]["high"]
