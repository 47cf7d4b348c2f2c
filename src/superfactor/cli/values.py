"""What is typed after options becomes values, or one clear line. Nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from superfactor.cli.errors import UserError

# Samples of a class that --drop-rare keeps.
FEWEST = 3


def wishes_of(log2: bool, impute: str, unlabeled: str | None, drop_rare: bool, min_class: int | None) -> Any:
    """How the table is read, as `Wishes`."""
    from superfactor.tables.columns.gaps import WAYS
    from superfactor.tables.prepare import Wishes

    if impute not in WAYS:
        raise UserError(f"--impute {impute}: lowrank, mean or none is required")
    if min_class is not None and min_class < 1:
        raise UserError(f"--min-class {min_class}: a whole number from 1 is required")
    fewest = min_class or (FEWEST if drop_rare else 0)
    return Wishes(log2=log2, impute=impute, unlabeled=unlabeled, min_class=fewest)


def columns_of(
    target: str | None,
    id: str | None,
    covariates: list[str] | None,
    drop: list[str] | None,
    group: str | None,
    adjust: list[str] | None,
) -> Any:
    """Which column is what, as `Columns`; names stand one after another, with commas, or both."""
    from superfactor.tables.roles import Columns

    def names(values: list[str] | None) -> tuple[str, ...]:
        every = (name.strip() for value in values or [] for name in value.split(","))
        return tuple(dict.fromkeys(name for name in every if name))

    return Columns(target, id, names(covariates), names(drop), group, names(adjust))


def settings_of(
    rank: str,
    xi: str,
    lam: str,
    model: str,
    standardize: bool,
    balance: bool,
    seed: int,
    folds: int | None,
    certify: str = "residual",
) -> Any:
    """How to learn, as `Settings`."""
    from superfactor.cli.commands.learning import Settings

    if model not in ("filter", "feature"):
        raise UserError(f"--model {model}: filter or feature is required")
    if certify not in ("residual", "ascent"):
        raise UserError(f"--certify {certify}: residual or ascent is required")
    return Settings(
        rank=_choice("--rank", rank, int, lambda n: n >= 1, "auto or a whole number from 1"),
        xi=_choice("--xi", xi, float, lambda x: 0 < x < float("inf"), "auto or a number above 0"),
        lam=_choice("--lam", lam, float, lambda x: 0 <= x < float("inf"), "auto or a number from 0"),
        model=model,
        standardize=standardize,
        balance=balance,
        seed=seed,
        folds=folds,
        certify=certify,
    )


def repeats_of(text: str) -> Any:
    """``auto`` or a number."""
    if text == "auto":
        return text
    if not text.isdecimal():
        raise UserError(f"--repeats {text}: auto or a whole number from 0 is required")
    return int(text)


def _choice(option: str, text: str, kind: Any, allowed: Any, required: str) -> Any:
    """``auto``, one number, or several with commas between them as a list."""
    if text == "auto":
        return text
    try:
        values = [kind(word) for word in text.split(",")]
    except ValueError:
        values = []
    if not values or not all(map(allowed, values)):
        raise UserError(f"{option} {text}: {required} is required, or several with commas between")
    return values[0] if len(values) == 1 else values


def source_of(
    table: Path | None,
    blocks: Sequence[str] | None,
    phenotype: Path | None,
    layout: str | None,
    sheet: str | None,
    layer: str | None,
) -> Any:
    """The files that the words of a command name, as `Source`."""
    from superfactor.tables.joining.reading import LAYOUTS, Source

    if layout is not None and layout not in LAYOUTS:
        raise UserError(f"--layout {layout}: auto, samples or features is required")
    named: dict[str, Path] = {}
    for word in blocks or []:
        name, equals, file = word.partition("=")
        if not equals or not name.strip() or not file:
            raise UserError(f"--block {word}: name=FILE is required, as in rna=expression.csv")
        if name.strip() in named:
            raise UserError(f"--block {word}: two blocks are called {name!r}; rename one")
        named[name.strip()] = Path(file)
    if table is None and not named:
        raise UserError("Missing argument 'TABLE', or --block name=FILE (--help lists what there is)")
    found = Source(table, tuple(named.items()), phenotype, layout, sheet, layer)
    names = [name for name, _ in found.tables]
    if len(set(names)) < len(names):
        raise UserError(f"--block {names[0]}=…: TABLE is a block of that name already; rename one")
    every = [*(path for _, path in found.tables), *([] if phenotype is None else [phenotype])]
    seen: set[Path] = set()
    for path in every:
        if path.resolve() in seen:
            raise UserError(
                f"{path}: the same file twice; TABLE, every --block and --phenotype are files of their own"
            )
        seen.add(path.resolve())
    return found
