"""What `fit` and `demo` say about what they learned, to people and to scripts."""

from __future__ import annotations

from typing import Any

from superfactor.cli.learning import Learned
from superfactor.cli.prepare import PreparedTable
from superfactor.cli.screen import Screen


def describe(learned: Learned, log2: bool, screen: Screen) -> None:
    """What was read, and what was chosen."""
    samples, search = learned.samples, learned.search
    held = len(learned.held_out)
    scaling = "standardized" if learned.settings.standardize else "centred"
    features = f"{samples.n_features:,}, {'log2, ' if log2 else ''}{scaling}"
    weighing = ", classes weigh the same" if learned.settings.balance else ""
    best, tried = search.best_params_, len(search.cv_results_["params"])
    spread = search.cv_results_["std_test_score"][search.best_index_]
    screen.fields(
        [
            ("table", str(samples.path)),
            ("samples", f"{len(samples.y):,} ({', '.join(counted(samples.y))})"),
            (
                "fitted to",
                f"{len(learned.train):,}; the other {held:,} are held out to measure accuracy"
                if held
                else "all of them; none are held out",
            ),
            ("features", features),
            *([("covariates", ", ".join(samples.encoding))] if samples.encoding else []),
            ("model", f"{best['model']}, {parameters(best)}{weighing}"),
            (
                "chosen by",
                f"{search.n_splits_}-fold cross-validation of {tried} setting{'s' * (tried > 1)}: "
                f"log-likelihood {search.best_score_:.3f} (s.d. {spread:.3f})",
            ),
        ]
    )


def verdict(learned: Learned, baselines: dict[str, float], screen: Screen) -> None:
    """How good it is on samples it has not seen, and what is proven."""
    held = learned.scores["held_out"]
    screen.say()
    if held is None:
        screen.say(
            f"accuracy {learned.scores['training']['accuracy']:.1%} on the samples it was fitted to: "
            "optimistic, none were held out"
        )
    else:
        low, high = held["accuracy_interval_95"]
        screen.say(
            f"accuracy {held['accuracy']:.1%} on {held['samples']} held-out samples (95 % interval "
            f"{low:.0%} to {high:.0%})",
            style="bold",
        )
    scored = held or learned.scores["training"]
    always = scored["most_frequent_class"]
    for name, value in {**baselines, f"always {always['label']!r}": always["accuracy"]}.items():
        screen.say(f"         {value:.1%} for {name} on the same samples")
    screen.say(f"         balanced accuracy {scored['balanced_accuracy']:.1%}")
    screen.say()
    screen.say(learned.estimator.certificate_.statement)


def parameters(point: dict[str, Any]) -> str:
    """Rank and weights in a few words."""
    return f"rank {point['n_components']}, xi {point['xi']:.3g}, lam {point['lam']:.3g}"


def counted(labels: Any) -> list[str]:
    """Classes and how many samples they have, as words."""
    words = [f"{name}: {count:,}" for name, count in class_counts(labels).items()]
    return words if len(words) <= 10 else [*words[:9], f"{len(words) - 9} more classes"]


def class_counts(labels: Any) -> dict[str, int]:
    """The number of samples of each class."""
    import numpy as np

    classes, counts = np.unique(labels, return_counts=True)
    return {str(name): int(count) for name, count in zip(classes, counts, strict=True)}


def table_facts(samples: PreparedTable) -> dict[str, Any]:
    """What was read, for scripts."""
    return {
        "path": str(samples.path),
        "samples": len(samples.y),
        "features": samples.n_features,
        "covariates": list(samples.names[samples.n_features :]),
        "target": samples.columns.target,
        "classes": class_counts(samples.y),
    }


def selection_facts(search: Any) -> dict[str, Any]:
    """How it was chosen, for scripts."""
    return {
        "folds": search.n_splits_,
        "settings": len(search.cv_results_["params"]),
        "log_likelihood": search.best_score_,
        "standard_deviation": search.cv_results_["std_test_score"][search.best_index_],
        "elbow": search.scree_.elbow,
    }


def certificate_facts(estimator: Any) -> dict[str, Any]:
    """What is proven, for scripts."""
    names = ("statement", "is_global", "relative_gap", "gap", "lower_bound", "objective", "exact")
    return {name: getattr(estimator.certificate_, name) for name in names}
