"""`superfactor factors`: the factors of a saved model, which needs no table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from superfactor.cli.commands.fit import read_markers
from superfactor.cli.commands.opening import open_model
from superfactor.cli.options import View
from superfactor.cli.record import verdict_of
from superfactor.cli.told import out_of_fold
from superfactor.cli.told.factor_table import check_positive, factor_facts, show_factors
from superfactor.cli.told.output import check_paths, check_table, write_frame
from superfactor.cli.told.returning import show_stable_facts
from superfactor.cli.told.screen import Screen
from superfactor.cli.told.summary import show_verdict
from superfactor.interpretation import factor_view
from superfactor.saving import versions


def run(model: Path, looks: View, n: int, out: Path | None, screen: Screen) -> None:
    """Print factors, with `n` features at each end, and the verdict."""
    check_paths({"--out": out}, model, looks.markers)
    check_table("--out", out)
    notes = read_markers(looks.markers)
    loaded = open_model(model, screen)
    about = loaded.about
    looks = looks.like(about)
    check_positive(looks.positive, about)
    view, verdict = factor_view(loaded.model, **looks.shown), verdict_of(about)
    factors = factor_facts(
        view,
        by=looks.ranked_by,
        markers=notes,
        held=out_of_fold.recorded_facts(about, **looks.shown),
        verdict=verdict,
        n=n,
    )
    if out is not None:
        write_frame(out, _all(view))
    screen.fields([("model", str(model)), ("table", about["table"])])
    covariates = bool(about["covariates"])
    show_factors(factors, screen, about, by=looks.ranked_by, covariates=covariates, shown=n)
    fitted = factor_view(loaded.model, **View().like(about).shown)
    stable = _stable(about["stable_features"], view, fitted)
    show_stable_facts(stable, screen)
    if verdict is not None:
        near = about["nearness"]
        show_verdict(verdict, screen, None if near is None else near["statement"])
    if out is not None:
        screen.say()
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


def _stable(told: dict[str, Any] | None, view: Any, fitted: Any) -> dict[str, Any] | None:
    """Stable features with the signs of a view; their correlations are with the factors as first shown."""
    if told is None or view.outputs == fitted.outputs:
        return told
    turned = [
        row | {"correlation": -row["correlation"], "low": -row["high"], "high": -row["low"]}
        for row in told["selected"]
    ]
    return told | {"selected": turned}


def _all(view: Any) -> Any:
    """One row a feature and factor."""
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
