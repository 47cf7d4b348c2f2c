"""`superfactor demo`: the main job on real data, with nothing to prepare."""

from __future__ import annotations

from pathlib import Path

from superfactor.cli import prepare
from superfactor.cli.errors import UserError
from superfactor.cli.findings import Looks
from superfactor.cli.fit import Outputs, finish
from superfactor.cli.learning import Learned, Settings, few_threads, learn
from superfactor.cli.output import write_table
from superfactor.cli.prepare import Columns, Wishes
from superfactor.cli.screen import Screen

TARGET, POSITIVE = "tissue", "tumour"
RESAMPLES = 20
SOURCE = "Singh et al., Cancer Cell 1 (2002) 203: 2,000 of 12,600 probes, chosen without the labels"


def run(folder: Path, command: str, screen: Screen) -> None:
    """Factors of 102 samples of prostate, tumours and normal tissue, as `superfactor fit` finds them."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--out {folder}: a file; the name of a folder is required")
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "prostate.csv"
    _write_table(table)
    screen.note(SOURCE)
    with screen.step("read"):
        samples = prepare.for_fitting(table, Columns(TARGET), Wishes(), screen)
    learned = learn(samples, Settings(), screen)
    outputs = Outputs(
        folder / "model.skops",
        folder / "report.html",
        looks=Looks(stability=RESAMPLES, positive=POSITIVE),
        command=command,
    )
    with few_threads(samples.X):
        finish(learned, Wishes(), outputs, screen)
        for sentence in _in_three_sentences(learned):
            screen.say(sentence)
    screen.say("\nOn a table of yours: superfactor fit TABLE --target COL --out MODEL")


def _write_table(path: Path) -> None:
    from superfactor.datasets import load_prostate

    data = load_prostate()
    rows = zip(data.y.tolist(), data.X.tolist(), strict=True)
    write_table(path, [TARGET, *data.features], ([label, *row] for label, row in rows))


def _in_three_sentences(learned: Learned) -> list[str]:
    """What was found, beside PCA with as many factors, for somebody who has never heard of either."""
    from superfactor.interpretation import factor_view
    from superfactor.selection.rivals import PCA_LR, RANKS

    nested, view = learned.nested, factor_view(learned.model)
    rank, metric = int(learned.estimator.n_components), nested.headline
    ours, plain = nested.summary[metric]["mean"], _plain(learned, rank)
    tuned = nested.rivals[PCA_LR][metric]["mean"]
    rest = int((~view.predictive).sum())
    others = "the other one says" if rest == 1 else f"the other {rest} say"
    return [
        "",
        "In three sentences:",
        f"1. From {learned.samples.n_features:,} gene probes, {rank} factors tell tumour from normal tissue "
        f"in {100 * ours:.0f} % of samples they have not seen.",
        f"2. {rank} principal components, made without looking at the labels, reach {100 * plain:.0f} % on "
        f"the same folds, and up to {RANKS[-1]} of them {100 * tuned:.0f} %: what varies most is not what "
        "tells the two apart.",
        f"3. Factor 1 is what tells them apart, {others} what else varies; the page has the probes of each.",
    ]


def _plain(learned: Learned, rank: int) -> float:
    """Accuracy of as many principal components + logistic regression, on the folds of the measurement."""
    import numpy as np
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from superfactor.selection.outer import stratified

    nested, (X, y) = learned.nested, learned.part(learned.train)
    seeds = [learned.settings.seed + repeat for repeat in range(nested.n_repeats)]
    folds = [fold for seed in seeds for fold in stratified(y, None, nested.n_splits, seed)]
    steps = make_pipeline(StandardScaler(), PCA(rank, random_state=0), LogisticRegression())
    return float(np.mean(cross_val_score(steps, X, y, cv=folds)))
