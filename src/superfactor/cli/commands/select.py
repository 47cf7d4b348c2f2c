"""`superfactor select`: compare ranks, ξ and λ by cross-validation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from superfactor.cli.commands.learning import fit_search, keep_copies, search_for
from superfactor.cli.errors import as_user_error
from superfactor.cli.options import Choice, TableReading
from superfactor.cli.output import summary
from superfactor.cli.output.files import check_paths, check_table, write_table
from superfactor.cli.output.screen import Screen
from superfactor.outcomes.descriptions import description_of
from superfactor.saving import versions
from superfactor.selection.search.results import choose
from superfactor.tables import read_study
from superfactor.tables.joining.source import Sources
from superfactor.tables.roles import Columns

SHOWN = 10
_PARAMETERS = ("model", "n_components", "xi", "lam")


def run(
    source: Sources,
    columns: Columns,
    reading: TableReading,
    settings: Choice,
    out: Path | None,
    screen: Screen,
) -> None:
    """Score every setting on every fold of all samples, without a final fit."""
    check_paths({"--out": out}, *source.files)
    check_table("--out", out)
    with screen.step("read"), as_user_error(called=reading.called):
        samples = read_study(source, **vars(columns), **vars(reading.wishes), progress=screen.progress)
    with screen.step("copies"):
        samples, _ = keep_copies(samples, settings.cv, screen)
    with screen.step("select"), screen.progress("scoring settings") as progress:
        search = search_for(samples, settings, samples.y, samples.groups).set_params(refit=False)
        fit_search(search, samples.design, samples.named(samples.y), progress, samples.groups)
    for note in samples.notes:
        screen.note(note)
    best, simple = choices(search)
    _show(samples, search, best, simple, screen)
    if out is not None:
        _write(out, search)
        screen.fields([("all settings", str(out))])
    screen.finish(
        {
            "versions": versions(),
            "table": summary.table_facts(samples),
            "selection": summary.selection_facts(search, samples.outcome),
            "best": _point(search, best, samples.outcome),
            "one_standard_error": _point(search, simple, samples.outcome),
            "share_of_variance": search.scree_.share,
            "files": {} if out is None else {"settings": str(out)},
        }
    )


def choices(search: Any) -> tuple[int, int]:
    """Return positions of the setting that a fit uses, and of the simplest within one standard error."""
    return search.best_index_, choose(search.cv_results_, "one_standard_error")


def _show(samples: Any, search: Any, best: int, simple: int, screen: Screen) -> None:
    results, scree = search.cv_results_, search.scree_
    screen.fields(
        [
            *summary.read_fields(samples),
            ("features", f"{samples.n_features:,}"),
            *summary.column_fields(samples),
        ]
    )
    head = min(len(scree.share), max(SHOWN, scree.elbow + 2))
    rows = [
        [str(i + 1), f"{share:.1%}", f"{scree.share[: i + 1].sum():.1%}", bar(share / scree.share[0])]
        for i, share in enumerate(scree.share[:head])
    ]
    columns = [("rank", "right"), ("variance", "right"), ("cumulative", "right"), ("", "left")]
    title = f"Scree; the elbow is at rank {scree.elbow}"
    screen.table(title, columns, rows, chosen=scree.elbow - 1)

    order = sorted(range(len(results["params"])), key=lambda i: (results["rank_test_score"][i], i))
    shown = order[:SHOWN] + [i for i in (simple,) if i not in order[:SHOWN]]
    words, short, _ = description_of(samples.outcome).score
    columns = [(name, "right") for name in ("place", "model", "rank", "xi", "lam", short, "s.d.")]
    rows = [_row(results, i, best, simple) for i in shown]
    settings = f"{len(shown)} of {len(order)} settings"
    title = f"{words[0].upper()}{words[1:]} over {search.n_splits_} folds, {settings}"
    screen.table(title, [*columns, ("", "left")], rows, chosen=shown.index(best))
    point = results["params"][simple]
    screen.print(f"\nchosen, as in superfactor fit: {summary.parameters(results['params'][best])}")
    if results["rank_test_score"][best] > 1:
        screen.print("(more factors score higher, but by less than a standard error)")
    screen.print(f"simplest within one standard error: {summary.parameters(point)}")


def _row(results: Any, i: int, best: int, simple: int) -> list[str]:
    point = results["params"][i]
    remarks = ["chosen"] * (i == best) + ["one s.e."] * (i == simple)
    return [
        str(results["rank_test_score"][i]),
        point["model"],
        str(point["n_components"]),
        f"{point['xi']:.3g}",
        f"{point['lam']:.3g}",
        f"{results['mean_test_score'][i]:z.3f}",
        f"{results['std_test_score'][i]:.3f}",
        ", ".join(remarks),
    ]


def bar(share: float, width: int = 24) -> str:
    """Return a bar of up to `width` characters for a share between 0 and 1."""
    return "█" * round(share * width)


def _point(search: Any, i: int, kind: str) -> dict[str, Any]:
    results = search.cv_results_
    return {
        **results["params"][i],
        description_of(kind).score[2]: results["mean_test_score"][i],
        "standard_deviation": results["std_test_score"][i],
    }


def _write(out: Path, search: Any) -> None:
    results = search.cv_results_
    folds = [f"split{k}_test_score" for k in range(search.n_splits_)]
    scores = ["rank_test_score", "mean_test_score", "std_test_score", *folds]
    rows = [
        [point[name] for name in _PARAMETERS] + [results[name][i].item() for name in scores]
        for i, point in enumerate(results["params"])
    ]
    write_table(out, [*_PARAMETERS, *scores], rows)
