"""`write_report`: an HTML page about a fitted model; `methods_paragraph`: text for a paper."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sklearn.utils.validation import _num_samples

from superfactor._files import replacing
from superfactor._words import COPIES
from superfactor.interpretation import read_markers
from superfactor.report.facts import gather
from superfactor.report.formats import LONGEST_NOTE, label
from superfactor.report.methods import in_words
from superfactor.report.page import render, templates
from superfactor.selection import find_copies


def write_report(
    path: str | os.PathLike[str],
    model: Any,
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    covariates: Any = None,
    covariates_test: Any = None,
    search: Any = None,
    nested: Any = None,
    stability: Any = None,
    rotation: str | None = None,
    positive: Any = None,
    markers: Any = None,
    baselines: Mapping[str, float] | None = None,
    confounders: Any = None,
    confounders_test: Any = None,
    groups: Any = None,
    held_out: Any = None,
    stable: Any = None,
    nearness: Any = None,
    title: str | None = None,
    target: str | None = None,
    ids: Sequence[Any] | None = None,
    command: str | None = None,
    changes: Iterable[str] = (),
    notes: Iterable[str] = (),
) -> Path:
    """Write a page about a fitted model: one HTML file that loads nothing from the network.

    For classes the page shows ROC curves and a confusion matrix, for several yes/no labels a ROC curve each,
    for numbers and counts predicted against true values, and for survival times Kaplan–Meier curves by risk
    group with hazard ratios of the factors. Whenever possible they are for held-out samples.

    The file is written under another name in the same folder and renamed when it is complete. It contains
    names, correlations and weights of the top features, means by class of up to 300 features, the scores of
    up to 2,000 samples and, for a heat map, the values of up to 40 features in up to 240 samples; nothing
    else of X. It requires Jinja2 (``pip install "superfactor[report]"``).

    Parameters
    ----------
    path : path of the HTML file
    model : SMFClassifier, SMFRegressor, SMFSurvival, a Pipeline that ends in one, or a search for one
        Fitted.
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        The training samples, in the form ``model.fit`` took.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their labels, numbers or times, as ``model.fit`` took them. Samples without an outcome (None, NaN, NA,
        `unlabeled` of the model) are counted and predicted, but not used for evaluation.
    X_test, y_test : held-out samples and their labels, optional
        Metrics and curves use the held-out samples with a label. Without X_test they use out-of-fold
        predictions of the training samples, if `nested` (or, except for classes, `held_out`) has them;
        otherwise they use training predictions, and the page states that these are optimistic.
    covariates, covariates_test : array-like of shape (n_samples, n_covariates), optional
        As given to ``model.fit``.
    search : SMFClassifierCV, SMFRegressorCV or SMFSurvivalCV, optional
        The fitted search that chose the model, for scree and scores; by default `model` if it is a search.
        A record of a search, `Searched` of ``superfactor.report.facts``, is accepted too.
    nested : NestedScores, optional
        From ``nested_scores(search, X, y)`` of `superfactor.selection`, for the headline and the comparison
        with baselines on the same folds. It must be of the same search, or of `model` without a search, and
        of the same samples. Without it the headline uses the held-out samples.
    stability : Stability, optional
        From `superfactor.interpretation.stability`.
    rotation, positive : optional
        As in `superfactor.interpretation.factor_view`. Compute `stability` with the same values.
    markers : path of a CSV file, DataFrame or dict, optional
        Known features and a note on each, as `superfactor.interpretation.read_markers` takes them.
    baselines : dict from name to accuracy on the held-out samples, optional
        For other kinds than classes: R², concordance, or the first metric of the kind.
    confounders, confounders_test : DataFrames of the confounders of the samples, optional
        Shown for a model with an `Adjuster`; by default the confounder columns of X.
    groups : array-like of shape (n_samples,), optional
        Samples of one group are held out together, and are in the same half of the samples.
    held_out : HeldOut or False, optional
        From `superfactor.interpretation.held_out_scores`, with the same `rotation` and `positive`:
        out-of-fold scores for plots, and the roles of factors. By default it is computed, which takes five
        fits. With False the page shows training scores and states this.
    stable : StableFeatures or False, optional
        From `superfactor.interpretation.stable_features`. By default it is computed if that takes less than
        ten seconds. False omits it.
    nearness : Nearness or False, optional
        From `superfactor.interpretation.nearness`: similarity to ridge regression and to principal
        components. By default it is computed if that takes less than about ten seconds. False omits it.
    title, target : str, optional
        The title of the page, and the name of the outcome. Several targets are named by the columns of y if
        it is a DataFrame.
    ids : sequence of n_samples names, or of n_samples + n_test, optional
        Names of the training samples, then of the held-out ones. By default the index of a DataFrame,
        or numbers.
    command : str, optional
        The shell command that writes the page.
    changes : sentences, optional
        How X was made from the values of a table, such as by a logarithm. Shown with the notes and in the
        methods paragraph.
    notes : lines of text, optional
        Shown on the first tab.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from superfactor import SMFClassifier
    >>> from superfactor.report import write_report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = SMFClassifier(n_components=2).fit(X, y.astype(str))
    >>> path = write_report(pathlib.Path(tempfile.mkdtemp(), "page.html"), model, X, y.astype(str))
    >>> path.name, path.stat().st_size > 10_000
    ('page.html', True)
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path={str(path)!r}: the folder {str(path.parent)!r} does not exist")
    templates()  # reports a missing library before the computation
    notes = [*notes]
    copied = any(re.match(COPIES, note) for note in notes)
    if not copied and (copies := find_copies(X, ids=_of(X, ids))):
        notes.append(copies.statement(ids))
        copied = True
    facts = gather(
        model,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        covariates=covariates,
        covariates_test=covariates_test,
        ids=ids,
        confounders=(confounders, confounders_test),
        groups=groups,
        held_out=held_out,
        features=True,
        stable=stable,
        near=nearness,
        search=search,
        nested=nested,
        stability=stability,
        rotation=rotation,
        positive=positive,
        markers={} if markers is None else read_markers(markers),
        baselines={} if baselines is None else baselines,
        title=label(title or (f"Supervised factors of {target}" if target else "Supervised factors")),
        target="" if target is None else label(target),
        command=command,
        changes=tuple(label(change, LONGEST_NOTE) for change in changes),
        notes=tuple(label(note, LONGEST_NOTE) for note in notes),
        related=copied or groups is not None,
    )
    page = render(facts)
    with replacing(path) as part, open(part, "w", encoding="utf-8", errors="replace", newline="\n") as file:
        file.write(page)
    return path


def _of(X: Any, ids: Sequence[Any] | None) -> Sequence[Any] | None:
    """Return the names of the samples X (n, p), which precede those of the held-out samples."""
    return None if ids is None else ids[: _num_samples(X)]


def methods_paragraph(
    model: Any,
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    covariates: Any = None,
    covariates_test: Any = None,
    search: Any = None,
    nested: Any = None,
    target: str | None = None,
) -> str:
    """Describe a fitted model in a paragraph for the methods section of a paper.

    It describes the data, the choice of the model, its performance and its certificate, as far as the
    arguments contain them. The page of `write_report` has the same paragraph.

    Parameters
    ----------
    model : SMFClassifier, SMFRegressor, SMFSurvival, a Pipeline that ends in one, or a search for one
        Fitted.
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        The training samples, in the form ``model.fit`` took.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their labels, numbers or times.
    X_test, y_test : held-out samples and their labels, optional
        Their metrics are reported too.
    covariates, covariates_test : array-like of shape (n_samples, n_covariates), optional
        As given to ``model.fit``.
    search : SMFClassifierCV, SMFRegressorCV or SMFSurvivalCV, optional
        The fitted search that chose the model; by default `model` if it is a search.
    nested : NestedScores, optional
        From ``nested_scores(search, X, y)`` of `superfactor.selection`, of the same search (or `model`),
        X, y and covariates.
    target : str, optional
        The name of the outcome.

    Returns
    -------
    text : str
        One line, without markup.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from superfactor import SMFClassifier
    >>> from superfactor.report import methods_paragraph
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = SMFClassifier(n_components=3).fit(X, y)
    >>> methods_paragraph(model, X, y, target="cultivar").split(". ")[0]
    'We predicted cultivar from 13 features in 178 samples (59 0, 71 1, 48 2)'
    """
    facts = gather(
        model,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        covariates=covariates,
        covariates_test=covariates_test,
        search=search,
        nested=nested,
        target="" if target is None else label(target),
    )
    return in_words(facts)
