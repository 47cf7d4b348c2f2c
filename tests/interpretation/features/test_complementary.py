"""Error bound and halves of complementary pairs, against naive counting."""

import numpy as np
import pytest

from superfactor.interpretation.features.complementary import complementary_halves, error_factor, how_many


@pytest.mark.parametrize(("tau", "B"), [(0.6, 25), (0.75, 50), (0.76, 10), (0.9, 100), (1.0, 50)])
def test_the_number_selected_is_the_largest_within_the_bound(tau, B):
    C = 1 / (2 * (2 * tau - 1 - 1 / (2 * B))) if tau <= 0.75 else 4 * (1 - tau + 0.5 / B) / (1 + 1 / B)
    assert error_factor(tau, B) == pytest.approx(C)
    for p in (50, 2_283):
        for expected in (0.5, 1, 3):
            # As far as the theorem goes.
            square = [(q / p) ** 2 for q in range(p)]
            lowest = [0.5 + min(s, 1 / (2 * B) + 0.75 * s) for s in square]
            allowed = [
                q for q in range(1, p) if C * q**2 / p <= expected and square[q] <= 1 / 3 and tau > lowest[q]
            ]
            assert how_many(p, expected, tau, B) == allowed[-1]


def test_known_values():
    # Shah and Samworth's C, and q = √(p/C) of the usual choice.
    assert error_factor(0.75, 50) == pytest.approx(1.0204, abs=1e-4)
    assert how_many(6830, 1, 0.75, 50) == 81


@pytest.mark.parametrize(
    ("p", "expected", "words"),
    [
        (100, 0.001, "expected_false=0.001: for 100 features a number >= 0.01 is required"),
        (1, 1.5, "expected_false=1.5: more than one feature is required"),
    ],
)
def test_no_bound(p, expected, words):
    with pytest.raises(ValueError, match=words):
        how_many(p, expected, 0.75, 50)


# --- halves -------------------------------------------------------------------------------------------


def test_halves_are_disjoint_complete_and_equal():
    strata = np.repeat([0, 1, 2, -1], [21, 10, 3, 7])
    rng, first = np.random.default_rng(0), np.zeros(len(strata))
    sizes = set()
    for _ in range(200):
        a, b = complementary_halves(strata, None, rng)
        assert sorted([*a, *b]) == list(range(len(strata)))
        for stratum in (0, 1, 2, -1):
            assert abs(np.sum(strata[a] == stratum) - np.sum(strata[b] == stratum)) <= 1
        assert abs(len(a) - len(b)) <= 1
        sizes.add(len(a))
        first[a] += 1
    # Every sample is in the first half about half of the time, and so is the odd one out.
    assert np.all(np.abs(first / 200 - 0.5) < 0.17)
    assert sizes == {20, 21}


def test_groups_stay_together_and_classes_in_both():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(12), 4)
    strata = np.repeat([0, 1], [32, 16])
    strata[[0, 4]] = 1  # two groups of both classes
    for _ in range(50):
        a, b = complementary_halves(strata, groups, rng)
        assert not set(groups[a]) & set(groups[b])
        assert len(a) == len(b) == 24
        assert set(strata[a]) == set(strata[b]) == {0, 1}


def test_groups_that_cannot_be_split():
    groups = np.array(["x", "x", "y", "z"])
    with pytest.raises(ValueError, match="groups: no split into halves"):
        complementary_halves(np.array([0, 1, 0, 0]), groups, np.random.default_rng(0))
