"""Scores of all splits as scikit-learn's `cv_results_`, and the choice they lead to."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

RULES = ("best", "one_standard_error")


def splits_that_count(scores: np.ndarray) -> Any:
    """Which splits candidates are compared by, (splits,) bool: all, unless the search ended early.

    Then those that all candidates are scored in, and if there is none, those begun. Every split takes the
    candidates in the same order, so that those scored in all of them are not none. A split in which no
    candidate's score is a number (an area under a curve needs two classes) does not count beside others.

    Parameters
    ----------
    scores : (splits, candidates, 3), as for `tabulate`
    """
    done = ~np.isnan(scores[:, :, 1])  # seconds: a score may be no number
    complete = done.all(axis=1)
    defined = complete & ~np.isnan(scores[:, :, 0]).all(axis=1)
    if defined.any():
        return defined
    return complete if complete.any() else done.any(axis=1)


def tabulate(points: list[dict[str, Any]], scores: np.ndarray) -> dict[str, Any]:
    """`cv_results_` from test score, fit seconds and score seconds: (splits, candidates, 3), NaN if not done.

    Means and deviations are over the splits that count: NaN for candidates not scored in all of them.
    """
    table: dict[str, Any] = {}
    counted = scores[splits_that_count(scores)]
    for k, name in enumerate(("fit_time", "score_time"), start=1):
        table[f"mean_{name}"] = counted[:, :, k].mean(axis=0)
        table[f"std_{name}"] = counted[:, :, k].std(axis=0)
    for name in sorted(points[0]):
        values = [point[name] for point in points]
        table[f"param_{name}"] = np.ma.array(values, mask=np.zeros(len(values), dtype=bool))
    table["params"] = points
    for k, split in enumerate(scores[:, :, 0]):
        table[f"split{k}_test_score"] = split
    table["mean_test_score"] = counted[:, :, 0].mean(axis=0)
    table["std_test_score"] = counted[:, :, 0].std(axis=0)
    # A score that is no number ranks last.
    losses = -np.where(np.isnan(table["mean_test_score"]), -np.inf, table["mean_test_score"])
    table["rank_test_score"] = rankdata(losses, method="min").astype(np.int32)
    return table


def choose(table: dict[str, Any], rule: str, counted: Any = None, reluctant: bool = False) -> int:
    """The position of the chosen candidate; of equals the first, as where no score is a number.

    Parameters
    ----------
    table : of `tabulate`
    rule : one of `RULES`
    counted : (splits,) bool, which splits count; None for all
    reluctant : more components only where they score better by more than a standard error
    """
    best = int(np.argmin(table["rank_test_score"]))
    means = table["mean_test_score"]
    if np.isnan(means[best]):
        return best
    count = sum(key.endswith("_test_score") and key.startswith("split") for key in table)
    splits = np.array([table[f"split{k}_test_score"] for k in range(count)])
    splits = splits if counted is None else splits[counted]
    if rule == "best":
        return _with_few_components(table, splits) if reluctant else best
    error = table["std_test_score"][best] / np.sqrt(len(splits))
    near = np.flatnonzero(means >= means[best] - error)

    def complexity(i: int) -> tuple[float, float, float]:
        point = table["params"][i]
        return point["n_components"], -point["lam"], -point["xi"]

    return min((int(i) for i in near), key=complexity)


def _with_few_components(table: dict[str, Any], splits: np.ndarray) -> int:
    """From the fewest components up: the best of a rank, where it gains more than its standard error."""
    ranks = np.array([point["n_components"] for point in table["params"]])
    chosen = None
    for rank in np.unique(ranks):
        places = np.where(ranks == rank, table["rank_test_score"], len(ranks) + 1)
        here = int(np.argmin(places))
        if chosen is None or _gains(splits[:, here] - splits[:, chosen]):
            chosen = here
    assert chosen is not None
    return chosen


def _gains(differences: np.ndarray) -> bool:
    """Whether the mean of these (splits,) lies above zero by more than its standard error."""
    n = len(differences)
    return n > 1 and bool(differences.mean() > differences.std(ddof=1) / np.sqrt(n))
