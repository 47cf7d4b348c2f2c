"""A new kind of y needs one file and an entry in `KINDS`: ordered classes as an example."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from superfactor import SMFClassifier
from superfactor.outcomes import KINDS, Classes, Metric, outcome_of
from superfactor.selection import external_scores, nested_scores


class Grades(SMFClassifier):
    """Example data: classes that have an order."""


def steps_off(truth, rows):
    return float(np.mean(np.abs(rows.argmax(axis=1) - truth)))


class Ordered(Classes):
    """Classes whose error is the number of steps between them."""

    name = "ordered"
    estimator = Grades
    metrics = (Metric("steps", "steps off", steps_off, higher_is_better=False), *Classes.metrics)

    def headline(self, truth):
        return "steps"

    def chance(self, metric, truth, rows):
        return super().chance("accuracy", truth, rows)

    def least_intervals(self, truth, rows):
        return {}


@pytest.fixture
def ordered():
    kind = Ordered()
    KINDS.append(kind)
    yield kind
    KINDS.remove(kind)


def test_searches_scores_and_tables_support_the_new_kind(ordered):
    X, y = load_iris(return_X_y=True)
    model = Grades(2, certify=None)
    assert outcome_of(model) is ordered
    found = nested_scores(model, X, y, n_repeats=1)
    assert (found.outcome, found.headline) == ("ordered", "steps")
    assert found.summary["steps"]["mean"] == pytest.approx(1 - found.summary["accuracy"]["mean"], abs=0.05)
    assert found.verdict.headline.startswith("Better than guessing: steps off 0.")
    found = external_scores(model.fit(X[::2], y[::2]), X[1::2], y[1::2])
    assert found.headline == "steps" and found.verdict.grade == "better"
