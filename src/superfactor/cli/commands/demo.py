"""`superfactor demo`: the main job on real data, with nothing to prepare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import saving
from superfactor.cli.commands.fit import finish
from superfactor.cli.commands.learning import Learned, few_threads, learn
from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.options import Looks, Outputs, Settings
from superfactor.cli.told.findings import Findings
from superfactor.cli.told.output import write_table
from superfactor.cli.told.screen import Screen
from superfactor.datasets import load_t_cells
from superfactor.outcomes import outcome_named
from superfactor.tables import read_study

TARGET, POSITIVE = "type", "CD8"
RESAMPLES = 20
# Genes that a sentence names.
NAMED = 4
SOURCE = (
    "T cells of one donor, Zheng et al., Nature Communications 8 (2017) 14049; values as in scanpy's "
    "pbmc68k_reduced"
)


def run(folder: Path, command: str, screen: Screen) -> None:
    """Factors of 192 T cells, CD4 and CD8, as `superfactor fit` finds them."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--out {folder}: a file; the name of a folder is required")
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "t_cells.csv"
    _write_table(table)
    screen.note(SOURCE)
    saving.check_skops()  # what saving needs, before anything is fitted
    with screen.step("read"), as_user_error():
        samples = read_study(table, target=TARGET, progress=screen.progress)
    learned = learn(samples, Settings(), screen)
    outputs = Outputs(out=folder / "model.skops", report=folder / "report.html")
    looks = Looks(stability=RESAMPLES, stable=True, positive=POSITIVE)
    with few_threads(samples.design):
        found = finish(learned, looks, outputs, command, screen)
        for sentence in _in_three_sentences(learned, found):
            screen.say(sentence)
    screen.say("\nOn a table of yours: superfactor fit TABLE --target COL --out MODEL")


def _write_table(path: Path) -> None:
    data = load_t_cells()
    rows = zip(data.y.tolist(), data.X.tolist(), strict=True)
    write_table(path, [TARGET, *data.features], ([label, *row] for label, row in rows))


def _in_three_sentences(learned: Learned, found: Findings) -> list[str]:
    """What was found, beside other methods, for somebody who has never heard of factors."""
    nested, (first, *others) = learned.nested, found.factors()
    rank, metric = int(learned.estimator.n_components), nested.headline
    ours, ridge = (
        nested.summary[metric]["mean"],
        nested.rivals[outcome_named(nested.outcome).ridge_name][metric]["mean"],
    )
    sentences = [
        f"{rank} factors of {learned.samples.n_features:,} genes tell CD8 from CD4 T cells in "
        f"{_percent(ours)} of cells they have not seen. {rank} principal components reach "
        f"{_percent(_plain(learned, rank))}, and ridge logistic regression with all genes {_percent(ridge)}.",
        f"Factor 1 is what tells them apart. CD8 cells have more {_names(first, 'high')}; CD4 cells have "
        f"more {_names(first, 'low')}. {found.stable.statement}",
        "What else varies, and adds nothing to the prediction: "
        + "; ".join(
            f"{_names(factor, 'high')} against {_names(factor, 'low')} (factor {factor['factor']})"
            for factor in others
        )
        + ".",
    ]
    return ["", "In short:", *(f"{k}. {said}" for k, said in enumerate(sentences, start=1))]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _names(factor: dict[str, Any], end: str) -> str:
    """The features that go most with one end of a factor."""
    return ", ".join(str(feature["feature"]) for feature in factor[end][:NAMED])


def _plain(learned: Learned, rank: int) -> float:
    """Accuracy of as many principal components + logistic regression, on the folds of the measurement."""
    nested, (X, y) = learned.nested, learned.part(learned.train)
    seeds = [learned.settings.seed + repeat for repeat in range(nested.n_repeats)]
    folds = [fold for seed in seeds for fold in learned.outcome.splits(y, None, nested.n_splits, seed)]
    steps = make_pipeline(StandardScaler(), PCA(rank, random_state=0), LogisticRegression())
    return float(np.mean(cross_val_score(steps, X, y, cv=folds)))
