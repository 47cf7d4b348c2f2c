"""Which way round a table is: turned only where that is sure, and then nothing is lost unsaid."""

import numpy as np
import pandas as pd
import pytest

from superfactor.tables import open_table
from superfactor.tables.grids.transposing import kind_of_names

PROBES = [f"{200000 + j}_s_at" for j in range(40)]
SYMBOLS = """TP53 ZNF12 SLC2A1 CDK4 KRT19 IL6 COL1A1 EGFR TMEM97 MMP9 CXCL8 BCL2 ESR1 RPL13 GAPDH ACTB
    MYC FAM83D TRIM28 ABCB1""".split()  # noqa: SIM905
SAMPLES = [f"GSM{j}" for j in range(9)]


def values(rows, columns, seed=0):
    numbers = np.random.default_rng(seed).normal(size=(len(rows), len(columns)))
    return pd.DataFrame(numbers, index=rows, columns=columns)


def opened(table, folder, layout="auto", text=(), **options):
    table.to_csv(folder / "a.csv", **options)
    return open_table(folder / "a.csv", layout=layout, text=text)


@pytest.mark.parametrize("names", [PROBES, SYMBOLS], ids=["probes", "symbols"])
def test_features_in_rows_are_transposed(names, tmp_path):
    table = values(names, SAMPLES)
    found = opened(table, tmp_path)
    assert found.frame.columns.tolist() == ["row name", *names]
    assert found.frame["row name"].tolist() == SAMPLES
    np.testing.assert_array_equal(found.frame[names], table.T)
    assert found.frame.index.name == "column"
    assert found.frame.index.tolist() == list(range(2, 11))
    assert str(found.notes[0]).startswith("features in rows: transposed to 9 samples")
    same = opened(table, tmp_path, layout="samples")
    assert same.frame.columns.tolist() == ["row name", *SAMPLES]
    assert tuple(map(str, same.notes)) == ()


def clinical(first):
    return values(first, ["age", "bmi", "crp", "albumin", "status", "months"])


@pytest.mark.parametrize(
    "table",
    [
        clinical([f"P{j:03}" for j in range(200)]),
        clinical([f"TCGA-{j % 7}A-{j:04}" for j in range(200)]),
        clinical([f"{j % 9}_{1000 + j}" for j in range(200)]),
        clinical([f"A_{j}_P{j}" for j in range(200)]),
        clinical(["MCF7", "HELA", "A549", "HCT116", "T47D", "HL60", "K562", "PC3", "DU145", "RAJI"]),
        clinical(["AB12", "CD7", "IL3", "OR5", "COX1", "JK1", "MK2", "RB3", "LM4", "KV5"]),
        values(SAMPLES, PROBES),
        values(SAMPLES, SYMBOLS),
        values([f"sample {j}" for j in range(60)], SYMBOLS),
        values(PROBES, SYMBOLS),
        values(PROBES, ["beta", "se", "p"]),
        values(SYMBOLS, [f"line{j}" for j in range(30)]),
        values(PROBES, SAMPLES).assign(essential=["yes", "no"] * 20),
        values(range(40), SAMPLES),
        values(PROBES, SAMPLES).reset_index(drop=True),
    ],
)
def test_uncertain_rows_are_samples(table, tmp_path):
    found = opened(table, tmp_path)
    assert len(found.frame) == len(table)
    assert found.frame.index.name == "line"
    assert not any("transposed to" in str(note) for note in found.notes)
    if "essential" in table:
        assert "layout='features' transposes the table" in str(found.notes[0])


def test_requested_names_determine_the_layout(tmp_path):
    table = values(PROBES, [*SAMPLES[:-1], "status"])
    assert len(opened(table, tmp_path, text=["status"]).frame) == 40
    patients = values([f"P{j}" for j in range(20)] + ["status"], SAMPLES)
    patients.loc["status"] = [0, 1, 0, 1, 0, 1, 0, 1, 1]
    found = opened(patients, tmp_path, text=["status"])
    assert len(found.frame) == 9
    assert found.frame["status"].tolist() == ["0.0", "1.0"] * 4 + ["1.0"]  # as written


def test_requested_layout(tmp_path):
    table = values([f"P{j}" for j in range(4)], list("abc"))
    found = opened(table, tmp_path, layout="features")
    assert found.frame.set_index("row name").columns.tolist() == ["P0", "P1", "P2", "P3"]
    entrez = values([1, 10, 100], list("abc"))
    found = opened(entrez, tmp_path, layout="features", index_label="gene")
    assert found.frame.columns.tolist() == ["row name", "1", "10", "100"]
    with pytest.raises(ValueError, match="auto, samples or features is required"):
        open_table(tmp_path / "a.csv", layout="genes")


def test_rows_of_words_are_columns_of_words(tmp_path):
    table = values(PROBES, SAMPLES).astype(object)
    top = pd.DataFrame([["t", "n", None] * 3, list("abcdefghi")], ["type", "site"], SAMPLES)
    below = pd.DataFrame([["x"] * 9], ["batch"], SAMPLES)
    found = opened(pd.concat([top, table, below]), tmp_path)
    assert found.frame.columns.tolist() == ["row name", "type", "site", *PROBES, "batch"]
    assert found.frame["type"].tolist() == ["t", "n", None] * 3
    assert found.frame["batch"].tolist() == ["x"] * 9
    np.testing.assert_array_equal(found.frame[PROBES], table.T.astype(float))
    assert len(found.frame[PROBES]._mgr.blocks) == 1


def test_rows_of_words_beside_annotations(tmp_path):
    table = values(PROBES, SAMPLES).astype(object)
    table = pd.concat([pd.DataFrame([["t", "n", "t"] * 3], ["type"], SAMPLES), table])
    table.insert(0, "Gene Title", [None, *(f"title of {name}" for name in PROBES)])
    table.insert(1, "ENTREZ_GENE_ID", [None, *range(40)])
    found = opened(table, tmp_path, index_label="ID_REF")
    assert found.frame.columns.tolist() == ["row name", "type", *PROBES]
    assert found.frame["row name"].tolist() == SAMPLES
    assert str(found.notes[1]).endswith("left out: Gene Title, ENTREZ_GENE_ID")


def test_stray_text_stays_in_its_feature(tmp_path):
    table = values(PROBES, SAMPLES).astype(object)
    table.iloc[4, 2] = "n.d."
    table.iloc[5, 2] = None
    found = opened(table, tmp_path).frame
    assert found[PROBES[4]].iloc[2] == "n.d."
    assert np.isnan(found[PROBES[5]].iloc[2])
    assert found[PROBES[6]].dtype == float
    np.testing.assert_array_equal(found[PROBES[6]], table.iloc[6].astype(float))
    table.iloc[0, 3] = "?"  # the first row decides which columns are text
    with pytest.raises(ValueError, match=r"'\?' is not a number, at line 2, column 'GSM3'"):
        opened(table, tmp_path, layout="features")


def test_probes_of_one_gene_and_of_none(tmp_path):
    table = values([*SYMBOLS, "TP53", None], SAMPLES)
    with pytest.warns(UserWarning, match=r"1 row has the name of another .*TP53\.1"):
        found = opened(table, tmp_path)
    assert found.frame.columns.tolist() == ["row name", *SYMBOLS, "TP53.1", "line 23"]
    assert str(found.notes[1]) == "features without a name are named by their place: line 23"


def test_too_much_text(tmp_path, monkeypatch):
    monkeypatch.setattr("superfactor.tables.grids.rows._KEPT_CELLS", 30)
    table = values(PROBES, SAMPLES).astype(object)
    table.iloc[3:9, 2] = "?"
    with pytest.raises(ValueError, match="too many of them contain text"):
        opened(table, tmp_path)
    assert opened(table, tmp_path, layout="samples").frame["GSM2"].tolist()[3] == "?"


@pytest.mark.parametrize("wide", [False, True])
def test_gene_symbols_among_many(wide):
    rng = np.random.default_rng(0)
    letters = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    codes = ["".join(rng.choice(letters, 4)) + str(j % 9) for j in range(400)]
    assert kind_of_names(codes) is None
    assert kind_of_names([*SYMBOLS, *codes[: 100 if wide else 20]]) == "symbols"
