"""Topics of postings: thinning, splits, thresholds and scores by hand; planted fraud words come out."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from reproduction import Setting, job_topics
from reproduction.topics import models, panels
from reproduction.topics.models import Topics

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


def test_always_genuine_is_right_as_often_as_postings_are_genuine(quick_run, small):
    table = quick_run("job-topics", small)[0].tables[""]
    rows = table[table["method"] == job_topics.GENUINE].set_index("metric")["value"]
    share = rows["average precision"]
    assert 0.03 < share < 0.06
    for rule in ("0.5", "Youden", "largest F"):
        assert rows[f"accuracy ({rule})"] == pytest.approx(1 - share) and rows[f"F ({rule})"] == 0
    assert rows["ROC AUC"] == 0.5


@pytest.mark.parametrize("ones", [30, 400], ids="fraudulent={}".format)
@pytest.mark.parametrize("most", [None, 200], ids="most={}".format)
def test_thinning_leaves_at_most_the_share(ones, most):
    y = np.r_[np.ones(ones, int), np.zeros(970, int)]
    kept = job_topics.thinned(y, 0.0484, most, seed=1)
    assert np.all(np.diff(kept) > 0)
    expected = min(0.0484, ones / len(y))
    assert np.mean(y[kept]) == pytest.approx(expected, abs=0.5 / len(kept) + 1e-12)
    assert len(kept) == (most or min(ones, 49) + 970)


def test_parts_are_disjoint_and_have_fraud_alike():
    y = (np.arange(600) % 20 == 0).astype(int)
    learn, tune, test = job_topics.parts(y, seed=0)
    assert sorted([*learn, *tune, *test]) == list(range(600))
    assert (len(learn), len(tune), len(test)) == (300, 100, 200)
    assert [int(np.sum(y[part])) for part in (learn, tune, test)] == [15, 5, 10]


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


def _confusion(y, told):
    return [int(np.sum((y == a) & (told == b))) for a, b in ((1, 1), (0, 1), (1, 0), (0, 0))]


def test_scores_by_hand():
    y = np.array([1, 1, 0, 0, 0])
    score = np.array([0.9, 0.3, 0.6, 0.2, 0.1])
    found = job_topics.scores(y, score, {"0.5": 0.5, "low": 0.25})
    # By falling score: a hit, a false one, a hit, then two right ones.
    assert found["average precision"] == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert found["ROC AUC"] == pytest.approx(5 / 6)  # of six pairs one is the wrong way round
    assert found["accuracy (0.5)"] == pytest.approx(3 / 5) and found["F (0.5)"] == pytest.approx(1 / 2)
    assert found["accuracy (low)"] == pytest.approx(4 / 5) and found["F (low)"] == pytest.approx(4 / 5)


@pytest.mark.parametrize("name", ["NMF", "LDA"])
def test_unsupervised_topics_are_the_same_in_every_run(name):
    rng = np.random.default_rng(0)
    counts = sp.csr_matrix(rng.poisson(0.5, (90, 60)).astype(float))
    X = TfidfTransformer().fit_transform(counts)
    texts = models.Texts(X, counts, np.arange(90) % 2, None)
    once, again = (models._codes(name, texts, np.arange(60), 4, Setting(quick=True)) for _ in range(2))
    for one, other in zip(once, again, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(once[0][:60].std(axis=0), 1)


def made_topics(coef, signed):
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((len(coef), 30))
    return models._topics(np.array(coef), weights if signed else np.abs(weights), signed)


@pytest.mark.parametrize(
    "signed, expected, shown",
    [(True, [-3.0, 2.0, 1.0, -0.5, 0.1], [0, 1]), (False, [2.0, 1.0, 0.1, -0.5, -3.0], [0, 4])],
    ids=["two ends", "one end"],
)
def test_order_of_topics(signed, expected, shown):
    topics = made_topics([0.1, -3.0, 2.0, 1.0, -0.5], signed)
    assert topics.coef.tolist() == expected
    np.testing.assert_allclose(np.abs(topics.weights).max(axis=1), 1)
    assert panels.shown_topics(topics, 2) == shown
    assert panels.shown_topics(topics, 9) == [0, 1, 2, 3, 4]


def test_words_from_the_highest_weight_down():
    one_end = Topics(np.array([1.0]), np.array([[0.2, 1.0, 0.0, 0.01, 0.5]]), signed=False)
    assert panels.top_words(one_end, 0, 3) == [1, 4, 0]
    assert panels.top_words(one_end, 0, 5) == [1, 4, 0]  # the others hardly weigh
    two_ends = Topics(np.array([1.0]), np.array([[0.2, 1.0, -0.3, -0.9, -0.04]]), signed=True)
    assert panels.top_words(two_ends, 0, 4) == [1, 0, 2, 3]
