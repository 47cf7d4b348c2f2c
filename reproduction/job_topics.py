"""Topics of job postings that tell fraudulent from genuine ones, beside those of LDA and NMF.

The paper fits SMF of rank 20 to the postings to show convergence; it has neither topics nor scores. Here are
both: SMF-W as it is, whose topics have words at two ends; non-negative SMF-W (by block coordinate descent),
whose topics read like those of NMF; and NMF (of TF-IDF) and latent Dirichlet allocation (of counts), which do
not know the labels, each with logistic regression on its topics. Logistic regression on all words, which has
no topics, and the answer "genuine" to everything are the ends of the scale.

Choices: English stop words are left out, since topics of "the" and "and" say little. The words, and their
weights in TF-IDF, are those of all postings at hand, held out or not, for every method. Fraud is thinned to
its share in the full data, 4.84 %, where the postings at hand have more. A third of each random split is held
out for the scores, a sixth sets the threshold, a half is learned from. Thresholds are 0.5, the one with the
largest F-score of the fraudulent class, and Youden's (true minus false positive rate), which the paper's
release takes. The topics shown are those of the first split, from words alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)
from sklearn.model_selection import train_test_split

from reproduction.data import Postings, load_job_postings
from reproduction.experiment import Outcome, Setting
from reproduction.topics import panels
from reproduction.topics.models import Texts, Topics, fits

if TYPE_CHECKING:
    from pandas import DataFrame


RANK = 20
SHARE = 866 / 17_880  # of fraudulent postings in the full data
GENUINE = "always genuine"
# What the figure shows; the table has the other thresholds too.
SHOWN = {
    "average precision": "average precision",
    "ROC AUC": "ROC AUC",
    "F (largest F)": "F-score, fraudulent",
    "accuracy (largest F)": "accuracy",
}


def run(setting: Setting) -> Outcome:
    """Topics, scores and the comparison."""
    splits, words, most = (1, 500, 1000) if setting.quick else (5, 2480, None)
    postings = load_job_postings(setting.data_dir, n_words=words, stop_words="english")
    kept = thinned(postings.y, SHARE, most, setting.seed)
    setting.note(f"{postings.source}; used: {_described(postings.y[kept])}")
    texts = _texts(postings, kept)
    rank = min(RANK, len(kept) // 10, len(postings.words) - 1)
    rows: list[dict[str, Any]] = []
    topics: dict[str, Topics] = {}
    setting.progress(0, splits)
    for split in range(splits):
        learn, tune, test = parts(texts.y, setting.seed + split)
        found = fits(texts, learn, rank, setting)
        for (method, used), fit in found.items():
            about = {"split": split + 1, "method": method, "covariates": used, "weights": fit.weights}
            measured = scores(texts.y[test], fit.score(test), thresholds(texts.y[tune], fit.score(tune)))
            rows += [about | {"metric": name, "value": value} for name, value in measured.items()]
            if split == 0 and not used and fit.topics is not None:
                topics[method] = fit.topics
        rows += _always_genuine(texts.y[test], split + 1)
        setting.progress(split + 1, splits)
    table = _frame(rows)
    caption = [
        "Topics with the largest coefficients (change of the log-odds of fraud with one standard deviation "
        "of the topic), and the weights of their words.",
        "Orange words speak for fraud, blue ones for genuine postings.",
        f"{len(kept):,} postings, {np.mean(texts.y):.1%} fraudulent, {len(postings.words):,} words, "
        f"rank {rank}; {_weights(table)}",
    ]
    figure = panels.draw(topics, postings.words, table, SHOWN, caption)
    tables = {"": table, "topics": _topics_table(topics, postings.words)}
    return Outcome({"": figure}, tables, _compared(table, postings, texts.y))


# --- postings -------------------------------------------------------------------------------------


def thinned(y: Any, share: float, most: int | None, seed: int) -> Any:
    """Rows (ascending) in which at most `share` of y is 1, and at most `most` of them."""
    rng = np.random.default_rng(seed)
    ones, zeros = (rng.permutation(np.flatnonzero(y == value)) for value in (1, 0))
    count = round(share / (1 - share) * len(zeros))
    ones = ones[:count]
    if most is not None and len(ones) + len(zeros) > most:
        part = most / (len(ones) + len(zeros))
        ones, zeros = ones[: round(part * len(ones))], zeros[: round(part * len(zeros))]
    return np.sort(np.concatenate([ones, zeros]))


def _texts(postings: Postings, kept: Any) -> Texts:
    return Texts(postings.X[kept], postings.counts[kept], postings.y[kept], postings.covariates[kept])


def _described(y: Any) -> str:
    return f"{len(y):,} postings, {np.sum(y):,} ({np.mean(y):.1%}) of them fraudulent"


def parts(y: Any, seed: int) -> tuple[Any, Any, Any]:
    """Rows to learn from (1/2), to set the threshold on (1/6), to measure on (1/3): fraud alike in all."""
    rest, test = train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=seed)
    learn, tune = train_test_split(rest, test_size=1 / 4, stratify=y[rest], random_state=seed)
    return learn, tune, test


# --- scores ---------------------------------------------------------------------------------------


def thresholds(y: Any, score: Any) -> dict[str, float]:
    """Scores from which a posting counts as fraudulent, by rule."""
    false, true, levels = roc_curve(y, score)
    precision, recall, cuts = precision_recall_curve(y, score)
    total = precision + recall
    f = 2 * precision * recall / np.where(total > 0, total, 1)
    return {
        "0.5": 0.5,
        "Youden": float(levels[np.argmax(true - false)]),
        "largest F": float(cuts[np.argmax(f[:-1])]),  # the last point belongs to no cut
    }


def scores(y: Any, score: Any, cuts: dict[str, float]) -> dict[str, float]:
    """What depends on no threshold, then accuracy and F-score of class 1 at each."""
    measured = {
        "average precision": float(average_precision_score(y, score)),
        "ROC AUC": float(roc_auc_score(y, score)),
    }
    for rule, cut in cuts.items():
        predicted = (score >= cut).astype(int)
        measured[f"accuracy ({rule})"] = float(np.mean(predicted == y))
        measured[f"F ({rule})"] = float(f1_score(y, predicted, zero_division=0))
    return measured


def _always_genuine(y: Any, split: int) -> list[dict[str, Any]]:
    """The answer 0 to everything."""
    measured = scores(y, np.zeros(len(y)), dict.fromkeys(("0.5", "Youden", "largest F"), 0.5))
    about = {"split": split, "method": GENUINE, "covariates": False, "weights": ""}
    return [about | {"metric": name, "value": value} for name, value in measured.items()]


def _frame(rows: list[dict[str, Any]]) -> DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)


def _topics_table(topics: dict[str, Topics], words: Any) -> DataFrame:
    """One row per word of a topic, ten a topic."""
    rows = [
        {
            "method": method,
            "topic": j + 1,
            "coefficient": found.coef[j],
            "rank": rank,
            "word": words[i],
            "weight": found.weights[j, i],
        }
        for method, found in topics.items()
        for j in range(len(found.coef))
        for rank, i in enumerate(panels.top_words(found, j, 10), start=1)
    ]
    return _frame(rows)


def _weights(table: DataFrame) -> str:
    """ξ and λ of the fits whose topics are shown."""
    first = table[(table["split"] == 1) & ~table["covariates"]].drop_duplicates("method")
    text = first[first["method"].str.contains("SMF")]
    return "; ".join(f"{row.method}: {row.weights}" for row in text.itertuples()) + "."


def _compared(table: DataFrame, postings: Postings, y: Any) -> str:
    mean = table.groupby(["covariates", "metric", "method"], sort=False)["value"].mean()
    names = [name for name in dict.fromkeys(table["method"]) if name != GENUINE]
    lines = [
        "The paper shows no topics and no scores of the postings, so there is nothing to compare with.",
        f"{postings.source}; used: {_described(y)}; means of {table['split'].nunique()} splits.",
    ]
    for used, words in ((False, "From words alone"), (True, "With covariates")):
        text = ", ".join(
            f"{name} {mean[used, 'average precision', name]:.2f} / {mean[used, 'F (largest F)', name]:.2f} / "
            f"{100 * mean[used, 'accuracy (largest F)', name]:.1f} %"
            for name in names
        )
        lines.append(f"{words}, average precision / F-score of fraud / accuracy: {text}.")
    always = 100 * mean[False, "accuracy (0.5)", GENUINE]
    lines.append(
        f"Always saying genuine is right in {always:.1f} % and has F-score 0; thresholds have the largest "
        "F-score on postings set aside for that."
    )
    at_half = {name: mean[False, "F (0.5)", name] for name in names}
    lines.append(
        "At the threshold 0.5 the F-scores from words alone are "
        + ", ".join(f"{name} {value:.2f}" for name, value in at_half.items())
        + "."
    )
    return "\n".join(lines)
