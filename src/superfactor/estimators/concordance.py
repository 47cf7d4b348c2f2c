"""Harrell's concordance: how often the one with the higher risk has the event first."""

from __future__ import annotations

from typing import Any

import numpy as np

# Risks this close are the same.
_TIE = 1e-8


def concordance(event: Any, time: Any, risk: Any, weight: Any = None) -> float:
    """The share of comparable pairs in which the higher risk had its event first; equal risks count one half.

    A pair is comparable where one had an event while the other was still under observation. All arrays are
    NumPy's, (n,).
    """
    event, weight = event > 0, np.ones(len(time)) if weight is None else weight
    right = total = 0.0
    for i in np.flatnonzero(event):
        outlived = (time > time[i]) | ((time == time[i]) & ~event)
        ahead, pair = risk[i] - risk[outlived], weight[i] * weight[outlived]
        right += pair @ np.where(np.abs(ahead) <= _TIE, 0.5, ahead > 0)
        total += pair.sum()
    if total == 0:
        raise ValueError(
            "y: no two samples can be compared: an event while another sample is still under observation is "
            "required"
        )
    return float(right / total)
