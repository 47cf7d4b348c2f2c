"""Gene groups: markers counted, data chosen; on made-up tables with planted markers."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.small_data import MARKERS, SHAPES, microarray

from reproduction import Setting
from reproduction.genes import markers, study
from superfactor import SMFClassifier
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


def _rank(weights, i):
    return 1 + (sum(weights > weights[i]) if weights[i] >= 0 else sum(weights < weights[i]))


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


@pytest.mark.parametrize("tissue", ["pancreatic", "breast"])
def test_shipped_lists_name_the_paper_genes(tissue):
    paper = dict(zip(("pancreatic", "breast"), MARKERS.values(), strict=True))[tissue]
    notes = markers.known_markers(tissue)
    assert set(notes.values()) == set(paper)
    assert all(notes[gene] == gene for gene in paper)
    assert all(name in paper or name.endswith("_at") for name in notes)


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
