from dataclasses import replace

import pytest
from tests.report.conftest import table

from superfactor import SMFClassifier
from superfactor.report.certificate import in_plain_words, technical


@pytest.fixture(scope="module")
def proven():
    X, y = table(40, 10, 2)
    return SMFClassifier(2, xi=1.0, lam=10.0).fit(X, y).certificate_


def test_a_proven_optimum_is_said_to_be_one(proven):
    assert proven.is_global
    verdict = in_plain_words(proven, 2)
    assert verdict.level == "proven"
    assert "no other set of 2 factors" in verdict.sentence and "proven" in verdict.sentence


def test_an_estimate_is_not_called_a_proof(proven):
    verdict = in_plain_words(replace(proven, exact=False), 2)
    assert verdict.level == "bounded" and "proven" not in verdict.sentence.lower()


@pytest.mark.parametrize(("gap", "words"), [(0.034, "3.4 %"), (2e-5, "0.002 %"), (0.999, "99.9 %")])
def test_what_may_be_missing_is_given_as_a_share(proven, gap, words):
    verdict = in_plain_words(replace(proven, is_global=False, relative_gap=gap), 3)
    assert verdict.level == "bounded"
    assert words in verdict.sentence and words in verdict.badge


@pytest.mark.parametrize("gap", [1.0, 7.5, float("inf")])
def test_an_open_question_is_left_open(proven, gap):
    verdict = in_plain_words(replace(proven, is_global=False, relative_gap=gap), 1)
    assert verdict.level == "open"
    assert "not proven" in verdict.sentence and "single factor" in verdict.sentence


def test_no_certificate_is_no_claim():
    assert in_plain_words(None, 2).level == "open"


def test_technical_numbers_are_those_of_the_certificate(proven):
    rows = dict(technical(proven))
    assert rows["Statement"] == proven.statement
    assert float(rows["Objective F"].replace(",", "")) == pytest.approx(proven.objective, rel=1e-6)
