"""Tabs about blocks and confounders: there where the pipeline has them, with the numbers of the tables."""

import re
from dataclasses import replace

import numpy as np
from sklearn.base import clone
from tests.report.conftest import scaled, table

from superfactor.interpretation import block_shares, confounding
from superfactor.report.facts import gather
from superfactor.report.formats import share
from superfactor.report.sections import blocks, confounders


def facts_of(case):
    told = {"covariates": None, "covariates_test": None, "ids": None}
    return gather(case.model, case.X, case.y, X_test=case.X_test, y_test=case.y_test, **told)


def panel(pages, name, section):
    page = pages[name].read_text(encoding="utf-8")
    found = re.search(rf'<section class="panel" id="{section}".*?</section>', page, flags=re.S)
    return None if found is None else found.group()


def test_without_them_no_tab(pages):
    for section in ("blocks", "confounders"):
        assert panel(pages, "two_classes", section) is None
        assert panel(pages, "blocks_and_batches", section) is not None


def test_numbers_are_those_of_the_tables(pages, blocks_and_batches):
    case = blocks_and_batches
    shares = block_shares(case.model, case.X)
    tab = panel(pages, "blocks_and_batches", "blocks")
    together, single = shares[shares["factor"] == "all"], shares[shares["factor"] != "all"]
    predictive = single[single["share_of_prediction"] != 0]
    values = [
        *together[["variance_explained", "share_of_prediction", "prediction_alone"]].to_numpy().ravel(),
        *single[["share_of_factor", "variance_explained"]].to_numpy().ravel(),
        *predictive["share_of_prediction"],
    ]
    for value in values:
        assert f">{share(value)}<" in tab
    tab = panel(pages, "blocks_and_batches", "confounders")
    for X in (case.X, case.X_test):
        for value in confounding(case.model, X)[["before", "after", "chance"]].to_numpy().ravel():
            assert f">{share(value)}<" in tab
    assert share(case.model["adjuster"].explained_) in tab


def test_columns_and_rows_of_the_tabs(blocks_and_batches):
    facts = facts_of(blocks_and_batches)
    told = blocks(facts).told
    assert told["count"] == 3 and told["names"][-1] == "(no block)"
    np.testing.assert_allclose([sum(values) for _, values in told["lies"]], 1)
    told = confounders(facts).told
    assert [row["confounder"] for row in told["rows"][:3]] == ["batch <1>", "site", "all together"]
    assert len(told["columns"]) == 6


def test_blocks_without_confounders_and_without_held_out_samples(tmp_path, blocks_and_batches):
    case = blocks_and_batches
    bare = case.write(tmp_path / "bare.html", X_test=None, y_test=None).read_text()
    assert "Held-out, before" not in bare and "By chance" in bare
    X, y = table(40, 12, 2)
    plain = gather(
        scaled(n_components=1).fit(X, y), X, y, X_test=None, y_test=None, covariates=None,
        covariates_test=None, ids=None,
    )  # fmt: skip
    assert plain.block_table is None and plain.confounders is None


def test_what_was_left_on_purpose_is_said(tmp_path, blocks_and_batches):
    case = blocks_and_batches
    assert "nothing is left by construction" in case.write(tmp_path / "all.html").read_text()
    spared = clone(case.model).set_params(adjuster__spare_y=True).fit(case.X, case.y)
    page = replace(case, model=spared).write(tmp_path / "part.html").read_text()
    assert "nothing is left by construction" not in page
    assert "was left in the features" in page


def test_the_paper_says_what_was_done(pages):
    paper = panel(pages, "blocks_and_batches", "paper")
    assert "adjusted for confounders by linear regression" in paper
    assert "weighted by block" in paper
