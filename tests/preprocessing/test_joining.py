"""Joined tables compared with pandas' joins, and the samples that are left out."""

import numpy as np
import pandas as pd
import pytest

from superfactor.preprocessing import BlockScaler, join_blocks


def tables():
    rng = np.random.default_rng(0)
    genes = pd.DataFrame(rng.normal(size=(4, 3)), index=list("dbac"), columns=["g1", "g2", "id2"])
    blood = pd.DataFrame(rng.normal(size=(4, 2)), index=list("aebc"), columns=["iron", "zinc"])
    return genes, blood


@pytest.mark.parametrize("how", ["outer", "inner"])
def test_joined_values_equal_pandas(how):
    genes, blood = tables()
    joined = join_blocks({"genes": genes, "blood": blood}, how=how)
    expected = genes.join(blood, how=how)
    pd.testing.assert_frame_equal(joined.table.sort_index(), expected.sort_index())
    assert list(joined.table.index) == (list("dbace") if how == "outer" else list("bac"))
    for name, table in {"genes": genes, "blood": blood}.items():
        own = joined.table.iloc[:, joined.blocks[name]]
        pd.testing.assert_frame_equal(own.dropna(), table.reindex(own.dropna().index))


def test_left_out_samples_are_reported():
    genes, blood = tables()
    other = blood.loc[["a", "b"]].rename(columns=str.upper)
    assert join_blocks({"genes": genes, "blood": blood}).lost.empty
    lost = join_blocks({"genes": genes, "blood": blood, "other": other}, how="inner").lost
    assert lost.to_dict("list") == {
        "sample": ["d", "c", "e"],
        "block": ["genes", "genes, blood", "blood"],
        "reason": ["not in blood, other", "not in other", "not in genes, other"],
    }


def test_by_a_column_and_rows_without_a_name():
    genes, blood = tables()
    genes, blood = (t.rename_axis("patient").reset_index() for t in (genes, blood))
    blood.loc[1, "patient"] = None
    joined = join_blocks({"genes": genes, "blood": blood}, on="patient")
    assert joined.table.index.name == "patient" and list(joined.table.index) == list("dbac")
    assert joined.lost.to_dict("list") == {
        "sample": [None],
        "block": ["blood"],
        "reason": ["no name (patient is empty)"],
    }
    with pytest.raises(ValueError, match=r"on='visit': blocks\['genes'\] has no such column"):
        join_blocks({"genes": genes, "blood": blood}, on="visit")


def test_equal_column_names_are_made_unique():
    genes, blood = tables()
    blood = blood.rename(columns={"zinc": "g1"})
    joined = join_blocks({"genes": genes, "blood": blood})
    assert list(joined.table) == ["genes:g1", "g2", "id2", "iron", "blood:g1"]
    clash = genes.rename(columns={"g2": "genes:g1"})
    with pytest.raises(ValueError, match="two columns would be called 'genes:g1'"):
        join_blocks({"genes": clash, "blood": blood})


def test_numbers_and_text_are_the_same_names():
    one = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=[7, 8, 9])
    two = pd.DataFrame({"b": [1.0, 2.0]}, index=["8", "9 "])
    three = pd.DataFrame({"c": [1.0, 2.0], "id": [7.0, np.nan]}).set_index("id")
    joined = join_blocks({"one": one, "two": two, "three": three})
    assert list(joined.table.index) == ["7", "8", "9"]
    assert joined.table.loc["8"].tolist()[:2] == [2.0, 1.0]
    assert joined.table.loc["7", "c"] == 1.0


def test_invalid_joins():
    genes, blood = tables()
    twice = pd.concat([genes, genes.iloc[:1]])
    with pytest.raises(ValueError, match=r"blocks\['genes'\]: sample 'd' occurs 2 times"):
        join_blocks({"genes": twice, "blood": blood})
    doubled = genes[["g1", "g1"]]
    with pytest.raises(ValueError, match=r"blocks\['genes'\]: column 'g1' occurs 2 times"):
        join_blocks({"genes": doubled})
    with pytest.raises(ValueError, match="no sample is in two of them \\('d' in 'genes', 'A' in 'blood'"):
        join_blocks({"genes": genes, "blood": blood.rename(index=str.upper)})
    three = {"genes": genes.loc[["d", "b"]], "blood": blood.loc[["b", "e"]], "x": blood.loc[["e"]]}
    with pytest.raises(ValueError, match="no sample is in all of them; how='outer'"):
        join_blocks(three, how="inner")
    with pytest.raises(ValueError, match="how='left'"):
        join_blocks({"genes": genes}, how="left")
    with pytest.raises(ValueError, match="no columns besides the names"):
        join_blocks({"genes": genes[[]]})
    for wrong in (genes, {}, {"genes": genes.to_numpy()}):
        with pytest.raises(TypeError, match="DataFrame"):
            join_blocks(wrong)


def test_mudata_is_joined_like_a_dict_of_tables():
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    genes, blood = tables()
    parts = {"genes": anndata.AnnData(genes), "blood": anndata.AnnData(blood)}
    joined = join_blocks(mudata.MuData(parts), how="inner")
    own = join_blocks({"genes": genes, "blood": blood}, how="inner")
    np.testing.assert_allclose(joined.table, own.table)
    assert joined.blocks == own.blocks and list(joined.table) == list(own.table)
    with pytest.raises(ValueError, match="obs_names; None is required"):
        join_blocks(mudata.MuData(parts), on="patient")


def test_joined_blocks_fit_the_block_scaler():
    genes, blood = tables()
    joined = join_blocks({"genes": genes, "blood": blood}, how="inner")
    scaler = BlockScaler(joined.blocks).fit(joined.table.assign(age=[60.0, 70.0, 50.0]))
    expected = np.linalg.norm(blood.loc[list("bac")], 2)
    assert scaler.scales_["blood"] == pytest.approx(1 / expected)
