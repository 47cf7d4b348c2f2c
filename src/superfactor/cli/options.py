"""Options of the commands, as dataclasses by topic. Imports no large package."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from superfactor.cli import option_values
from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.option_fields import AS_FITTED, argument, option
from superfactor.cli.output.screen import Screen

if TYPE_CHECKING:
    from superfactor.tables.joining.source import Sources
    from superfactor.tables.roles import Columns
    from superfactor.tables.study import Wishes

# The smallest class that --drop-rare keeps.
SMALLEST_CLASS = 3
# Options that accept several columns.
_COLUMN_LISTS = ("target", "covariates", "drop", "adjust")


@dataclass(frozen=True)
class Verbosity:
    """What a command prints."""

    quiet: bool = option("--quiet", "-q", default=False, help="Print errors only.")
    json: bool = option("--json", default=False, help="Print the result as one JSON object.")

    @property
    def screen(self) -> Screen:
        """The Screen with these settings."""
        return Screen(quiet=self.quiet, as_json=self.json)


@dataclass(frozen=True)
class ModelFile:
    """A saved model."""

    model: Path = argument("Model file of superfactor fit.", "MODEL")


@dataclass(frozen=True)
class Files:
    """The input tables of a command."""

    table: Path | None = argument(
        "CSV, TSV (also .gz), Parquet, .xlsx, .h5ad, .h5mu, .npz, 10x folder, GEO series matrix. Rows are "
        "samples or features.",
        "TABLE",
        default=None,
    )
    block: list[str] | None = option(
        metavar="NAME=FILE",
        help="Further features of the same samples; repeat for several tables. Can replace TABLE.",
        shown=False,
    )
    phenotype: Path | None = option(
        metavar="FILE", help="Separate file with labels, covariates, groups; joined by --id.", shown=False
    )
    layout: str | None = option(
        metavar="auto|samples|features",
        help="What the rows of the tables are.",
        shown="auto",
        parser=option_values.one_of("--layout", "auto", "samples", "features"),
    )
    sheet: str | None = option(metavar="NAME", help="Sheet of an .xlsx file.", shown="the only one")
    layer: str | None = option(metavar="NAME", help="Layer of an .h5ad file.", shown="X")
    missing: list[str] | None = option(
        metavar="VALUE,…",
        help="Numbers or words that mean a missing value besides empty cells and NA, such as -999.",
        shown=False,
        remembered=True,
    )

    @property
    def source(self) -> Sources:
        """The files as `superfactor.tables` takes them."""
        from superfactor.tables.joining.source import sources_of

        named, missing = option_values.blocks(self.block), option_values.names(self.missing)
        if self.table is None and not named:
            raise UserError("Missing argument 'TABLE', or --block name=FILE (--help lists all options)")
        with as_user_error():
            return sources_of(self.table, named, self.phenotype, self.layout, self.sheet, self.layer, missing)


def _id() -> Any:
    return option("--id", metavar="COL", help="Column with sample names. CuMiDa tables: samples.")


@dataclass(frozen=True)
class Names:
    """The column with names of new samples, and what they may lack."""

    id: str | None = _id()
    allow_absent: bool = option(
        "--allow-absent",
        default=False,
        help="Predict even if absent features of the model have most of the weight.",
    )


@dataclass(frozen=True)
class Unlabeled:
    """Marker of samples without a label."""

    unlabeled: str | None = option(
        metavar="VALUE",
        help="Marker of a missing label besides empty cells, such as -1 or unknown.",
        shown=False,
    )


def _time() -> Any:
    return option(metavar="COL", help="Survival: column with the observed time.", shown=False)


def _event() -> Any:
    help = "Survival: column with the event status: 0/1, TRUE/FALSE, R's 1/2, or words."
    return option(metavar="COL", help=help, shown=False)


def _event_word() -> Any:
    return option(metavar="WORD", help="Value of --event that marks an event, such as deceased.", shown=False)


@dataclass(frozen=True)
class Labels(Unlabeled, Names):
    """The columns with the outcome of new samples."""

    target: list[str] | None = option(metavar="COL,…", help="Column with the outcome.", shown=AS_FITTED)
    time: str | None = _time()
    event: str | None = _event()
    event_word: str | None = _event_word()

    def columns(self, about: dict[str, Any]) -> dict[str, Any]:
        """Parameters of `read_study`; the metadata of the model are the defaults."""
        recorded = about.get("y") or {"target": [about["target"]]}
        given = {"target": option_values.names(self.target), "time": self.time, "event": self.event}
        for name, value in given.items():
            if value and name not in recorded:
                names = " and ".join(f"--{other}" for other in recorded)
                raise UserError(f"--{name}: the model predicts {about['target']}; use {names}")
        columns = {name: given[name] or value for name, value in recorded.items()}
        return {**columns, "unlabeled": self.unlabeled, "event_word": self.event_word}


@dataclass(frozen=True)
class Roles:
    """The roles of the columns."""

    target: list[str] | None = option(
        metavar="COL,…",
        help="Column to predict: labels, numbers or counts; or several columns of 0/1 or of numbers. CuMiDa "
        "tables: type.",
        shown=False,
    )
    time: str | None = _time()
    event: str | None = _event()
    exposure: str | None = option(
        metavar="COL", help="Exposure of counts: hours, area, library size.", shown=False
    )
    id: str | None = _id()
    covariates: list[str] | None = option(
        metavar="COL,…",
        help="Columns that help to predict but are not factorized, such as age and sex; numbers or words.",
        shown=False,
    )
    adjust: list[str] | None = option(
        metavar="COL,…", help="Confounders to remove from the features, such as batch or site.", shown=False
    )
    group: str | None = option(
        metavar="COL",
        help="Column with groups of samples, such as patients; a group is never split between folds.",
        shown=False,
    )
    drop: list[str] | None = option(metavar="COL,…", help="Columns to leave out.", shown=False)

    @property
    def columns(self) -> Columns:
        """The roles as `superfactor.tables` takes them."""
        from superfactor.tables.roles import Columns

        lists: dict[str, Any] = {name: option_values.names(getattr(self, name)) for name in _COLUMN_LISTS}
        single: dict[str, Any] = {
            name: getattr(self, name) for name in ("id", "group", "time", "event", "exposure")
        }
        return Columns(**single, **lists)


@dataclass(frozen=True)
class TableReading(Unlabeled):
    """How a table is read and prepared."""

    task: str | None = option(
        metavar="classes|regression|counts|labels",
        help="Type of the target: classes, numbers, counts, or several 0/1 labels.",
        shown="detected",
        parser=option_values.one_of("--task", "classes", "regression", "counts", "labels"),
    )
    event_word: str | None = _event_word()
    impute: str = option(
        default="lowrank",
        metavar="lowrank|mean|none",
        help="How to impute missing values; none refuses them.",
        parser=option_values.one_of("--impute", "lowrank", "mean", "none"),
    )
    drop_rare: bool = option(
        "--drop-rare", default=False, help=f"Drop classes with fewer than {SMALLEST_CLASS} samples."
    )
    min_class: int | None = option(
        metavar="N",
        help="Drop classes with fewer than N samples.",
        shown=False,
        parser=option_values.class_size,
    )
    log2: bool = option(
        "--log2", default=False, help="Take log2 of the features; values below 1 are set to 1."
    )

    @property
    def wishes(self) -> Wishes:
        """The settings as `superfactor.tables` takes them."""
        from superfactor.tables.study import Wishes

        fewest = self.min_class or (SMALLEST_CLASS if self.drop_rare else 0)
        names = ("log2", "impute", "unlabeled", "task", "event_word")
        return Wishes(**{name: getattr(self, name) for name in names}, min_class=fewest)

    @property
    def called(self) -> dict[str, str]:
        """Options as the user typed them, by parameter, for error messages."""
        return {"min_class": "--drop-rare"} if self.drop_rare and not self.min_class else {}


@dataclass(frozen=True)
class Choice:
    """What cross-validation chooses from, and how."""

    rank: Any = option(
        default="auto",
        metavar="N|auto",
        help="Number of factors, or several: 2,4,8.",
        parser=option_values.numbers("--rank", int, 1, "auto or an integer of at least 1"),
    )
    xi: Any = option(
        default="auto",
        metavar="X|auto",
        help="Weight of the reconstruction, or several values.",
        parser=option_values.numbers("--xi", float, 0, "auto or a number above 0", open_end=True),
    )
    lam: Any = option(
        default="auto",
        metavar="X|auto",
        help="Ridge penalty, or several values.",
        parser=option_values.numbers("--lam", float, 0, "auto or a number of at least 0"),
    )
    model: str = option(
        default="filter",
        metavar="filter|feature",
        help="filter predicts from projections of a sample, feature from codes that also depend on the "
        "label.",
        parser=option_values.one_of("--model", "filter", "feature"),
    )
    standardize: bool = option(
        "--standardize/--no-standardize",
        default=True,
        help="Scale every feature to mean 0 and variance 1, or only center it.",
    )
    balance: bool = option(
        "--balance/--no-balance", default=False, help="Weight classes equally, or by their number of samples."
    )
    seed: int = option(default=0, min=0, max=2**32 - 1, help="Random seed of folds and held-out samples.")
    cv: int | None = option(
        "--cv",
        min=2,
        metavar="N",
        help="Number of folds of every cross-validation.",
        shown="5; 3 for large tables; more outer folds below 100 samples",
    )


@dataclass(frozen=True)
class Settings(Choice):
    """How to fit a model and evaluate it."""

    repeats: Any = option(
        default="auto",
        metavar="N|auto",
        help="Repeats of the nested cross-validation; 0 skips it.",
        parser=option_values.repeats,
    )
    permutations: int = option(
        default=0, min=0, metavar="N", help="Shuffle labels N times for a p-value; as slow as N repeats."
    )
    test_size: float = option(default=0.0, metavar="F", help="Share of the samples to hold out for testing.")
    certify: str = option(
        default="residual",
        metavar="residual|ascent",
        help="Certificate of optimality: residual is free, ascent is tighter and takes seconds to minutes.",
        parser=option_values.one_of("--certify", "residual", "ascent"),
    )

    def __post_init__(self) -> None:
        if self.permutations and not self.repeats:
            raise UserError("--permutations needs nested cross-validation: leave out --repeats 0")


@dataclass(frozen=True)
class Outputs:
    """The files that a fit writes."""

    out: Path = option(default=..., metavar="FILE", help="File for the model, usually .skops.", shown=False)
    report: Path | None = option(metavar="HTML", help="Also write a report on the model.")
    predictions: Path | None = option(metavar="CSV", help="Also write predictions of the unlabeled samples.")


@dataclass(frozen=True)
class View:
    """How factors are shown; None takes the default, or the value saved with the model."""

    by: str | None = option(
        metavar="correlation|weight",
        help="Rank features by correlation with a factor, or by weight in its score.",
        shown="correlation",
        remembered=True,
        parser=option_values.one_of("--by", "correlation", "weight"),
    )
    rotation: str | None = option(
        metavar="predictive|variance|varimax",
        help="Rotation of the factors: prediction in as few factors as possible, order by variance, or few "
        "features per factor.",
        shown="predictive",
        remembered=True,
        parser=option_values.one_of("--rotation", "predictive", "variance", "varimax"),
    )
    positive: str | None = option(
        metavar="LABEL", help="Class at the high end of factors.", shown="the rarer of two", remembered=True
    )
    markers: Path | None = option(metavar="CSV", help="Known features, each with a note, to highlight.")

    @property
    def shown(self) -> dict[str, Any]:
        """Parameters of the functions that show factors."""
        return {"rotation": self.rotation, "positive": self.positive}

    @property
    def ranked_by(self) -> str:
        """The quantity that ranks features, "correlation" or "weight"."""
        return self.by or "correlation"

    def with_defaults(self, about: dict[str, Any]) -> Self:
        """Return a copy that takes values that are not given from the metadata of a model."""
        names = [name for name in ("by", "rotation", "positive") if getattr(self, name) is None]
        return replace(self, **{name: about[name] for name in names})


@dataclass(frozen=True)
class Analysis(View):
    """How factors are shown, and which stability analyses are run."""

    stability: int = option(
        "--stability",
        default=0,
        min=0,
        metavar="N",
        help="Refit to N resamples and report which features return.",
    )
    stable: bool | None = option(
        "--stable/--no-stable",
        help="Fit halves of the samples and select features that return, with an error bound.",
        shown="if under ten seconds",
        remembered=True,
    )
    features_out: Path | None = option(
        "--features-out",
        metavar="CSV",
        help="Write the effects of all features: .csv, .tsv, .parquet, .xlsx.",
    )

    def with_defaults(self, about: dict[str, Any]) -> Self:
        """Return a copy that takes values that are not given from the metadata of a model."""
        found = super().with_defaults(about)
        return replace(found, stable=about["stable_features"] is not None) if self.stable is None else found
