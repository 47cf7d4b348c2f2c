"""Topics of postings: thinning, splits, thresholds and scores by hand; planted fraud words are found."""

import numpy as np
import pytest

from reproduction import job_topics

METHODS = ["SMF", "non-negative SMF", "NMF + LR", "LDA + LR", "all words + LR"]


def test_quick_form_on_the_data_at_hand(quick_run, data_dir):
    outcome, steps, notes = quick_run("job-topics", data_dir)
    assert steps == [(0, 1), (1, 1)] and "fraudulent" in notes[0]
    table = outcome.tables[""]
    assert list(dict.fromkeys(table["method"])) == [*METHODS, job_topics.GENUINE]
    assert table["value"].between(0, 1).all()
    # Two curves and three thresholds with two scores each, for every method with covariates and without.
    assert len(table) == (2 * len(METHODS) + 1) * 8


def test_planted_words_of_fraud_lead_the_supervised_topics(quick_run, small):
    """Fraudulent postings are about topic 0; nothing else in the words tells them apart."""
    topics = quick_run("job-topics", small)[0].tables["topics"]
    for method in ("SMF", "non-negative SMF"):
        first = topics[(topics["method"] == method) & (topics["topic"] == 1)]
        assert first["coefficient"].iloc[0] > 0
        leading = first.nlargest(5, "weight")["word"]
        assert all(word.startswith("topic0x") for word in leading)


def test_thresholds_against_trying_all():
    rng = np.random.default_rng(0)
    y = (rng.random(80) < 0.2).astype(int)
    score = np.round(rng.random(80) + 0.4 * y, 2)
    found = job_topics.thresholds(y, score)
    tried = {cut: _confusion(y, score >= cut) for cut in np.unique(score)}

    def f(cut):
        hit, false, missed, _ = tried[cut]
        return 2 * hit / (2 * hit + false + missed)

    def youden(cut):
        hit, false, missed, right = tried[cut]
        return hit / (hit + missed) - false / (false + right)

    assert f(found["largest F"]) == pytest.approx(max(map(f, tried)))
    assert youden(found["Youden"]) == pytest.approx(max(map(youden, tried)))
    assert found["0.5"] == 0.5


def _confusion(y, predicted):
    return [int(np.sum((y == a) & (predicted == b))) for a, b in ((1, 1), (0, 1), (1, 0), (0, 0))]


def test_scores_by_hand():
    y = np.array([1, 1, 0, 0, 0])
    score = np.array([0.9, 0.3, 0.6, 0.2, 0.1])
    found = job_topics.scores(y, score, {"0.5": 0.5, "low": 0.25})
    # By decreasing score: a hit, a false one, a hit, then two correct ones.
    assert found["average precision"] == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert found["ROC AUC"] == pytest.approx(5 / 6)  # of six pairs one is the wrong way round
    assert found["accuracy (0.5)"] == pytest.approx(3 / 5) and found["F (0.5)"] == pytest.approx(1 / 2)
    assert found["accuracy (low)"] == pytest.approx(4 / 5) and found["F (low)"] == pytest.approx(4 / 5)
