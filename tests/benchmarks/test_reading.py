"""What features are shown and return: who is asked what, and what the page says of it."""

import json

import numpy as np
import pytest
from benchmarks import readers, reading
from benchmarks.__main__ import RESULTS
from benchmarks.pages import PAGE, renewed
from benchmarks.readers import LOADINGS, OURS, REST, STATISTIC, WEIGHTS, Shown
from scipy import stats
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from reproduction.data import VARIABLE
from superfactor import SMFClassifier
from superfactor.datasets import load_t_cells

METHODS = [OURS, WEIGHTS, "ridge LR", "PLS-DA's weights", LOADINGS, "PCA + LR", STATISTIC]


def _planted(classes, n=120, p=60, seed=0):
    """Features 0 to 9 are higher in class 0, those from 10 to 19 in class 1, …; the rest is noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.standard_normal((n, p))
    for c in range(classes):
        X[:, 10 * c : 10 * (c + 1)] += 3.0 * (y == c)[:, None]
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("sizes", [(7, 9), (4, 5, 5, 11), (20, 20)])
def test_halves_share_no_sample_and_have_the_classes_in_proportion(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    first, second = reading.halves(y, 3)
    assert sorted([*first, *second]) == list(range(len(y)))
    for number, size in enumerate(sizes):
        of = [int((y[half] == number).sum()) for half in (first, second)]
        assert sorted(of) == [size // 2, size - size // 2]
    assert abs(len(first) - len(second)) <= 1
    assert not np.array_equal(first, reading.halves(y, 4)[0])


@pytest.mark.parametrize("classes", [2, 3])
def test_everybody_shows_planted_features_at_their_ends(classes):
    X, y = _planted(classes)
    shown = readers.shown_by_all(X, y)
    assert list(shown) == METHODS
    for method, of in shown.items():
        features, directions, signs = of.top(12)
        assert (features < 10 * classes).all(), method
        high, low = of.ends[directions].T
        for j, up, down, sign in zip(features, high, low, signs, strict=True):
            own = j // 10  # the class that has more of it
            if sign > 0:
                assert own != down, method
                assert own == up or classes > 2, method
            elif down != REST:
                assert own != up, method


def test_the_largest_on_any_direction_are_shown_with_their_sign():
    values = np.array([[0.1, -0.9, 0.3, 0.0], [0.5, 0.2, -0.4, 0.0]])
    features, directions, signs = Shown(values, None, None).top(3)
    assert features.tolist() == [1, 0, 2]
    assert directions.tolist() == [0, 1, 1]
    assert signs.tolist() == [-1, 1, -1]


def _naively(X, y, rank):
    """Correlations of the features with the predictive scores: activations, decorrelated, largest first.

    By the singular vectors of the centred activations, one sample and one class at a time.
    """
    model = SMFClassifier(n_components=rank).fit(X, y)
    raw = model.decision_function(X)
    activations = np.column_stack([np.zeros(len(X)), raw]) if raw.ndim == 1 else raw
    activations = activations - activations.mean(axis=1, keepdims=True)
    scores, size, _ = np.linalg.svd(activations - activations.mean(axis=0), full_matrices=False)
    scores = scores[:, size > 1e-9 * size[0]]
    return np.array([[stats.pearsonr(x, t)[0] for x in X.T] for t in scores.T])


def test_what_superfactor_shows_are_correlations_with_the_activations_of_two_classes():
    data = load_t_cells()
    X, y = StandardScaler().fit_transform(data.X)[:, ::5], (data.y == "CD8").astype(int)
    shown = readers.superfactor(X, y)[OURS]
    expected = _naively(X, y, 2)
    assert expected.shape == shown.values.shape == (1, X.shape[1])
    sign = np.sign(np.sum(expected * shown.values))
    np.testing.assert_allclose(shown.values, sign * expected, atol=1e-8)
    features = data.features[::5]
    top = dict(zip(features[shown.top(20)[0]], shown.top(20)[2], strict=True))
    assert {name for name, sign in top.items() if sign > 0} & {"NKG7", "CD8B", "GNLY", "CTSW"}


def test_what_superfactor_shows_are_correlations_with_the_activations_of_three_classes():
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    shown = readers.superfactor(X, y)[OURS]
    expected = _naively(X, y, 3)[: len(shown.values)]
    signs = np.sign(np.sum(expected * shown.values, axis=1, keepdims=True))
    np.testing.assert_allclose(shown.values, signs * expected, atol=1e-6)
    np.testing.assert_allclose(shown.values, shown.correlations, atol=1e-8)


def test_pls_loadings_are_those_of_regressing_x_on_its_scores():
    X, y = _planted(3)
    shown = readers.pls(X, y)[LOADINGS]
    # Features have unit variance, so per standard deviation of a score they are correlations.
    np.testing.assert_allclose(shown.values, shown.correlations, atol=1e-8)


def test_tests_are_scipys_and_a_constant_feature_has_none():
    X, y = _planted(2)
    X[:, 3] = 1.0
    value, p = readers.tested(X, y)
    expected = stats.ttest_ind(X[y == 1, 5], X[y == 0, 5], equal_var=False)
    assert (value[5], p[5]) == pytest.approx((expected.statistic, expected.pvalue))
    assert (value[3], p[3]) == (0.0, 1.0)
    X, y = _planted(3)
    assert readers.tested(X, y)[1][5] == pytest.approx(
        stats.f_oneway(*(X[y == c, 5] for c in range(3))).pvalue
    )


@pytest.mark.parametrize("low", [1, REST])
def test_each_measure_counts_what_it_says(low):
    """Of four features shown two return, two differ, three are at the right end, one is against its own."""
    values = np.array([[4.0, 3.0, -2.0, 1.0, 0.0, 0.0]])
    shown = Shown(values, np.array([[0, low]]), np.array([[0.5, 0.5, 0.5, 0.5, 0, 0]]))
    again = Shown(np.array([[9.0, 0, 0, 0, 1, 1]]), shown.ends, None)
    Z = np.array([[1.0, 1, -1, -1, 0, 0], [0.0, 0, 0, 0, 0, 0]])
    q = np.array([0.01, 0.05, 0.06, 0.5, 0, 0])
    # The other half shows features 0, 4, 5, and the first of those that are 0.
    found = reading.judged(shown, again, Z, np.array([0, 1]), q, n=4)
    assert dict(zip(reading.MEASURES, found, strict=True)) == {
        "returned": 0.5,
        "differs": 0.5,
        "right end": 0.75,
        "against": 0.25,
    }


def test_halves_of_one_table_agree_where_classes_are_far_apart():
    X, y = _planted(2)
    found = {}
    for method, measures in reading.compared(X, y, 0):
        found.setdefault(method, []).append(measures)
    assert list(found) == METHODS and all(len(each) == 2 for each in found.values())
    for method in (OURS, STATISTIC):
        returned, differs, right, against = np.mean(found[method], axis=0)
        assert min(returned, differs, right) > 0.9 and against == 0.0


def test_rare_classes_are_left_out():
    table = reading._table("t", np.arange(12.0)[:, None], np.array(list("aaaabbbcccccdd")[:12]))
    assert table.X[:, 0].tolist() == [0, 1, 2, 3, 7, 8, 9, 10, 11]
    assert table.y.tolist() == [0] * 4 + [1] * 5


def test_words_are_frequencies_whatever_the_length_of_the_text(tmp_path):
    counts = np.random.default_rng(0).integers(0, 4, (12, 6)).astype(np.uint8)
    counts[:, 0] += 1
    y = np.arange(12) % 2
    np.savez(tmp_path / "relathe_text.npz", X=counts, y=y)
    sparse = csr_array(counts)
    rows = {name: getattr(sparse, name) for name in ("data", "indices", "indptr", "shape")}
    np.savez(tmp_path / "fake_jobs_description_counts.npz", y=y, **rows)
    (words,), (postings,) = reading._relathe(tmp_path), reading._postings(tmp_path)
    rarity = np.log(13 / (1 + (counts > 0).sum(axis=0))) + 1
    expected = counts * rarity / np.linalg.norm(counts * rarity, axis=1, keepdims=True)
    for table in (words, postings):
        np.testing.assert_allclose(table.X, expected)
        assert np.array_equal(table.y, y)


def test_without_tables_it_says_where_they_should_be(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(SystemExit, match=VARIABLE):
        reading.reading()


# --- the page ----------------------------------------------------------------------------------------------


def test_numbers_arrive_in_their_cells():
    rows = [
        {"case": f"{name}, 9 × {p}", "classes": 2, "method": method}
        | {"returned": share / times, "differs": 0.5, "right end": 1.0, "against": 0.0}
        for name, p, times in (("a", 2000, 1), ("b", 1000, 2))
        for method, share in zip(METHODS, (0.6, 0.4, 0.1, 0.1, 0.2, 0.1, 0.61), strict=True)
    ]
    new = renewed(PAGE.read_text(), {"reading": {"machine": {}, "rows": rows}})
    said = " ".join(new.split())
    assert "| superfactor | 45% | 50% | 100% | 0% |" in new
    assert "| a, 9 × 2000 | 2 | 60% | 40% | 10% | 10% | 20% | 10% | **61%** |" in new
    assert "returns 1.5 times as often as what its weights show, 30 points more often than" in said
    assert "1 point less often than what differs most" in said and "By chance 1.5% would" in said
    assert "more often than its weights in 2 and less often in 0:" in said


def test_what_was_asked_of_the_features_shown_was_measured():
    """They return 1.25 times as often as by weight, as often as others', and none stands at a wrong end."""
    rows = json.loads(RESULTS.read_text())["reading"]["rows"]
    found = {row["method"]: row for row in reading.means(rows)}
    ours = found[OURS]["returned"]
    assert len({row["case"] for row in rows}) == 10
    assert ours >= 1.25 * found[WEIGHTS]["returned"]
    assert ours >= found[LOADINGS]["returned"]
    assert ours >= found[STATISTIC]["returned"] - 0.03
    assert all(row["against"] == 0.0 for row in rows if row["method"] == OURS)
