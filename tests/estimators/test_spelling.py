"""Warnings for two spellings of one class, and warning for −1 among other classes."""

import warnings

import numpy as np
import pandas as pd
import pytest

from superfactor import SMFClassifier, SMFClassifierCV

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
ONE = SMFClassifier(1, xi=0.1, lam=1.0)
SEARCH = SMFClassifierCV(1, xi=0.1, lam=1.0, cv=3)


def labels(*words):
    return np.array((words * 60)[:60])


@pytest.fixture(params=[ONE, SEARCH], ids=["one", "search"])
def classifier(request):
    return request.param


def test_warning_for_two_spellings(classifier):
    y = labels("Tumor", "normal", "tumor ", "TUMOR")
    message = (
        r"^y: 'TUMOR', 'Tumor' and 'tumor ' differ only in case or blanks and are fitted as different[^\n]*$"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        assert len(classifier.fit(X, y).classes_) == 4
    assert len(caught) == 1
    assert "[label.strip().lower() for label in y]" in str(caught[0].message)
    helped = [label.strip().lower() for label in y.tolist()]
    assert classifier.fit(X, helped).classes_.tolist() == ["normal", "tumor"]


@pytest.mark.parametrize(
    "container", [list, pd.Series, pd.Categorical, lambda y: pd.array(y, dtype="string")]
)
def test_in_every_container(container):
    with pytest.warns(UserWarning, match=r"^y: 'Tumor' and 'tumor ' differ"):
        ONE.fit(X, container(labels("Tumor", "normal", "tumor ").tolist()))


@pytest.mark.parametrize("y", [labels("a b", "ac"), labels("É", "E"), labels(1, 10)])
def test_labels_that_differ(y):
    assert len(ONE.fit(X, y).classes_) == 2


@pytest.mark.parametrize("y", [labels(-1, 0, 1), labels(-1.0, 1.0, 2.0, 3.0)], ids=["int", "float"])
def test_one_warning_for_minus_one(classifier, y):
    with pytest.warns(UserWarning, match="-1 among the labels is fitted as a class") as caught:
        fitted = classifier.fit(X, y)
    assert fitted.classes_[0] == -1
    assert len(caught) == 1


@pytest.mark.parametrize(
    "y", [labels(-1, 1), labels(0, 1, 2), labels(-2, -1, 0), labels("-1", "0", "1")], ids=str
)
def test_no_warning_for_other_labels(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ONE.fit(X, y)
