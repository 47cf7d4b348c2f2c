"""`superfactor factors`: the factors of a saved model, without its table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from superfactor.cli.commands.fit import read_markers
from superfactor.cli.commands.loading import open_model
from superfactor.cli.options import View
from superfactor.cli.output import out_of_fold
from superfactor.cli.output.factor_table import check_positive, factor_facts, show_factors
from superfactor.cli.output.files import check_paths, check_table, write_frame
from superfactor.cli.output.screen import Screen
from superfactor.cli.output.stability import show_stable_facts
from superfactor.cli.output.summary import show_verdict
from superfactor.cli.record import verdict_of
from superfactor.interpretation import factor_view
from superfactor.saving import versions


def run(model: Path, view_options: View, n: int, out: Path | None, screen: Screen) -> None:
    """Print factors, with `n` features at each end, and the verdict."""
    check_paths({"--out": out}, model, view_options.markers)
    check_table("--out", out)
    notes = read_markers(view_options.markers)
    loaded = open_model(model, screen)
    about = loaded.about
    view_options = view_options.with_defaults(about)
    check_positive(view_options.positive, about)
    view, verdict = factor_view(loaded.model, **view_options.shown), verdict_of(about)
    factors = factor_facts(
        view,
        by=view_options.ranked_by,
        markers=notes,
        held=out_of_fold.recorded_facts(about, **view_options.shown),
        verdict=verdict,
        n=n,
    )
    if out is not None:
        write_frame(out, _all_features(view))
    screen.fields([("model", str(model)), ("table", about["table"])])
    covariates = bool(about["covariates"])
    show_factors(factors, screen, about, by=view_options.ranked_by, covariates=covariates, shown=n)
    recorded = factor_view(loaded.model, **View().with_defaults(about).shown)
    stable = _with_signs_of(view, about["stable_features"], recorded)
    show_stable_facts(stable, screen)
    if verdict is not None:
        near = about["nearness"]
        show_verdict(verdict, screen, None if near is None else near["statement"])
    if out is not None:
        screen.print()
        screen.fields([("all features", str(out))])
    screen.finish(
        {
            "versions": versions(),
            "factors": factors,
            "stable_features": stable,
            "verdict": about["verdict"],
            "nearness": about["nearness"],
            "files": {} if out is None else {"features": str(out)},
        }
    )


def _with_signs_of(view: Any, stable: dict[str, Any] | None, recorded: Any) -> dict[str, Any] | None:
    """Return the stable features with the signs of a view; they were saved with those of `recorded`."""
    if stable is None or view.outputs == recorded.outputs:
        return stable
    flipped = [
        row | {"correlation": -row["correlation"], "low": -row["high"], "high": -row["low"]}
        for row in stable["selected"]
    ]
    return stable | {"selected": flipped}


def _all_features(view: Any) -> Any:
    """Return a DataFrame with one row per factor and feature."""
    r, p = view.correlations.shape
    return pd.DataFrame(
        {
            "factor": np.repeat(np.arange(1, r + 1), p),
            "feature": np.tile(view.features, r),
            "correlation": view.correlations.ravel(),
            "weight": view.shown("weight").ravel(),
            "disagrees": view.disagree.ravel(),
        }
    )
