"""What a convergence study says about the paper's claims: exponential decay, faster for larger ξ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reproduction.convergence.panels import NAMES
from reproduction.convergence.study import MODELS, PAPER, SAFE, WINDOW, Runs

__all__ = ["verdict"]


def verdict(runs: Sequence[Runs]) -> str:
    """Sentences, every number in them from `runs`."""
    parts = [
        "The paper: the loss falls exponentially, and faster for larger ξ.",
        *(_decay(runs, model, step) for model in MODELS for step in (PAPER, SAFE)),
        "Given for each ξ is the rate an iteration of an exponential through F − F*; in brackets what a "
        "gradient step by itself does to ξ‖X − B‖², most of the loss at a random start, whatever the labels "
        "are (−2·log|1 − 2ξτ|), and the R² of the fit.",
        _theorem(runs),
        _optimum(runs),
    ]
    return "\n".join(parts)


def _decay(runs: Sequence[Runs], model: str, step: str) -> str:
    """Where the loss falls and how; where it does not."""
    here = [each for each in runs if (each.model, each.step) == (model, step)]
    falling = [each for each in here if each.monotone]
    rising = [each for each in here if not each.monotone]
    parts = []
    if falling:
        parts.append(f"the loss falls at every iteration{_growth(falling)}: {_rates(falling)}")
    if rising:
        shares = [100 * each.share_of_rises for each in rising]
        ends = [each.final for each in rising]
        times = max(each.known.constants.L * each.tau for each in rising)
        parts.append(
            f"the loss rises at {_range(shares, '.0f')} % of the iterations at {_xis(rising)} and ends "
            f"{_range(ends, ',.0f')} above F* (τ is up to {times:,.0f} times 1/L); on the longest stretch "
            f"that falls: {_rates(rising)}"
        )
    return f"{NAMES[model]}, τ = {step}: {'; '.join(parts)}."


def _rates(runs: Sequence[Runs]) -> str:
    """ξ: rate (that of reconstruction alone; R²)."""
    parts = []
    for each in runs:
        alone = f"{each.reconstruction_rate:.2g}".replace("inf", "∞")
        fitted = f"{each.rate:.2g} ({alone}; {each.r2:.2f})" if each.decays else "none"
        parts.append(f"ξ = {each.xi:g} {fitted}")
    return ", ".join(parts)


def _growth(runs: Sequence[Runs]) -> str:
    """Whether rates grow with ξ."""
    fitted = sorted((each for each in runs if each.decays), key=lambda each: each.xi)
    if len(fitted) < 2:
        return ""
    up = np.diff([each.rate for each in fitted]) > 0
    if up.all():
        return ", faster for larger ξ"
    return ", slower for larger ξ" if not up.any() else ", not always faster for larger ξ"


def _theorem(runs: Sequence[Runs]) -> str:
    outside = [each for each in runs if each.step != WINDOW]
    covered = sum(each.in_window for each in outside)
    text = f"The theorem covers {covered} of these {len(outside)} settings."
    for each in runs:
        if each.step == WINDOW:
            text += (
                f" Inside its window, {NAMES[each.model]} at ξ = {each.xi:g} and τ = {each.tau:.3g}: "
                f"ρ = {each.known.constants.rate(each.tau):.2f}, "
            )
            if each.monotone:
                text += f"measured {each.contraction:.2f} an iteration."
            else:
                text += (
                    f"but the loss rises at {100 * each.share_of_rises:.0f} % of the iterations and ends "
                    f"{each.final:,.0f} above F*: the theorem requires a stationary point of F itself of "
                    "that rank, which noisy data do not have."
                )
    return text


def _optimum(runs: Sequence[Runs]) -> str:
    known = {(each.model, each.xi): each.known.optimum for each in runs}
    open_ = {key: value for key, value in known.items() if not value.is_global}
    proven = sum(value.proven for value in known.values())
    estimated = len(known) - len(open_) - proven
    text = f"F* is the default solver's, proven global at {proven} of {len(known)} settings"
    if estimated:
        text += f" and at {estimated} but for one singular value that was estimated"
    if open_:
        gaps = ", ".join(f"{model} ξ = {xi:g}: {value.gap:.3g}" for (model, xi), value in open_.items())
        text += f"; at the others it is the least value known, and at most this much too large: {gaps}"
    return text + "."


def _xis(runs: Sequence[Runs]) -> str:
    return "ξ = " + ", ".join(f"{each.xi:g}" for each in runs)


def _range(values: Sequence[float], form: str) -> str:
    low, high = (format(float(value), form) for value in (np.min(values), np.max(values)))
    return low if low == high else f"{low} to {high}"
