"""The results of `fit` and `demo`, for the terminal and for scripts."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse

from superfactor.cli.commands.learning import Learned
from superfactor.cli.output.option_names import ADVICE
from superfactor.cli.output.screen import Screen
from superfactor.outcomes import Outcome, outcome_named
from superfactor.outcomes.descriptions import description_of
from superfactor.selection import Verdict
from superfactor.selection.evaluation.verdict import BETTER
from superfactor.tables.columns.missing import percent as share_in_percent
from superfactor.tables.study import Study
from superfactor.tables.targets.columns import known

# Style of the headline by the grade of a verdict.
STYLES = {"better": "bold green", "not shown": "bold yellow", "worse": "bold red"}
NONE = {"mean": float("nan")}


def describe(learned: Learned, screen: Screen) -> None:
    """Print the data, and the chosen model."""
    samples, search = learned.samples, learned.search
    held = len(learned.held_out)
    if issparse(samples.design):
        scaling = "sparse, " + ("scaled" if learned.settings.standardize else "as they are")
    else:
        scaling = "standardized" if learned.settings.standardize else "centred"
    features = f"{samples.n_features:,}, {'log2, ' if samples.wishes.log2 else ''}{scaling}"
    weighing = ", classes have equal weights" if learned.settings.balance else ""
    best, tried = search.best_params_, len(search.cv_results_["params"])
    spread = search.cv_results_["std_test_score"][search.best_index_]
    screen.fields(
        [
            *read_fields(samples),
            (
                "fitted to",
                f"{len(learned.train):,} samples; the other {held:,} are held out" if held else "all samples",
            ),
            ("features", features),
            *column_fields(samples),
            ("model", f"{best['model']}, {parameters(best)}{weighing}"),
            (
                "chosen by",
                f"{search.n_splits_}-fold cross-validation of {tried} setting{'s' * (tried > 1)}: "
                f"{learned.description.score[0]} {search.best_score_:z.3f} (s.d. {spread:.3f})",
            ),
        ]
    )


def read_fields(samples: Study) -> list[tuple[str, str]]:
    """Return fields about files and samples."""
    y, description = known(samples.y), description_of(samples.outcome)
    without = len(samples.y) - len(y)
    labeled = f"{len(y):,} ({', '.join(description.samples(y, samples.targets))})"
    return [
        ("table", samples.title or str(samples.path)),
        *([("joined by", samples.joined["by"])] if samples.joined else []),
        ("samples", labeled + f" + {without:,} without a {description.lacking}" * (without > 0)),
    ]


def column_fields(samples: Study) -> list[tuple[str, str]]:
    """Return fields about blocks, covariates, confounders and missing values, if there are any."""
    blocks = [f"{name}: {stop - start:,}" for name, (start, stop) in samples.blocks.items()]
    fields = [
        ("blocks", ", ".join(blocks)),
        ("covariates", ", ".join(samples.encoding)),
        ("adjusted", "for " + ", ".join(samples.levels) if samples.levels else ""),
    ]
    missing = samples.gaps
    if missing is not None and missing.share:
        how = "a low-rank fit" if missing.impute == "lowrank" else "means"
        fields.append(("missing", f"{share_in_percent(missing.share)} of the values, imputed by {how}"))
    return [(name, words) for name, words in fields if words]


def performance(learned: Learned, screen: Screen) -> None:
    """Print the nested scores of the model and of simpler methods."""
    nested = learned.nested
    if nested is None:
        return
    outcome, others = outcome_named(nested.outcome), list(nested.baselines)
    rows = [
        [
            outcome.words(metric),
            figure(outcome, metric, found["mean"]),
            interval(outcome, metric, found),
            *(figure(outcome, metric, nested.baselines[name].get(metric, NONE)["mean"]) for name in others),
        ]
        for metric, found in nested.summary.items()
        if metric != "calibration_intercept"
    ]
    times = f", {nested.n_repeats} repeats" if nested.n_repeats > 1 else ""
    columns = [("", "left"), ("model", "right"), ("95 % interval", "right")]
    columns += [(outcome.short(name), "right") for name in others]
    screen.table(
        f"Held-out performance: nested {nested.n_splits}-fold cross-validation{times}",
        columns,
        rows,
        chosen=headline_row(rows, nested),
    )
    words = outcome.legend(others, nested.names, nested.counts)
    together = ", calibration of all folds together" * any("calibration" in name for name in nested.summary)
    screen.print(f"{words}. Means over folds{together}. All methods use the same folds.", style="dim")


def headline_row(rows: list[list[str]], found: Any) -> int | None:
    """Return the row of the main metric, to highlight it for a good verdict; otherwise None."""
    if found.verdict.grade != BETTER:
        return None
    words = outcome_named(found.outcome).words(found.headline)
    return next(i for i, row in enumerate(rows) if row[0] == words)


def verdict(learned: Learned, screen: Screen, near: str | None = None) -> None:
    """Print the verdict, the scores of held-out samples and the certificate.

    `near` is the comparison with plain methods.
    """
    found = learned.verdict
    if found is not None:
        show_verdict(found, screen, near)
    held, training = learned.scores["held_out"], learned.scores["training"]
    screen.print()
    outcome = learned.outcome
    if held is not None:
        sentence = learned.description.score_sentence(outcome, held)
        screen.print(f"On {held['samples']} held-out samples: {sentence}.")
    elif found is None:
        first = outcome.metrics[0]
        score = f"{first.words[0].upper()}{first.words[1:]} {first.text(training[first.name])}"
        screen.print(
            f"{score} on the training samples, which is optimistic; there is no evaluation (--repeats 0)"
        )
    missing = learned.samples.gaps
    of = " (for the table with imputed values)" if missing is not None and missing.share else ""
    screen.print(f"Optimality{of}: {learned.estimator.certificate_.statement}")


def show_verdict(found: Any, screen: Screen, near: str | None = None) -> None:
    """Print headline, sentences and advice; the comparison with plain methods only for a good verdict."""
    screen.print()
    screen.print(found.headline, style=STYLES[found.grade])
    for sentence in found.sentences:
        screen.print(sentence)
    if near is not None and found.grade == BETTER:
        screen.print(near)
    for advice in found.advice_in(ADVICE):
        screen.print(f"Try: {advice[0].lower()}{advice[1:]}")


def figure(outcome: Outcome, metric: str, value: float) -> str:
    """Format the value of a metric."""
    if value != value:
        return "–"
    if any(own.name == metric and own.unit == "%" for own in outcome.metrics):
        return f"{value:z.1%}"
    return f"{value:z.3f}" if abs(value) < 100 else f"{value:,.1f}"


def interval(outcome: Outcome, metric: str, found: dict[str, float]) -> str:
    """Format an interval, with the unit once."""
    low, high = (figure(outcome, metric, found[end]) for end in ("low", "high"))
    between = " to " if low.startswith("-") else "–"
    return f"{low.removesuffix('%')}{between}{high}" if low != "–" else "–"


def performance_facts(learned: Learned) -> dict[str, Any]:
    """Return the nested scores and the verdict as plain values."""
    nested, found = learned.nested, learned.verdict
    return {
        "nested": None if nested is None else nested.as_dict(),
        "verdict": None if found is None else verdict_facts(found),
    }


def verdict_facts(found: Verdict) -> dict[str, Any]:
    """Return a Verdict as plain values, with options in its advice."""
    return found.as_dict() | {"advice": list(found.advice_in(ADVICE))}


def parameters(point: dict[str, Any]) -> str:
    """Format rank, ξ and λ."""
    return f"rank {point['n_components']}, xi {point['xi']:.3g}, lam {point['lam']:.3g}"


def table_facts(samples: Study) -> dict[str, Any]:
    """Return plain values about the table."""
    y = known(samples.y)
    return {
        "path": str(samples.path),
        "samples": len(samples.y),
        "unlabeled": len(samples.y) - len(y),
        "features": samples.n_features,
        "blocks": {name: stop - start for name, (start, stop) in samples.blocks.items()},
        "covariates": list(samples.covariate_names),
        "adjusted_for": list(samples.levels),
        "target": samples.target,
        "outcome": samples.outcome,
        "targets": list(samples.targets),
        **description_of(samples.outcome).sample_facts(y, samples.targets),
        "classes_left_out": samples.rare,
        "missing": None if samples.gaps is None else samples.gaps.as_dict(),
        "join": samples.joined or None,
    }


def selection_facts(search: Any, kind: str) -> dict[str, Any]:
    """Return plain values about the search."""
    return {
        "folds": search.n_splits_,
        "settings": len(search.cv_results_["params"]),
        description_of(kind).score[2]: search.best_score_,
        "standard_deviation": search.cv_results_["std_test_score"][search.best_index_],
        "elbow": search.scree_.elbow,
    }


def certificate_facts(estimator: Any) -> dict[str, Any]:
    """Return plain values about the certificate."""
    names = ("statement", "is_global", "relative_gap", "gap", "lower_bound", "objective", "exact")
    return {name: getattr(estimator.certificate_, name) for name in names}
