"""Which samples of a table a model was trained on: what it says of them is no test of it."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import issparse

from superfactor.tables.study import Study

#: What the column TRAINED_ON of predictions says of a sample.
NEW, SAME_VALUES, SAME_NAME, NO_LABEL = "no", "yes", "same name", "without its label"
TRAINED_ON = "trained_on"


def fingerprints(X: Any) -> Any:
    """Eight bytes for each row of values (n, p), as whole numbers (n,)."""

    def digest(*parts: Any) -> bytes:
        return hashlib.blake2b(b"".join(part.tobytes() for part in parts), digest_size=8).digest()

    # Single precision: the last digits of a logarithm may differ between versions of NumPy. −0 is 0.
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
    """For each sample NEW, SAME_VALUES, or SAME_NAME where a training sample of that name has other values.

    NO_LABEL where it shaped the factors, by its values or its name, and its label was not known.
    Names count where both tables have some, in whatever column, and not mere numbers of rows.
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
    """What a user should know about samples that are not new; `lacking` is what some had none of."""
    seen, namesakes = marks.count(SAME_VALUES), marks.count(SAME_NAME)
    unlabeled = marks.count(NO_LABEL)
    said = []
    if seen:
        said.append(
            f"the model was trained on {seen} of these {len(marks)} samples ({TRAINED_ON} = {SAME_VALUES}); "
            "how well it predicts them says nothing about new ones"
        )
    if unlabeled:
        said.append(
            f"{unlabeled} of these {len(marks)} samples shaped the factors without a {lacking} "
            f"({TRAINED_ON} = {NO_LABEL}); what they are predicted by was learned from others"
        )
    if namesakes:
        said.append(
            f"{namesakes} of these {len(marks)} samples have the name of a training sample and other values "
            f"({TRAINED_ON} = {SAME_NAME}); leave them out of any test if they are the same patients"
        )
    return said
