"""`superfactor demo`: an example on real data that needs no preparation."""

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
from superfactor.cli.options import Analysis, Outputs, Settings
from superfactor.cli.output.files import write_table
from superfactor.cli.output.findings import Findings
from superfactor.cli.output.screen import Screen
from superfactor.datasets import load_t_cells
from superfactor.outcomes import outcome_named
from superfactor.tables import read_study

TARGET, POSITIVE = "type", "CD8"
RESAMPLES = 20
# Genes named in a sentence.
N_NAMED = 4
SOURCE = (
    "T cells of one donor, Zheng et al., Nature Communications 8 (2017) 14049; values as in scanpy's "
    "pbmc68k_reduced"
)


def run(folder: Path, command: str, screen: Screen) -> None:
    """Fit factors of 192 CD4 and CD8 T cells as `superfactor fit` does."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--out {folder}: is a file; a folder is required")
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "t_cells.csv"
    _write_table(table)
    screen.note(SOURCE)
    saving.check_skops()  # fail before the fit if the model cannot be saved
    with screen.step("read"), as_user_error():
        samples = read_study(table, target=TARGET, progress=screen.progress)
    learned = learn(samples, Settings(), screen)
    outputs = Outputs(out=folder / "model.skops", report=folder / "report.html")
    analysis = Analysis(stability=RESAMPLES, stable=True, positive=POSITIVE)
    with few_threads(samples.design):
        found = finish(learned, analysis, outputs, command, screen)
        for line in _summary(learned, found):
            screen.print(line)
    screen.print("\nFor your own table: superfactor fit TABLE --target COL --out MODEL")


def _write_table(path: Path) -> None:
    data = load_t_cells()
    rows = zip(data.y.tolist(), data.X.tolist(), strict=True)
    write_table(path, [TARGET, *data.features], ([label, *row] for label, row in rows))


def _summary(learned: Learned, found: Findings) -> list[str]:
    """Return three numbered statements about the result, in words that need no knowledge of factors."""
    nested, (first, *others) = learned.nested, found.factors()
    rank, metric = int(learned.estimator.n_components), nested.headline
    accuracy, ridge = (
        nested.summary[metric]["mean"],
        nested.baselines[outcome_named(nested.outcome).ridge_name][metric]["mean"],
    )
    sentences = [
        f"{rank} factors of {learned.samples.n_features:,} genes distinguish CD8 from CD4 T cells correctly "
        f"in {_percent(accuracy)} of unseen cells. {rank} principal components reach "
        f"{_percent(_pca_accuracy(learned, rank))}, and ridge logistic regression with all genes "
        f"{_percent(ridge)}.",
        f"Factor 1 separates the two types. CD8 cells have more {_names(first, 'high')}; CD4 cells have "
        f"more {_names(first, 'low')}. {found.stable.statement}",
        "The other factors describe variation that adds nothing to the prediction: "
        + "; ".join(
            f"{_names(factor, 'high')} against {_names(factor, 'low')} (factor {factor['factor']})"
            for factor in others
        )
        + ".",
    ]
    return ["", "Summary:", *(f"{k}. {sentence}" for k, sentence in enumerate(sentences, start=1))]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _names(factor: dict[str, Any], end: str) -> str:
    """Return the top features at one end of a factor."""
    return ", ".join(str(feature["feature"]) for feature in factor[end][:N_NAMED])


def _pca_accuracy(learned: Learned, rank: int) -> float:
    """Accuracy of PCA with `rank` components + logistic regression, on the same outer folds."""
    nested, (X, y) = learned.nested, learned.part(learned.train)
    seeds = [learned.settings.seed + repeat for repeat in range(nested.n_repeats)]
    folds = [fold for seed in seeds for fold in learned.outcome.splits(y, None, nested.n_splits, seed)]
    steps = make_pipeline(StandardScaler(), PCA(rank, random_state=0), LogisticRegression())
    return float(np.mean(cross_val_score(steps, X, y, cv=folds)))
