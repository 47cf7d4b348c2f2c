"""Samples without a label on a cluster, compared with the same fit in memory."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from tests.distributed.test_estimators import LABELS, LAZY, MODELS, SCORES, WEIGHTS, N, P, X, assert_same_fit

from superfactor import SMFClassifier, SMFRegressor
from superfactor.distributed import DaskSMFClassifier, DaskSMFRegressor

# The first two chunks of X have no label at all.
KNOWN = (np.arange(N) >= 100) & (np.arange(N) % 3 == 0)
WORDS = np.where(KNOWN, LABELS.astype(object), None)
MARKED = np.where(KNOWN, LABELS, "?")


@pytest.mark.parametrize(
    ("lazy", "here", "more"),
    [
        (da.from_array(WORDS, chunks=70), WORDS, {}),
        (WORDS, WORDS, {"model": "feature", "class_weight": "balanced"}),
        (da.from_array(MARKED, chunks=70), MARKED, {"unlabeled": "?"}),
    ],
    ids=["words", "words-in-memory", "marked"],
)
def test_missing_labels_and_weights(client, lazy, here, more):
    options = {**MODELS[more.get("model", "filter")], **more}
    expected = SMFClassifier(**options).fit(X, here, sample_weight=WEIGHTS)
    found = DaskSMFClassifier(client=client, **options).fit(LAZY, lazy, sample_weight=WEIGHTS)
    assert_same_fit(client, found, expected)
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    assert found.n_labeled_ == expected.n_labeled_ == (KNOWN & (WEIGHTS > 0)).sum()
    assert found.class_count_ == expected.class_count_
    assert found.score(LAZY, lazy) == expected.score(X, here)


def test_weights_in_units_of_the_data(client):
    options = {"search": "off", "certify": None, "tol": 1e-2}
    expected = SMFClassifier(3, **options).fit(X, WORDS)
    found = DaskSMFClassifier(3, client=client, **options).fit(LAZY, WORDS)
    assert found.xi_ == pytest.approx(expected.xi_, rel=1e-9)
    assert found.lam_ == pytest.approx(expected.lam_, rel=1e-2)  # of σ₁², nearly


@pytest.mark.parametrize("kind", ["category", "Int64"])
def test_columns_of_dataframes(client, kind):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(P)])
    features = list(frame.columns)
    values = pd.Series(SCORES.argmax(axis=1), dtype="Int64") if kind == "Int64" else WORDS
    frame["kind"] = pd.Series(values, dtype=kind).where(KNOWN, pd.NA)
    table = dd.from_pandas(frame, npartitions=5)
    options = MODELS["filter"]
    expected = SMFClassifier(**options).fit(frame[features], frame["kind"])
    found = DaskSMFClassifier(client=client, **options).fit(table[features], table["kind"])
    assert_same_fit(client, found, expected)
    assert found.n_labeled_ == KNOWN.sum()
    assert list(found.classes_) == list(expected.classes_)


def test_missing_targets(client):
    y = SCORES[:, :2].copy()
    y[~KNOWN] = np.nan
    options = {**MODELS["feature"], "model": "feature", "xi": 1.0}
    expected = SMFRegressor(**options).fit(X, y)
    found = DaskSMFRegressor(client=client, **options).fit(LAZY, da.from_array(y))
    assert_same_fit(client, found, expected)
    assert found.n_labeled_ == KNOWN.sum()
    assert found.score(LAZY, da.from_array(y)) == pytest.approx(expected.score(X, y), abs=1e-5)
