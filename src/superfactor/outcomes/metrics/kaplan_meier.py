"""Kaplan–Meier curves, and the log-rank test of equal survival in several groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2, norm

#: The quantile of 95 % intervals.
Z = float(norm.ppf(0.975))


@dataclass(frozen=True, eq=False)
class SurvivalCurve:
    """The Kaplan–Meier estimate S at the m distinct times of a group.

    Attributes
    ----------
    time : (m,) ascending times of events and of censoring
    survival : (m,) S(t) = Π_{s ≤ t} (1 − events(s)/at_risk(s))
    greenwood : (m,) the relative variance of S, Σ_{s ≤ t} events/(at_risk·(at_risk − events))
    """

    time: Any
    survival: Any
    greenwood: Any

    def at(self, times: Any) -> Any:
        """Return S at any times: 1 before the first one, right-continuous."""
        return np.insert(self.survival, 0, 1.0)[np.searchsorted(self.time, times, side="right")]

    def error_at(self, times: Any) -> Any:
        """Return the standard error of S at any times, by Greenwood's formula; 0 if no sample is left."""
        relative = np.insert(self.greenwood, 0, 0.0)[np.searchsorted(self.time, times, side="right")]
        return self.at(times) * np.sqrt(relative)

    def limits(self) -> tuple[Any, Any]:
        """Return 95 % limits S^exp(±z·σ), σ² = greenwood/log²S; NaN where S is 0, 1 where S is 1."""
        inside = (self.survival > 0) & (self.survival < 1)
        S = np.where(inside, self.survival, 0.5)
        sigma = Z * np.sqrt(self.greenwood) / np.log(S)  # negative
        edge = np.where(self.survival == 1, 1.0, np.nan)
        return np.where(inside, S ** np.exp(-sigma), edge), np.where(inside, S ** np.exp(sigma), edge)

    def median(self) -> float:
        """Return the first time with S ≤ ½; infinite if S stays above ½."""
        below = np.flatnonzero(self.survival <= 0.5)
        return float(self.time[below[0]]) if len(below) else math.inf


def kaplan_meier(event: Any, time: Any, censoring: bool = False) -> SurvivalCurve:
    """Return the Kaplan–Meier estimate for `event` (n,), 0 for censored samples, and times (n,).

    `censoring` estimates the distribution of censoring times instead. A sample with an event at the time of
    a censoring is then not at risk of censoring.
    """
    times, place = np.unique(time, return_inverse=True)
    events = np.bincount(place, weights=np.asarray(event) > 0, minlength=len(times))
    leaving = np.bincount(place, minlength=len(times))
    at_risk = len(place) - np.concatenate([[0], np.cumsum(leaving)[:-1]])
    if censoring:
        at_risk, events = at_risk - events, leaving - events
    left = np.maximum(at_risk - events, 1)
    greenwood = np.cumsum(events / (np.maximum(at_risk, 1) * left))
    return SurvivalCurve(times, np.cumprod(1 - events / np.maximum(at_risk, 1)), greenwood)


def median_follow_up(event: Any, time: Any) -> float:
    """Return the median follow-up by reverse Kaplan–Meier: events are treated as censoring."""
    return kaplan_meier(event, time, censoring=True).median()


def log_rank(event: Any, time: Any, group: Any, strata: Any = None) -> float:
    """Return the p-value of equal survival in all groups (n,), stratified by strata (n,).

    NaN if there is a single group or no event.
    """
    groups = np.unique(group)
    if len(groups) < 2 or not np.any(event > 0):
        return math.nan
    strata = np.zeros(len(time)) if strata is None else strata
    excess, V = np.zeros(len(groups)), np.zeros((len(groups), len(groups)))
    for stratum in np.unique(strata):
        own = strata == stratum
        far, spread = _against_expected(event[own], time[own], group[own, None] == groups)
        excess, V = excess + far, V + spread
    statistic = excess[1:] @ np.linalg.pinv(V[1:, 1:]) @ excess[1:]
    return float(chi2.sf(statistic, len(groups) - 1))


def _against_expected(event: Any, time: Any, inside: Any) -> tuple[Any, Any]:
    """Return observed minus expected events of the groups (k,), and their covariance (k, k).

    Expected events assume equal survival. `inside` (n, k) is the membership of samples in groups.
    """
    moments, inside = np.unique(time[event > 0]), inside.astype(float)
    at_risk = (time[:, None] >= moments).astype(float)  # (n, moments)
    dying = (time[:, None] == moments) * (event > 0)[:, None]
    N, D = inside.T @ at_risk, inside.T @ dying
    n, d = N.sum(axis=0), D.sum(axis=0)
    scale = np.where(n > 1, d * (n - d) / np.maximum(n - 1, 1), 0.0)
    share = N / n
    V = np.diag((share * scale).sum(axis=1)) - (share * scale) @ share.T
    return (D - share * d).sum(axis=1), V
