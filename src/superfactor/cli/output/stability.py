"""Stability of factors and features, for the terminal and for scripts."""

from __future__ import annotations

from typing import Any

from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.output.screen import Screen

# Features shown.
_FIRST = 5


def resampled(model: Any, X: Any, y: Any, resamples: int, seed: int, screen: Screen, **shown: Any) -> Any:
    """Return the Stability of a model for factors as `shown`; None without resamples."""
    if not resamples:
        return None
    from superfactor.interpretation import stability

    with (
        screen.step("stability"),
        screen.progress(f"refitting to {resamples} resamples") as progress,
        as_user_error("--stability: "),
    ):
        return stability(model, X, y, resamples, random_state=seed, progress=progress, **shown)


def show_stability(
    stability: Any, screen: Screen, roles: list[str], outcomes: str
) -> list[dict[str, Any]] | None:
    """Print the stability of each factor, with shuffled `outcomes` for comparison; return plain values."""
    if stability is None:
        return None
    import numpy as np

    columns = ["frequency", "frequency_shuffled"]
    frequency = stability.table.groupby("factor")[columns].mean()
    alike, shuffled = (
        np.median(values, axis=0) for values in (stability.similarity, stability.similarity_shuffled)
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
    names = ("factor", "similarity", "shuffled", "top features found again", "shuffled")
    screen.table(
        f"Stability over {stability.n_resamples} resamples", [(name, "right") for name in names], rows
    )
    screen.legend([("shuffled", f"the same with shuffled {outcomes}, for comparison")])
    return found


def stable_in_halves(
    model: Any,
    X: Any,
    y: Any,
    requested: bool | None,
    seed: int,
    screen: Screen,
    groups: Any = None,
    positive: str | None = None,
) -> Any:
    """Return the StableFeatures of a model; None if `requested` is False.

    If `requested` is None, the result is also None, with a note, if the computation would take long or if
    there are too few samples for halves.
    """
    if requested is False:
        return None
    from superfactor.interpretation import stable_features
    from superfactor.interpretation.refits import progress as pace

    with screen.step("stable features"), screen.progress("fitting halves of the samples") as progress:
        try:
            report = progress if requested else pace.time_limited(progress)
            options = {"groups": groups, "positive": positive, "random_state": seed}
            return stable_features(model, X, y, progress=report, **options)
        except ValueError as error:
            if requested:
                raise UserError(f"--stable: {error}") from error
            screen.note(f"no stable features: {error}")
        except pace.TooLong:
            screen.note(
                f"no stable features, because the fits to halves of the samples would take more than "
                f"{pace.MOST_SECONDS} seconds; --stable computes them"
            )
    return None


def stable_facts(found: Any) -> dict[str, Any] | None:
    """Return StableFeatures as plain values; None without any."""
    if found is None:
        return None
    numbers = ("n_top", "n_pairs", "threshold", "expected_false", "bound_without_assumption")
    selected = found.table[found.table["selected"]].drop(columns="selected")
    return {
        "statement": found.statement,
        **{name: getattr(found, name) for name in numbers},
        "selected": selected.to_dict("records"),
    }


def show_stable(found: Any, screen: Screen) -> None:
    """Print the statement on stable features, and the first of them."""
    if found is None:
        return
    show_stable_facts(stable_facts(found), screen)


def show_stable_facts(facts: dict[str, Any] | None, screen: Screen) -> None:
    """Print stable features, as `stable_facts` returns them."""
    if facts is None:
        return
    rows = [
        [
            str(row["feature"]),
            *(f"{row[name]:.0%}" for name in ("share", "share_shuffled")),
            f"{row['correlation']:+z.2f}",
            f"{row['low']:+z.2f} to {row['high']:+z.2f}",
        ]
        for row in facts["selected"][:_FIRST]
    ]
    names = ("half-samples", "shuffled", "corr.", "95 % of halves")
    if rows:
        more = f", the first {_FIRST}" * (len(facts["selected"]) > _FIRST)
        columns = [("feature", "left"), *((name, "right") for name in names)]
        screen.table(f"Stable features{more}", columns, rows)
    else:
        screen.print("\nStable features\n", style="bold")
    screen.print(facts["statement"])
