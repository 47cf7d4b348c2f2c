from types import SimpleNamespace

import numpy as np
import pytest

from superfactor.interpretation.roles import beyond, roles

P, N, B = "predictive", "not shown", "background"


@pytest.mark.parametrize(
    ("carries", "shown", "predicts", "expected"),
    [
        ([1, 1, 0], None, None, [P, P, B]),  # without held-out results
        ([1, 1, 0], None, True, [P, P, B]),
        ([1, 1, 0], None, False, [N, N, B]),
        ([1, 1, 0], [1, 0, 0], None, [P, N, B]),
        ([1, 1, 0], [1, 0, 0], True, [P, N, B]),
        ([1, 1, 0], [1, 0, 0], False, [N, N, B]),
        ([1, 0, 0], [0, 1, 0], None, [N, P, B]),
        ([1, 0, 0], [0, 1, 0], False, [N, N, B]),
        ([0, 0, 0], [0, 0, 0], None, [B, B, B]),
    ],
)
def test_only_factors_useful_for_held_out_samples_are_predictive(carries, shown, predicts, expected):
    view = SimpleNamespace(predictive=np.array(carries, dtype=bool))
    shown = None if shown is None else np.array(shown, dtype=bool)
    assert roles(view, shown, predicts) == expected


def test_beyond_names_the_other_factors():
    assert beyond([B, B]) == ""
    assert beyond([P, B]) == " beyond factor 1"
    assert beyond([P, N, B, P]) == " beyond factors 1, 2 and 4"
