"""The page about a model, and a table of all its features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from superfactor.cli.errors import UserError
from superfactor.cli.output.files import write_frame
from superfactor.cli.output.findings import Findings
from superfactor.cli.output.screen import Screen
from superfactor.interpretation import feature_effects
from superfactor.outcomes import outcome_named
from superfactor.report import write_report
from superfactor.tables.study import Study
from superfactor.tables.targets.columns import known


def write_page(
    path: Path,
    found: Findings,
    about: dict[str, Any],
    samples: Study,
    train: Any,
    held_out: Any,
    screen: Screen,
    **more: Any,
) -> None:
    """Write the page about a model with the metadata `about`, for the samples at these positions."""
    some = len(held_out) > 0
    write_report(
        path,
        found.model,
        samples.rows(train),
        _named(samples, samples.y[train], about),
        X_test=samples.rows(held_out) if some else None,
        y_test=_named(samples, known(samples.y[held_out]), about) if some else None,
        **_confounders_at(samples, train, held_out),
        title=f"Supervised factors of {' + '.join(about.get('blocks') or [about['table']])}",
        target=about["target"],
        ids=[*samples.ids[train], *samples.ids[held_out]],
        command=about["command"],
        changes=["Feature values below 1 were set to 1, then log2 was taken."] * about["log2"],
        notes=_notes(screen),
        groups=about["groups"],
        **found.for_page,
        **more,
    )


def _named(samples: Study, y: Any, about: dict[str, Any]) -> Any:
    """Return y with the names of its columns, for several targets and for survival times."""
    column = (about.get("y") or {}).get("time")
    if column is None or column in ("event", "stratum", "entry"):
        return samples.named(y)
    return y.astype([("event", bool), (column, float)])


def check_page(kind: str) -> None:
    """Raise an error if there is no page for this kind of y."""
    if outcome_named(kind).page is None:
        raise UserError(f"--report: there is no report for models of {kind}; leave the option out")


def _confounders_at(samples: Study, train: Any, held_out: Any) -> dict[str, Any]:
    """Return the parameters of `write_report` with the confounders of the samples at these positions."""
    if samples.confounders is None:
        return {}
    return {
        "confounders": samples.confounders.iloc[train],
        "confounders_test": samples.confounders.iloc[held_out] if len(held_out) else None,
    }


def _notes(screen: Screen) -> list[str]:
    """Return the notes of the command without those on imputation, which the page reports itself."""
    return [note for note in screen.notes if screen.kinds[note] != "filled"]


def write_features(path: Path, found: Findings, X: Any, y: Any) -> None:
    """Write `feature_effects` of all features, and the share of half-samples in which each was found."""
    table = feature_effects(found.model, X, y, positive=found.analysis.positive)
    if found.stable is not None:
        columns = {"share": "half_samples", "share_shuffled": "half_samples_shuffled"}
        own = found.stable.table.set_index("feature").rename(columns=columns | {"selected": "stable"})
        # The command line accepts only tables with unique names of features.
        for name in (*columns.values(), "stable"):
            table[name] = table["feature"].map(own[name])
    write_frame(path, table.replace({"difference_in_sd": [np.inf, -np.inf]}, np.nan))
