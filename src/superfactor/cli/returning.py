"""Which features come back in fits to parts of the samples, on the screen and for scripts."""

from __future__ import annotations

from typing import Any

from superfactor.cli.errors import as_user_error
from superfactor.cli.screen import Screen


def resampled(
    model: Any, X: Any, y: Any, resamples: int, seed: int, screen: Screen, **shown: Any
) -> Any:
    """The Stability of a model, its factors as they are `shown`; None where no resamples are asked for."""
    if not resamples:
        return None
    from superfactor.interpretation import stability

    with (
        screen.step("stability"),
        screen.progress(f"refitting to {resamples} resamples") as progress,
        as_user_error("--stability: "),
    ):
        return stability(model, X, y, resamples, random_state=seed, progress=progress, **shown)


def show_stability(stability: Any, screen: Screen, roles: list[str]) -> list[dict[str, Any]] | None:
    """Print how faithfully each factor returns, beside the same with shuffled labels; return plain values.

    Parameters
    ----------
    stability : Stability, or None for nothing
    roles : of the factors
    """
    if stability is None:
        return None
    import numpy as np

    columns = ["frequency", "frequency_shuffled"]
    frequency = stability.table.groupby("factor")[columns].mean()
    alike, shuffled = (
        np.median(values, axis=0)
        for values in (stability.similarity, stability.similarity_shuffled)
    )
    found: list[dict[str, Any]] = [
        {
            "factor": number,
            "role": role,
            "similarity": float(alike[number - 1]),
            "similarity_shuffled": float(shuffled[number - 1]),
            **{name: float(frequency[name].get(number, 0.0)) for name in columns},
        }
        for number, role in enumerate(roles, start=1)
    ]
    rows = [
        [
            str(f["factor"]),
            *(f"{f[name]:.2f}" for name in ("similarity", "similarity_shuffled")),
            *(f"{f[name]:.0%}" for name in columns),
        ]
        for f in found
    ]
    names = ("factor", "similarity", "shuffled", "top features return", "shuffled")
    screen.table(
        f"Stability over {stability.n_resamples} resamples",
        [(name, "right") for name in names],
        rows,
    )
    screen.say(
        "shuffled: the same where labels mean nothing; only what exceeds it is due to them.",
        style="dim",
    )
    return found
