"""Options that several commands share: how they are written, and what the help says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_AS_FITTED = "as the model was fitted"
Table = Annotated[
    Path | None,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV (.gz too), Parquet, .xlsx, .h5ad, .h5mu, .npz, 10x folder, GEO series matrix; "
        "one sample a row, or one feature.",
        show_default=False,
    ),
]
Block = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=FILE",
        help="A further table of the same samples, or one of several without TABLE.",
        show_default=False,
    ),
]
Phenotype = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Labels, covariates, groups in a file of their own, joined by --id.",
        show_default=False,
    ),
]
Layout = Annotated[
    str | None,
    typer.Option(metavar="auto|samples|features", help="What the rows of tables are.", show_default="auto"),
]
Sheet = Annotated[
    str | None, typer.Option(metavar="NAME", help="Of an .xlsx file.", show_default="the first")
]
Layer = Annotated[str | None, typer.Option(metavar="NAME", help="Of an .h5ad file.", show_default="X")]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Written by superfactor fit.", show_default=False)
]
Target = Annotated[
    str | None, typer.Option(metavar="COL", help="Column with the labels. A CuMiDa table: type.")
]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COL", help="Column with names of samples. A CuMiDa table: samples."),
]
Covariates = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL,…",
        help="Columns that help to predict but are not factorized: age, sex. Words are fine.",
        show_default=False,
    ),
]
Adjust = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL,…",
        help="Columns whose share is taken out of the features: batch, site.",
        show_default=False,
    ),
]
Impute = Annotated[
    str,
    typer.Option(
        metavar="lowrank|mean|none", help="Fill in missing values, where there are any, or refuse them."
    ),
]
Unlabeled = Annotated[
    str | None,
    typer.Option(
        metavar="VALUE",
        help="What stands for no label, besides an empty cell: -1, unknown.",
        show_default=False,
    ),
]
DropRare = Annotated[bool, typer.Option("--drop-rare", help="Leave out classes with fewer than 3 samples.")]
MinClass = Annotated[
    int | None, typer.Option(metavar="N", help="Leave out classes with fewer than N.", show_default=False)
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COL,…", help="Columns to leave out.", show_default=False)
]
Rank = Annotated[str, typer.Option(metavar="N|auto", help="Number of factors, or several: 2,4,8.")]
Xi = Annotated[str, typer.Option(metavar="X|auto", help="Weight of the reconstruction, or several.")]
Lam = Annotated[str, typer.Option(metavar="X|auto", help="Ridge, or several values.")]
Kind = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="filter|feature",
        help="filter predicts from projections of a sample, feature from codes that bend to the label.",
    ),
]
Standardize = Annotated[
    bool,
    typer.Option(
        "--standardize/--no-standardize", help="Give every feature variance 1, or only take its mean off."
    ),
]
Balance = Annotated[
    bool,
    typer.Option(
        "--balance/--no-balance", help="Let every class weigh the same, or as much as it has samples."
    ),
]
Log2 = Annotated[
    bool, typer.Option("--log2", help="Take log2 of the features first; values below 1 count as 1.")
]
Certify = Annotated[
    str,
    typer.Option(
        metavar="residual|ascent",
        help="The proof of optimality: at no cost, or a tighter one in seconds to minutes.",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Samples that belong together, as of one patient: they never lie on both sides of a fold.",
        show_default=False,
    ),
]
Repeats = Annotated[
    str,
    typer.Option(
        metavar="N|auto", help="How often to repeat the nested cross-validation; 0 to measure nothing."
    ),
]
Permutations = Annotated[
    int,
    typer.Option(min=0, metavar="N", help="Shuffle the labels N times, for a p-value: as N repeats take."),
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the folds and of what is held out.")]
Folds = Annotated[
    int | None,
    typer.Option("--cv", min=2, metavar="N", help="Folds of every cross-validation.", show_default="5"),
]
Markers = Annotated[
    Path | None, typer.Option(metavar="CSV", help="Known features and a note on each, to point out.")
]
Resamples = Annotated[
    int,
    typer.Option("--stability", min=0, metavar="N", help="Refit to N resamples: which features come back?"),
]
_STABLE = "Fit halves of the samples: which features come back, few of them by chance?"
Stable = Annotated[
    bool | None, typer.Option("--stable/--no-stable", help=_STABLE, show_default="under ten seconds")
]
StableOfModel = Annotated[
    bool | None, typer.Option("--stable/--no-stable", help=_STABLE, show_default=_AS_FITTED)
]
FeaturesOut = Annotated[
    Path | None,
    typer.Option(
        "--features-out",
        metavar="CSV",
        help="Write how every feature goes with the labels and the factors: .csv, .tsv, .parquet, .xlsx.",
    ),
]
Rotation = Annotated[
    str | None,
    typer.Option(
        metavar="predictive|variance|varimax",
        help="How factors are turned: all of the prediction in as few as can be, by how much "
        "varies with them, or so that each goes with few features.",
        show_default="predictive",
    ),
]
_BY = "What features are ranked by: what goes with a factor, or how it is computed."
By = Annotated[str, typer.Option(metavar="correlation|weight", help=_BY)]
ByOfModel = Annotated[
    str | None, typer.Option(metavar="correlation|weight", help=_BY, show_default=_AS_FITTED)
]
Positive = Annotated[
    str | None,
    typer.Option(metavar="LABEL", help="The class that is up in factors.", show_default="the rarer of two"),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
