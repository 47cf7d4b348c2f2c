"""Detect samples that a model was trained on: their predictions are no test of the model."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import issparse

from superfactor.tables.study import Study

#: Values of the column TRAINED_ON in a table of predictions.
NEW, SAME_VALUES, SAME_NAME, NO_LABEL = "no", "yes", "same name", "without its label"
TRAINED_ON = "trained_on"


def fingerprints(X: Any) -> Any:
    """Return a hash of eight bytes for each row of values (n, p), as integers (n,)."""

    def digest(*parts: Any) -> bytes:
        return hashlib.blake2b(b"".join(part.tobytes() for part in parts), digest_size=8).digest()

    # Single precision: the last digits of a logarithm may differ between versions of NumPy. −0 equals 0.
    if issparse(X):
        rows = X.tocsr().astype(np.float32)
        rows.eliminate_zeros()
        rows.sort_indices()
        ends = rows.indptr
        places = rows.indices.astype(np.int64)
        digests = b"".join(digest(places[a:b], rows.data[a:b]) for a, b in pairwise(ends))
    else:
        digests = b"".join(digest(row) for row in X.astype(np.float32) + np.float32(0))
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def trained_on(about: dict[str, Any], samples: Study) -> list[str]:
    """Compare samples with the training samples of a model.

    For each sample: SAME_VALUES if its values are those of a labeled training sample, NO_LABEL if its values
    or its name are those of an unlabeled one, SAME_NAME if a training sample has its name and other values,
    else NEW. Names are compared only if both tables have a column of names; row numbers are no names.
    """
    rows = set(about["training_rows"].tolist())
    named = samples.roles.id is not None and about["id"] is not None
    names = set(about["training_ids"].tolist()) if named else set()
    unlabeled = set(about["unlabeled_rows"].tolist()) if "unlabeled_rows" in about else set()
    unlabeled_names = set(about["unlabeled_ids"].tolist()) if named and unlabeled else set()
    return [
        SAME_VALUES
        if row in rows
        else NO_LABEL
        if row in unlabeled or name in unlabeled_names
        else SAME_NAME
        if name in names
        else NEW
        for row, name in zip(fingerprints(samples.design).tolist(), samples.ids.tolist(), strict=True)
    ]


def notes(marks: list[str], lacking: str) -> list[str]:
    """Return notes on samples that are not new; `lacking` is "label" or "value"."""
    seen, namesakes = marks.count(SAME_VALUES), marks.count(SAME_NAME)
    unlabeled = marks.count(NO_LABEL)
    texts = []
    if seen:
        texts.append(
            f"the model was trained on {seen} of these {len(marks)} samples ({TRAINED_ON} = {SAME_VALUES}); "
            "their predictions do not show how well it predicts new samples"
        )
    if unlabeled:
        texts.append(
            f"{unlabeled} of these {len(marks)} samples contributed to the factors without a {lacking} "
            f"({TRAINED_ON} = {NO_LABEL}); their predictions were learned from other samples"
        )
    if namesakes:
        texts.append(
            f"{namesakes} of these {len(marks)} samples have the name of a training sample and other values "
            f"({TRAINED_ON} = {SAME_NAME}); exclude them from tests if they are the same patients"
        )
    return texts
