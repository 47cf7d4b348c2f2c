"""Figure 3a-e: groups of genes learned with the labels, beside groups learned without.

The paper fits SMF-W of rank 2 to pancreatic and of rank 16 to breast cancer, and shows two of the groups each
beside two of plain SVD, with their logistic coefficients and the most extreme genes. It finds known markers
among the five most extreme genes, and that supervised groups classify "significantly" better.

Here genes are standardised (log2 before, where they are no logarithms), and ξ and λ have the best log loss in
five folds, at the paper's ranks. Shown are the two groups of either kind with the largest coefficients, all
genes in the order of their weights. Counted are the known markers among the top genes of any group, beside a
blind draw of as many genes (the paper's list is of what it found there itself, so this is about finding it
again; several probes of a gene go together, which such a draw does not know); measured is the accuracy on the
other half of the samples, where the ridge of the logistic regression on SVD codes is chosen by the same folds
and score.

Where the paper's tables are not at hand, others stand in: a part of the same series, else one whose classes
name the tissue, else any. The user's own markers are the option ``markers``, a CSV for `read_markers`.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction import drawing
from reproduction.data import DataNotFound
from reproduction.experiment import Outcome, Setting
from reproduction.genes import markers, panels
from reproduction.genes.study import KINDS, N_TOP, STUDIES, Groups, choose, examine
from superfactor.interpretation import matched, top_features

if TYPE_CHECKING:
    from pandas import DataFrame


def run(setting: Setting) -> Outcome:
    """The figure, three tables and the comparison."""
    splits = 2 if setting.quick else 5
    total, done = len(STUDIES) * (1 + splits), count()

    def advance() -> None:
        setting.progress(next(done), total)

    advance()
    results: list[Groups] = []
    for study in STUDIES:
        try:
            data = choose(study, setting, [result.data.name for result in results])
        except DataNotFound as error:
            if not results:
                raise
            setting.note(f"{study.tissue} is left out: {error}")
            continue
        results.append(examine(study, data, setting, splits, advance))
    tables = {
        "": _groups_table(results),
        "markers": _markers_table(results),
        "accuracy": _accuracy_table(results),
    }
    comparison = "\n".join(_compared(result) for result in results)
    return Outcome({"": panels.draw(results)}, tables, comparison)


def _groups_table(results: list[Groups]) -> DataFrame:
    """One row per gene at an end of a group."""
    import pandas as pd

    parts = []
    for result in results:
        pairs = matched(result.views["supervised"], result.views["unsupervised"])
        numbers = {"supervised": pairs.beside + 1, "unsupervised": pairs.number}
        for kind, view in result.views.items():
            part = top_features(view, N_TOP, by="weight", markers=result.notes).rename(
                columns={"factor": "group", "note": "marker"}
            )
            likeness = dict(zip(numbers[kind], pairs.similarity, strict=True))
            group = part["group"].to_numpy()
            part.insert(0, "study", result.study.tissue)
            part.insert(1, "data", result.data.name)
            part.insert(2, "target", result.target)
            part.insert(3, "kind", kind)
            part.insert(5, "coefficient", view.coef[0, group - 1])
            part.insert(6, "share_of_variance", view.share[group - 1])
            part.insert(7, "similarity", [likeness[j] for j in group])
            parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _markers_table(results: list[Groups]) -> DataFrame:
    """One row per marker in the data and kind, and one with the counts (marker "all")."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for result in results:
        for kind, view in result.views.items():
            about = {"study": result.study.tissue, "data": result.data.name, "kind": kind}
            rows += [about | place for place in markers.places(view, result.notes)]
            rows.append(about | {"marker": "all"} | asdict(result.hits[kind]))
    table = pd.DataFrame(rows)
    counts = ["features", "present", "genes", "top", "found", "group", "rank"]
    return table.astype({name: "Int64" for name in counts if name in table.columns})


def _accuracy_table(results: list[Groups]) -> DataFrame:
    """One row per study, kind and split."""
    import pandas as pd

    rows = [
        (result.study.tissue, result.data.name, len(result.views[kind].share), kind, k, value)
        for result in results
        for kind, values in result.accuracy.items()
        for k, value in enumerate(values, start=1)
    ]
    return pd.DataFrame(rows, columns=["study", "data", "rank", "kind", "split", "accuracy"])


def corrected_p_value(differences: Any) -> float:
    """Two-sided, of a mean of differences over random halves, which share samples.

    The t-test of Nadeau and Bengio (2003): the variance is (1/k + n_test/n_train) times that of the k
    differences, and halves are of equal size.
    """
    from scipy.stats import t

    k, spread = len(differences), np.std(differences, ddof=1)
    if spread == 0:  # no standard error, as can happen with two splits
        return 1.0
    statistic = np.mean(differences) / (spread * math.sqrt(1 / k + 1))
    return float(2 * t.sf(abs(statistic), k - 1))


def _compared(result: Groups) -> str:
    """The lines about one study."""
    study, data, rank = result.study, result.data, len(result.views["supervised"].share)
    stands_in = "" if data.name == study.name else f" (standing in for {study.name})"
    hits, accuracy = result.hits, result.accuracy
    n, p = data.X.shape
    names, sizes = np.unique(data.y, return_counts=True)
    classes = ", ".join(f"{size} {name}" for name, size in zip(names, sizes, strict=True))
    about = f"{data.name}{stands_in}, {n} × {p:,} ({classes}), rank {rank}"
    lines = [f"{study.tissue.capitalize()}, {about}:"]
    present, columns = hits["supervised"].genes, hits["supervised"].present
    spread = "" if columns == present else f", in {columns} columns, each of which counts below"
    lines.append(f"{present} of {len(result.known)} known markers are in the data{spread}.")
    if present and result.papers:
        lines.append(
            "They are listed because the paper has them among its top genes: p is about seeing that again."
        )
    if present:
        counted = (
            f"{hits[kind].found} {kind} ({hits[kind].expected:.2g} expected of a blind draw of "
            f"{hits[kind].top} columns, p = {hits[kind].p_value:.2g})"
            for kind in KINDS
        )
        nearer = [drawing.percent(hits[kind].farther) for kind in KINDS]
        lines.append(
            f"Among the {N_TOP} at either end of any group are {' and '.join(counted)}. They come nearer to "
            f"an end than {nearer[0]} of all genes do with supervision, {nearer[1]} without (50 % by chance)."
        )
    scores = [f"{100 * accuracy[kind].mean():.1f} % {kind}" for kind in KINDS]
    differences = accuracy["supervised"] - accuracy["unsupervised"]
    lines.append(
        f"Accuracy on the other half, mean of {len(differences)} splits: {', '.join(scores)}; the paper "
        f"says supervised groups are significantly better. Here the difference is "
        f"{100 * differences.mean():+.1f} points, p = {corrected_p_value(differences):.2g} "
        "(t-test corrected for overlapping halves)."
    )
    return " ".join(lines)
