"""All features on disk: how each goes with the labels and the factors, and whether it returns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from superfactor.cli.told.findings import Findings
from superfactor.cli.told.output import write_frame


def write_features(path: Path, found: Findings, X: Any, y: Any) -> None:
    """Write `feature_effects` of all features, and in how many halves of the samples each returned.

    Parameters
    ----------
    found : of the model
    X, y : what it was fitted to
    """
    from superfactor.interpretation import feature_effects

    table = feature_effects(found.model, X, y, positive=found.looks.positive)
    if found.stable is not None:
        columns = {"share": "half_samples", "share_shuffled": "half_samples_shuffled"}
        own = found.stable.table.set_index("feature").rename(columns=columns | {"selected": "stable"})
        # Names of features are unique in a table that the command line has read.
        for name in (*columns.values(), "stable"):
            table[name] = table["feature"].map(own[name])
    write_frame(path, table)
