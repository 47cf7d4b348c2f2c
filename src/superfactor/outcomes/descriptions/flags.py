"""Several yes/no labels: counts of each label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from superfactor.estimators.inputs import as_numpy
from superfactor.outcomes.descriptions.base import Description, Predicted


class FlagDescription(Description):
    """Description of several yes/no labels, in one column each; entries may be missing."""

    lacking = "label"
    score = ("log-likelihood", "log-lik.", "log_likelihood")
    not_to_be_read = "related to the labels"
    direction = "the label that changes most with a higher score"

    def samples(self, y: Any, names: Sequence[str]) -> list[str]:
        found = self.sample_facts(y, names)["labels"]
        return [f"{name}: {of['yes']:,} of {of['yes'] + of['no']:,}" for name, of in found.items()]

    def sample_facts(self, y: Any, names: Sequence[str]) -> dict[str, Any]:
        yes, no = (y == 1).sum(axis=0).tolist(), (y == 0).sum(axis=0).tolist()
        return {"labels": {name: {"yes": a, "no": b} for name, a, b in zip(names, yes, no, strict=True)}}

    def predictions(self, outcome: Any, model: Any, X: Any, names: Sequence[str]) -> Predicted:
        shares = outcome.rows(model, X, np.asarray(names))
        decided = np.asarray(as_numpy(model.predict(X))).astype(int)  # one rule for a probability of ½
        columns: dict[str, list[Any]] = {}
        for name, own, share in zip(names, decided.T, shares.T, strict=True):
            columns |= {f"predicted[{name}]": own.tolist(), f"probability[{name}]": share.tolist()}
        counts = dict(zip(names, decided.sum(axis=0).tolist(), strict=True))
        shown = {name: [f"{share:.3f}" for share in own] for name, own in zip(names, shares.T, strict=True)}
        return Predicted(columns, shown, ", ".join(f"{n}: {c:,}" for n, c in counts.items()), counts)

    def coefficient(self, outputs: Sequence[str]) -> str:
        return f"log-odds of {outputs[0]}"
