"""What can be said to commands, by what it is about. Nothing heavy is imported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from superfactor.cli import values
from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.fields import AS_FITTED, argument, option
from superfactor.cli.told.screen import Screen

if TYPE_CHECKING:
    from superfactor.tables.joining.source import Sources
    from superfactor.tables.roles import Columns
    from superfactor.tables.study import Wishes

# Samples of a class that --drop-rare keeps.
FEWEST = 3
# Roles that several columns can have.
_SEVERAL = ("target", "covariates", "drop", "adjust")


@dataclass(frozen=True)
class Voice:
    """How a command speaks."""

    quiet: bool = option("--quiet", "-q", default=False, help="Say nothing but errors.")
    json: bool = option("--json", default=False, help="Print one JSON object and nothing else.")

    @property
    def screen(self) -> Screen:
        """Where it does."""
        return Screen(quiet=self.quiet, as_json=self.json)


@dataclass(frozen=True)
class ModelFile:
    """A model on disk."""

    model: Path = argument("Written by superfactor fit.", "MODEL")


@dataclass(frozen=True)
class Files:
    """The tables of a command."""

    table: Path | None = argument(
        "CSV, TSV (.gz too), Parquet, .xlsx, .h5ad, .h5mu, .npz, 10x folder, GEO series matrix; one sample a "
        "row, or one feature.",
        "TABLE",
        default=None,
    )
    block: list[str] | None = option(
        metavar="NAME=FILE",
        help="A further table of the same samples, or one of several without TABLE.",
        shown=False,
    )
    phenotype: Path | None = option(
        metavar="FILE", help="Labels, covariates, groups in a file of their own, joined by --id.", shown=False
    )
    layout: str | None = option(
        metavar="auto|samples|features",
        help="What the rows of tables are.",
        shown="auto",
        parser=values.one_of("--layout", "auto", "samples", "features"),
    )
    sheet: str | None = option(metavar="NAME", help="Of an .xlsx file.", shown="the first")
    layer: str | None = option(metavar="NAME", help="Of an .h5ad file.", shown="X")

    @property
    def source(self) -> Sources:
        """The same for `superfactor.tables`, each file once."""
        from superfactor.tables.joining.source import sources_of

        named = values.blocks(self.block)
        if self.table is None and not named:
            raise UserError("Missing argument 'TABLE', or --block name=FILE (--help lists what there is)")
        with as_user_error():
            return sources_of(self.table, named, self.phenotype, self.layout, self.sheet, self.layer)


def _id() -> Any:
    return option("--id", metavar="COL", help="Column with names of samples. A CuMiDa table: samples.")


@dataclass(frozen=True)
class Names:
    """Names of new samples."""

    id: str | None = _id()


@dataclass(frozen=True)
class Unlabeled:
    """Samples without a label."""

    unlabeled: str | None = option(
        metavar="VALUE",
        help="What stands for no label or value, besides an empty cell: -1, unknown.",
        shown=False,
    )


def _time() -> Any:
    return option(metavar="COL", help="Survival: column with the time observed.", shown=False)


def _event() -> Any:
    help = "Survival: column that says whether an event was seen: 0/1, TRUE/FALSE, R's 1/2, or words."
    return option(metavar="COL", help=help, shown=False)


def _event_word() -> Any:
    return option(metavar="WORD", help="The word in --event that means one: deceased.", shown=False)


@dataclass(frozen=True)
class Labels(Unlabeled, Names):
    """Where the outcome of new samples stands."""

    target: list[str] | None = option(metavar="COL,…", help="Column with the outcome.", shown=AS_FITTED)
    time: str | None = _time()
    event: str | None = _event()
    event_word: str | None = _event_word()

    def columns(self, about: dict[str, Any]) -> dict[str, Any]:
        """Parameters of `read_study`, as in the record of a model where nobody says otherwise."""
        known = about.get("y") or {"target": [about["target"]]}
        given = {"target": values.names(self.target), "time": self.time, "event": self.event}
        for name, value in given.items():
            if value and name not in known:
                names = " and ".join(f"--{own}" for own in known)
                raise UserError(f"--{name}: the model predicts {about['target']}, which {names} can name")
        found = {name: given[name] or value for name, value in known.items()}
        return {**found, "unlabeled": self.unlabeled, "event_word": self.event_word}


@dataclass(frozen=True)
class Roles:
    """Which column is what."""

    target: list[str] | None = option(
        metavar="COL,…",
        help="Column with the labels, the numbers or the counts; several of 0/1, or of numbers. A CuMiDa "
        "table: type.",
        shown=False,
    )
    time: str | None = _time()
    event: str | None = _event()
    exposure: str | None = option(
        metavar="COL", help="What counts are out of: hours, area, library size.", shown=False
    )
    id: str | None = _id()
    covariates: list[str] | None = option(
        metavar="COL,…",
        help="Columns that help to predict but are not factorized: age, sex. Words are fine.",
        shown=False,
    )
    adjust: list[str] | None = option(
        metavar="COL,…", help="Columns whose share is taken out of the features: batch, site.", shown=False
    )
    group: str | None = option(
        metavar="COL",
        help="Samples that belong together, as of one patient: they never lie on both sides of a fold.",
        shown=False,
    )
    drop: list[str] | None = option(metavar="COL,…", help="Columns to leave out.", shown=False)

    @property
    def columns(self) -> Columns:
        """The same for `superfactor.tables`."""
        from superfactor.tables.roles import Columns

        several: dict[str, Any] = {name: values.names(getattr(self, name)) for name in _SEVERAL}
        single: dict[str, Any] = {
            name: getattr(self, name) for name in ("id", "group", "time", "event", "exposure")
        }
        return Columns(**single, **several)


@dataclass(frozen=True)
class TableReading(Unlabeled):
    """What is done to a table before anything is learned from it."""

    task: str | None = option(
        metavar="classes|regression|counts|labels",
        help="What the target is: classes, numbers, counts, or several labels of 0/1.",
        shown="found out",
        parser=values.one_of("--task", "classes", "regression", "counts", "labels"),
    )
    event_word: str | None = _event_word()
    impute: str = option(
        default="lowrank",
        metavar="lowrank|mean|none",
        help="Fill in missing values, where there are any, or refuse them.",
        parser=values.one_of("--impute", "lowrank", "mean", "none"),
    )
    drop_rare: bool = option(
        "--drop-rare", default=False, help=f"Leave out classes with fewer than {FEWEST} samples."
    )
    min_class: int | None = option(
        metavar="N", help="Leave out classes with fewer than N.", shown=False, parser=values.from_one
    )
    log2: bool = option(
        "--log2", default=False, help="Take log2 of the features first; values below 1 count as 1."
    )

    @property
    def wishes(self) -> Wishes:
        """The same for `superfactor.tables`."""
        from superfactor.tables.study import Wishes

        fewest = self.min_class or (FEWEST if self.drop_rare else 0)
        names = ("log2", "impute", "unlabeled", "task", "event_word")
        return Wishes(**{name: getattr(self, name) for name in names}, min_class=fewest)

    @property
    def called(self) -> dict[str, str]:
        """Options that say the same as others, where they were typed: in messages."""
        return {"min_class": "--drop-rare"} if self.drop_rare and not self.min_class else {}


@dataclass(frozen=True)
class Choice:
    """What to choose from, and how."""

    rank: Any = option(
        default="auto",
        metavar="N|auto",
        help="Number of factors, or several: 2,4,8.",
        parser=values.numbers("--rank", int, 1, "auto or a whole number from 1"),
    )
    xi: Any = option(
        default="auto",
        metavar="X|auto",
        help="Weight of the reconstruction, or several.",
        parser=values.numbers("--xi", float, 0, "auto or a number above 0", open_end=True),
    )
    lam: Any = option(
        default="auto",
        metavar="X|auto",
        help="Ridge, or several values.",
        parser=values.numbers("--lam", float, 0, "auto or a number from 0"),
    )
    model: str = option(
        default="filter",
        metavar="filter|feature",
        help="filter predicts from projections of a sample, feature from codes that bend to the label.",
        parser=values.one_of("--model", "filter", "feature"),
    )
    standardize: bool = option(
        "--standardize/--no-standardize",
        default=True,
        help="Give every feature variance 1, or only take its mean off.",
    )
    balance: bool = option(
        "--balance/--no-balance",
        default=False,
        help="Let every class weigh the same, or as much as it has samples.",
    )
    seed: int = option(default=0, min=0, max=2**32 - 1, help="Of the folds and of what is held out.")
    cv: int | None = option("--cv", min=2, metavar="N", help="Folds of every cross-validation.", shown="5")


@dataclass(frozen=True)
class Settings(Choice):
    """How to learn, and to measure what was learned."""

    repeats: Any = option(
        default="auto",
        metavar="N|auto",
        help="How often to repeat the nested cross-validation; 0 to measure nothing.",
        parser=values.repeats,
    )
    permutations: int = option(
        default=0, min=0, metavar="N", help="Shuffle the labels N times, for a p-value: as N repeats take."
    )
    test_size: float = option(default=0.0, metavar="F", help="Share of the samples to hold out besides.")
    certify: str = option(
        default="residual",
        metavar="residual|ascent",
        help="The proof of optimality: at no cost, or a tighter one in seconds to minutes.",
        parser=values.one_of("--certify", "residual", "ascent"),
    )

    def __post_init__(self) -> None:
        if self.permutations and not self.repeats:
            raise UserError("--permutations needs nested cross-validation: leave out --repeats 0")


@dataclass(frozen=True)
class Outputs:
    """The files that a fit writes."""

    out: Path = option(default=..., metavar="FILE", help="The model, by convention .skops.", shown=False)
    report: Path | None = option(metavar="HTML", help="Write a page about the model, too.")
    predictions: Path | None = option(
        metavar="CSV", help="Write predictions of the samples without a label, too."
    )


@dataclass(frozen=True)
class View:
    """How factors are shown; None as usual, or as the model was fitted."""

    by: str | None = option(
        metavar="correlation|weight",
        help="What features are ranked by: what goes with a factor, or how it is computed.",
        shown="correlation",
        remembered=True,
        parser=values.one_of("--by", "correlation", "weight"),
    )
    rotation: str | None = option(
        metavar="predictive|variance|varimax",
        help="How factors are turned: all of the prediction in as few as can be, by how much varies with "
        "them, or so that each goes with few features.",
        shown="predictive",
        remembered=True,
        parser=values.one_of("--rotation", "predictive", "variance", "varimax"),
    )
    positive: str | None = option(
        metavar="LABEL", help="The class that is up in factors.", shown="the rarer of two", remembered=True
    )
    markers: Path | None = option(metavar="CSV", help="Known features and a note on each, to point out.")

    @property
    def shown(self) -> dict[str, Any]:
        """For everything that shows factors."""
        return {"rotation": self.rotation, "positive": self.positive}

    @property
    def ranked_by(self) -> str:
        """What features are ranked by."""
        return self.by or "correlation"

    def like(self, about: dict[str, Any]) -> Self:
        """The same, as in the record of a model where nobody says otherwise."""
        names = [name for name in ("by", "rotation", "positive") if getattr(self, name) is None]
        return replace(self, **{name: about[name] for name in names})


@dataclass(frozen=True)
class Looks(View):
    """What to look at besides."""

    stability: int = option(
        "--stability", default=0, min=0, metavar="N", help="Refit to N resamples: which features come back?"
    )
    stable: bool | None = option(
        "--stable/--no-stable",
        help="Fit halves of the samples: which features come back, few of them by chance?",
        shown="under ten seconds",
        remembered=True,
    )
    features_out: Path | None = option(
        "--features-out",
        metavar="CSV",
        help="Write how every feature goes with the labels and the factors: .csv, .tsv, .parquet, .xlsx.",
    )

    def like(self, about: dict[str, Any]) -> Self:
        """The same, as in the record of a model where nobody says otherwise."""
        known = super().like(about)
        return replace(known, stable=about["stable_features"] is not None) if self.stable is None else known
