"""Figure 3f: how often methods are right about cancer from gene expression.

The paper learns from a random half of the samples and predicts the other, five times, on two tables; rank by
the scree, ξ and λ from {0.1, 1, 10} by 5-fold cross-validation. Here on every microarray at hand, each once
and as log2, which is what CuMiDa has. All methods see the same halves and the same folds, and treat all
classes alike where they can; `classifiers` has the methods.

What the paper leaves open: "we normalize gene expression" is here mean 0 and variance 1 of each gene in the
learning half, and for methods that look at inner products only a division by √p besides, so that samples have
a length of about 1. Without it ‖X‖² would outweigh the labels at every ξ of the paper by a thousand times,
and SMF would be PCA. What networks need is said in `networks`.

`SMF` is the better of filter and feature model by the folds, fitted by the default solver, with eight times
as many factors as the elbow of the scree: there factors stop gaining for X, while labels gain from more.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from reproduction.classifiers import FACTORS, XI, methods
from reproduction.coordinates import short_rows
from reproduction.data import find_microarrays, load_microarray
from reproduction.drawing import COLORS, tidy
from reproduction.experiment import Outcome, Setting
from reproduction.networks import has_torch
from superfactor.datasets import Microarray
from superfactor.selection import scree

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["PAPER", "mean_ranks", "one_split", "run"]

OURS = "SMF"
SPLITS = 5
FOLDS = 5
# Samples of each class: two in either half.
LEAST = 4
# A convolutional network of 22,283 genes takes a gigabyte.
MOST_PROCESSES = 4
# The names of the paper's two tables, and its mean accuracies.
PAPER = {
    "Pancreatic_GSE16515": {
        "SMF-W": 0.869,
        "SMF-H": 0.885,
        "SMF-W (BCD)": 0.785,
        "SMF-H (BCD)": 0.823,
        "CNN": 0.769,
        "FFNN": 0.816,
        "MF-LR": 0.747,
        "NB": 0.815,
        "SVM": 0.746,
        "RF": 0.815,
    },
    "Breast_GSE70947": {
        "SMF-W": 0.894,
        "SMF-H": 0.875,
        "SMF-W (BCD)": 0.753,
        "SMF-H (BCD)": 0.880,
        "CNN": 0.854,
        "FFNN": 0.890,
        "MF-LR": 0.454,
        "NB": 0.810,
        "SVM": 0.866,
        "RF": 0.844,
    },
}


def run(setting: Setting) -> Outcome:
    """Every table, split and method."""
    import pandas as pd

    if not has_torch():
        setting.note("PyTorch is not installed: CNN and FFNN are left out")
    tables = list(_tables(setting))
    splits, folds = (2, 3) if setting.quick else (SPLITS, FOLDS)
    jobs = [(table, setting.seed + k) for table in tables for k in range(splits)]
    processes = 1 if setting.quick else min(MOST_PROCESSES, os.cpu_count() or 1)
    working = Parallel(n_jobs=processes, return_as="generator")(
        delayed(one_split)(table, seed, folds, setting.quick) for table, seed in jobs
    )
    rows: list[dict[str, Any]] = []
    setting.progress(0, len(jobs))
    for done, found in enumerate(working, start=1):
        rows += found
        setting.progress(done, len(jobs))
    numbers = pd.DataFrame(rows)
    ranks = mean_ranks(numbers)
    return Outcome(
        figures={"": _figure(numbers, ranks, splits)},
        tables={"": numbers, "ranks": ranks},
        comparison=_comparison(numbers, ranks),
    )


def _tables(setting: Setting) -> Iterator[Microarray]:
    """Every microarray at hand as logarithms; in the quick form the smallest one."""

    found = []
    for name in find_microarrays(setting.data_dir) or list(PAPER):
        table = load_microarray(name, setting.data_dir)
        counts = np.unique(table.y, return_counts=True)[1]
        if len(counts) < 2 or counts.min() < LEAST:
            said = f"{len(counts)} class{'es' * (len(counts) > 1)}, the smallest of {counts.min()}"
            setting.note(f"{name}: {said} samples; two of at least {LEAST} are required; left out")
            continue
        found.append(table)
    if not found:
        raise ValueError(f"no microarray has two classes of at least {LEAST} samples, as required")
    if setting.quick:
        found = [min(found, key=lambda table: table.X.size)]
    for table in found:
        table = table.log2()
        setting.note(f"{table.name}: {table.source}")
        yield table


def one_split(table: Microarray, seed: int, folds: int, quick: bool) -> list[dict[str, Any]]:
    """Accuracy of every method on one half, learned from the other: one row each.

    Parameters
    ----------
    seed : of the split, the folds and the methods
    folds : of the cross-validation, or fewer where a class has fewer samples to learn from
    """
    n, p = table.X.shape
    train, test = train_test_split(np.arange(n), test_size=0.5, stratify=table.y, random_state=seed)
    y, labels = table.y[train], table.y[test]
    genes = StandardScaler().fit(table.X[train]).transform(table.X)
    samples = short_rows(genes / np.sqrt(p))
    counts = np.unique(y, return_counts=True)[1]
    splitter = StratifiedKFold(min(folds, counts.min()), shuffle=True, random_state=seed)
    # Centring takes one dimension from the samples of a fold.
    largest = min(*(len(inside) - 1 for inside, _ in splitter.split(y, y)), p)
    rank = min(max(scree(samples[train], center=False).elbow, len(counts)), largest)
    rows = []
    for method in methods(rank, largest, len(counts), splitter, seed, quick):
        X = genes if method.needs_genes else samples
        with warnings.catch_warnings():
            # The paper stops after 1,000 iterations, converged or not.
            warnings.simplefilter("ignore", ConvergenceWarning)
            method.estimator.fit(X[train], y)
        rows.append(
            {
                "table": table.name,
                "samples": n,
                "genes": p,
                "rank": rank,
                "split": seed,
                "method": method.name,
                "accuracy": float(np.mean(method.estimator.predict(X[test]) == labels)),
                "chosen": method.chosen(),
                "paper": PAPER.get(table.name, {}).get(method.name, np.nan),
            }
        )
    return rows


def mean_ranks(numbers: pd.DataFrame) -> pd.DataFrame:
    """Mean rank (1 is the best) and accuracy of each method over the tables, best first.

    Methods are ranked in each table by their mean accuracy over the splits; equals share a rank.
    """
    means = numbers.pivot_table("accuracy", "method", "table", sort=False)
    # Means of equal counts may differ by rounding.
    ranks = means.round(10).rank(ascending=False)
    found = ranks.mean(axis=1).to_frame("mean_rank").assign(mean_accuracy=means.mean(axis=1))
    found["tables"] = means.shape[1]
    return found.sort_values("mean_rank", kind="stable").reset_index()


def _figure(numbers: pd.DataFrame, ranks: pd.DataFrame, splits: int) -> Figure:
    """A panel a table, a row a method, best mean rank on top; the ranks in a panel of their own."""
    from matplotlib.figure import Figure

    tables = list(dict.fromkeys(numbers["table"]))
    order = list(ranks["method"])
    places = np.arange(len(order))[::-1]
    colors = [COLORS[0] if name == OURS else "0.35" for name in order]
    size = (max(7.0, 1.9 + 1.5 * (len(tables) + 1)), 1.7 + 0.26 * len(order))
    figure = Figure(figsize=size, layout="constrained")
    axes = np.ravel(figure.subplots(1, len(tables) + 1, sharey=True))
    percent = numbers.assign(accuracy=100 * numbers["accuracy"], paper=100 * numbers["paper"])
    summary = percent.groupby(["table", "method"], sort=False).agg(
        mean=("accuracy", "mean"), sd=("accuracy", "std"), paper=("paper", "first")
    )
    lowest = np.nanmin([(summary["mean"] - summary["sd"]).min(), summary["paper"].min()])
    for ax, table in zip(axes, tables, strict=False):
        rows = summary.loc[table].loc[order]
        ax.errorbar(rows["mean"], places, xerr=rows["sd"], fmt="none", ecolor="0.75", zorder=1)
        dots = ax.scatter(rows["mean"], places, c=colors, s=18, zorder=3)
        rings = ax.scatter(
            rows["paper"], places, marker="D", s=26, facecolor="none", edgecolor=COLORS[1], zorder=2
        )
        for place, mean in zip(places, rows["mean"], strict=True):
            ax.annotate(
                f"{mean:.1f}",
                (1.03, place),
                xycoords=ax.get_yaxis_transform(),
                va="center",
                fontsize=8,
                annotation_clip=False,
                fontweight="bold" if mean >= rows["mean"].max() - 1e-8 else "normal",
            )
        shown = numbers[numbers["table"] == table].iloc[0]
        title = f"{table}\n{shown['samples']} × {shown['genes']:,}"
        ax.set_title(title, fontsize=8, parse_math=False)
        ax.set_xlim(lowest - 2, 101)
        ax.set_xlabel("accuracy, per cent")
    last = axes[-1]
    last.barh(places, ranks["mean_rank"], height=0.6, color=colors)
    for place, rank in zip(places, ranks["mean_rank"], strict=True):
        last.annotate(f" {rank:.1f}", (rank, place), va="center", fontsize=8)
    last.set_title(f"mean rank\n{_counted(len(tables))}", fontsize=8)
    last.set_xlabel("rank, 1 is the best")
    last.set_xlim(0, len(order) * 1.12)
    last.set_yticks(places, order)
    for ax in axes:
        tidy(ax)
        ax.grid(axis="x", color="0.92", zorder=0)
        ax.set_axisbelow(True)
    if summary["paper"].notna().any():
        figure.legend([dots, rings], ["this run", "paper"], loc="outside lower left", fontsize=8, ncols=2)
    figure.suptitle(
        f"Accuracy on held-out halves, log2 expression, mean ± sd of {splits} splits, best in bold;\n"
        f"rank r by the scree (SMF: {FACTORS} r), all weights by the same folds of the learning half,\n"
        f"ξ and λ of SMF from {', '.join(f'{value:g}' for value in XI)}",
        fontsize=9,
        x=0.01,
        ha="left",
    )
    return figure


def _counted(tables: int) -> str:
    return f"{tables} table{'s' if tables > 1 else ''}"


def _comparison(numbers: pd.DataFrame, ranks: pd.DataFrame) -> str:
    listed = ", ".join(
        f"{name} {rank:.1f} ({100 * accuracy:.1f} %)"
        for name, rank, accuracy in zip(
            ranks["method"], ranks["mean_rank"], ranks["mean_accuracy"], strict=True
        )
    )
    own = ranks.set_index("method")["mean_rank"][OURS]
    place = 1 + int((ranks["mean_rank"] < own).sum())
    shared = int((ranks["mean_rank"] == own).sum()) - 1
    sentences = [
        f"Mean rank (mean accuracy) in {_counted(ranks['tables'].iloc[0])}, "
        f"{numbers['split'].nunique()} splits each: {listed}.",
        f"{OURS}, the better of filter and feature model by cross-validation, is number {place} of "
        f"{len(ranks)}" + (f", together with {shared} more." if shared else "."),
    ]
    for table, rows in numbers.dropna(subset="paper").groupby("table", sort=False):
        means = rows.groupby("method", sort=False)[["accuracy", "paper"]].mean()
        pairs = ", ".join(f"{row.Index} {row.accuracy:.3f} ({row.paper:.3f})" for row in means.itertuples())
        sentences.append(f"{table}, in brackets the paper's: {pairs}.")
    missing = [name for name in PAPER if name not in set(numbers["table"])]
    if missing:
        sentences.append(f"Not at hand, so not compared with the paper's numbers: {' and '.join(missing)}.")
    return "\n".join(sentences)
