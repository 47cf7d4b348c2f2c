"""Gene groups: markers counted, data chosen; on made-up tables with planted markers."""

import math
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t, ttest_1samp
from tests.small_data import MARKERS, SHAPES, microarray

from reproduction import Setting, gene_groups
from reproduction.data import files, load_microarray
from reproduction.genes import markers, study
from superfactor import SMFClassifier
from superfactor.datasets import Microarray
from superfactor.interpretation import factor_view

PANCREATIC, BREAST = study.STUDIES


@pytest.fixture
def outcome(quick_run, small):
    return quick_run("gene-groups", small)[0]


def view_of(p=60, seed=0, names=None):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((30, p)), np.arange(30) % 2
    names = [f"g{j}" for j in range(p)] if names is None else names
    return factor_view(SMFClassifier(2, certify=None).fit(pd.DataFrame(X, columns=names), y))


def test_quick_form_on_the_data_at_hand(quick_run, data_dir):
    outcome, steps, notes = quick_run("gene-groups", data_dir)
    assert steps[0] == (0, 6) and steps[-1] == (6, 6)
    assert set(outcome.tables) == {"", "markers", "accuracy"}
    assert set(outcome.tables[""]["kind"]) == {"supervised", "unsupervised"}
    assert set(outcome.tables["accuracy"]["study"]) == {"pancreatic", "breast"}
    for name in outcome.tables[""]["data"].unique():
        assert name in MARKERS or any(name in note for note in notes)


def test_planted_markers_are_counted(outcome):
    table = outcome.tables["markers"]
    for each, (name, genes) in zip((PANCREATIC, BREAST), MARKERS.items(), strict=True):
        for kind in study.KINDS:
            rows = table[(table["study"] == each.tissue) & (table["kind"] == kind)]
            counts = rows[rows["marker"] == "all"].iloc[0]
            assert set(rows["marker"]) == {*genes, "all"}
            assert counts["present"] == counts["genes"] == len(genes)
            assert counts["features"] == SHAPES[name][1]
            assert counts["found"] == (rows["rank"] <= study.N_TOP).sum()
            if each == PANCREATIC:  # two groups: all markers lie near an end of one
                assert counts["farther"] > 0.7


def test_groups_have_the_paper_ranks_and_the_cancer_as_target(outcome):
    table = outcome.tables[""]
    assert table.groupby("study")["group"].max().to_dict() == {"pancreatic": 2, "breast": 16}
    targets = table.groupby("study")["target"].unique().str.join(",").to_dict()
    assert targets == {"pancreatic": "tumoral", "breast": "breast_adenocarcinoma"}
    # Tumours raise the markers: they stand at the high end of the group with the largest coefficient.
    places = outcome.tables["markers"].query("study == 'pancreatic' and group == 1")
    assert len(places) >= 5 and set(places["end"]) == {"high"}
    assert table.groupby(["study", "kind"])["coefficient"].first().gt(0).all()


def test_accuracies_are_those_of_predictions_on_the_other_half(outcome, small):
    table = outcome.tables["accuracy"]
    assert len(table) == 2 * 2 * 2 and table["accuracy"].between(0.5, 1).all()
    n = len(load_microarray(PANCREATIC.name, small).y)
    rows = table[table["study"] == "pancreatic"]["accuracy"] * math.ceil(n / 2)
    np.testing.assert_allclose(rows, np.round(rows))


@pytest.mark.parametrize("found", [0, 1, 3], ids="found={}".format)
def test_hits_against_all_draws(found):
    view = view_of()
    top = [i for w in view.shown("weight") for i in (np.argmax(w), np.argmin(w))]
    top, rest = sorted(set(top)), [i for i in range(60) if i not in top]
    marked = [*top[:found], *rest[: 5 - found]]
    hits = markers.top_hits(view, {view.features[i]: f"m{i}" for i in marked}, 1)
    assert (hits.features, hits.present, hits.genes, hits.found) == (60, 5, 5, found)
    assert hits.top == len(top)
    k, total = len(top), math.comb(60, 5)
    chance = {f: math.comb(k, f) * math.comb(60 - k, 5 - f) / total for f in range(6)}
    assert hits.expected == pytest.approx(sum(f * c for f, c in chance.items()))
    assert hits.p_value == pytest.approx(sum(c for f, c in chance.items() if f >= found))


def test_share_of_genes_farther_from_the_ends_than_the_markers():
    view = view_of()
    ends = [min(_rank(row, i) for row in view.shown("weight")) for i in range(60)]
    shares = [np.mean([(e > ends[i]) + (e == ends[i]) / 2 for e in ends]) for i in (3, 40)]
    hits = markers.top_hits(view, {"g3": "A", "g40": "B"}, 5)
    assert hits.farther == pytest.approx(np.mean(shares))
    everything = markers.top_hits(view, {name: name for name in view.features}, 5)
    assert everything.farther == pytest.approx(0.5)


def _rank(weights, i):
    return 1 + (sum(weights > weights[i]) if weights[i] >= 0 else sum(weights < weights[i]))


def test_several_probes_of_a_gene_count_once_as_a_gene():
    view = view_of()
    hits = markers.top_hits(view, {"g1": "BRCA1", "g2": "BRCA1", "g3": "DDB2"}, 5)
    assert (hits.present, hits.genes) == (3, 2)


def test_places_against_sorting():
    view = view_of()
    notes = {"g3": "A", "g40": "B"}
    for place in markers.places(view, notes):
        weights = view.shown("weight")[:, list(view.features).index(place["feature"])]
        ranks = [_rank(row, list(view.features).index(place["feature"])) for row in view.shown("weight")]
        assert place["rank"] == min(ranks)
        assert place["weight"] == weights[place["group"] - 1]
        assert ranks[place["group"] - 1] == min(ranks)
        assert place["end"] == ("high" if place["weight"] >= 0 else "low")
        assert place["marker"] == notes[place["feature"]]


def test_no_markers_no_places_and_no_claim():
    view = view_of()
    assert markers.places(view, {}) == []
    hits = markers.top_hits(view, {}, 5)
    assert (hits.present, hits.found, hits.expected, hits.p_value) == (0, 0, 0, 1)
    assert math.isnan(hits.farther)


@pytest.mark.parametrize("tissue", ["pancreatic", "breast"])
def test_shipped_lists_name_the_paper_genes(tissue):
    paper = dict(zip(("pancreatic", "breast"), MARKERS.values(), strict=True))[tissue]
    notes = markers.known_markers(tissue)
    assert set(notes.values()) == set(paper)
    assert all(notes[gene] == gene for gene in paper)
    assert all(name in paper or name.endswith("_at") for name in notes)


def test_numbered_columns_of_a_marker_are_markers_too():
    listed = {"BRCA1": "BRCA1", "204531_s_at": "BRCA1"}
    features = np.array(["BRCA1", "BRCA1.1", "BRCA11", "204531_s_at", "DDB2", "AC1.2"])
    found = markers.in_data(listed, features)
    assert found == dict.fromkeys(["BRCA1", "BRCA1.1", "204531_s_at"], "BRCA1")


def test_the_users_markers_replace_the_paper_ones(small, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("feature,note\nGENE7,my gene\nGENE8,other\nNOT_THERE,absent\n")
    setting = Setting(small, quick=True, options={"markers": path})
    data = study.choose(PANCREATIC, setting, [])
    groups = study.examine(PANCREATIC, data, setting, 2, lambda: None)
    assert groups.notes == {"GENE7": "my gene", "GENE8": "other"}
    assert groups.known == {"my gene", "other", "absent"}
    assert not groups.papers
    assert groups.hits["supervised"].present == 2


def test_stand_ins(tmp_path):
    """A part of the same series, then a table whose classes name the tissue; no table twice."""
    rng = np.random.default_rng(0)
    table = microarray(PANCREATIC.name, rng)
    table.to_csv(tmp_path / "a_part_of_GSE16515.csv", index=False)
    table.to_csv(tmp_path / "another.csv", index=False)
    table.assign(type=np.where(table["type"] == "normal", "colon", "breast")).to_csv(
        tmp_path / "organs.csv", index=False
    )
    notes = []
    setting = Setting(tmp_path, quick=True, note=notes.append)
    first = study.choose(PANCREATIC, setting, [])
    second = study.choose(BREAST, setting, [first.name])
    assert (first.name, second.name) == ("a_part_of_GSE16515", "organs")
    assert study.choose(BREAST, setting, [first.name, second.name]).name == "another"
    assert len(notes) == 3 and all("stands in" in note for note in notes)
    assert study.target_of(first, "pancreatic") == "tumoral"
    assert study.target_of(second, "breast") == "breast"
    assert study.target_of(replace(second, y=np.array(["Normal", "Tumor"])), "breast") == "Tumor"


def test_a_study_without_data_is_left_out(small, tmp_path, monkeypatch):
    def offline(url, *_):
        raise files.DataNotFound(f"{url}: no network here")

    monkeypatch.setattr(files, "download", offline)
    shutil.copy(small / f"{PANCREATIC.name}.csv", tmp_path)
    notes = []
    outcome = gene_groups.run(Setting(tmp_path, quick=True, note=notes.append))
    assert set(outcome.tables[""]["study"]) == {"pancreatic"}
    assert "breast is left out" in notes[0] and "no network here" in notes[0]
    (tmp_path / f"{PANCREATIC.name}.csv").unlink()
    with pytest.raises(files.DataNotFound, match="no network here"):
        gene_groups.run(Setting(tmp_path, quick=True))


@pytest.mark.parametrize(
    "n, p, expected", [(289, 36000, 16), (30, 500, 11), (289, 5, 4), (4, 500, 1)], ids=str
)
def test_rank_is_what_the_folds_allow(n, p, expected):
    assert study.possible_rank(16, np.empty((0, p)), np.zeros(n)) == expected


def test_p_value_is_a_t_test_with_more_variance():
    differences = np.array([0.02, -0.01, 0.04, 0.03, 0.0])
    plain = ttest_1samp(differences, 0)
    expected = 2 * t.sf(abs(plain.statistic) * math.sqrt((1 / 5) / (1 / 5 + 1)), 4)
    assert gene_groups.corrected_p_value(differences) == pytest.approx(expected)
    assert gene_groups.corrected_p_value(np.zeros(5)) == 1.0


@pytest.mark.parametrize(("tumours", "others"), [(20, 0), (20, 9), (2, 20)])
def test_too_few_of_a_class(tumours, others):
    y = np.array(["tumour"] * tumours + ["normal"] * others)
    X = np.random.default_rng(0).standard_normal((len(y), 30))
    data = Microarray("Own_1", X, y, np.array([f"g{j}" for j in range(30)]), "")
    told = f"Own_1: {tumours} samples of class 'tumour' and {others} others; 10 of either"
    with pytest.raises(ValueError, match=told):
        study.examine(PANCREATIC, data, Setting(), 2, lambda: None)
