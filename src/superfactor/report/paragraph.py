"""`methods_paragraph`: what to write in the paper, without the page around it."""

from __future__ import annotations

from typing import Any

from superfactor.report.facts import gather
from superfactor.report.sections.reuse import study_of
from superfactor.report.words.formats import label
from superfactor.report.words.methods import in_words
from superfactor.selection import SMFClassifierCV


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
    """Describe a fitted classifier in a paragraph for the methods section of a paper.

    It says what was predicted from what, how the model was chosen, how well it predicts and whether it is
    proven optimal: only what the arguments show. The page of `write_report` has the same paragraph.

    Parameters
    ----------
    model : SMFClassifier, a Pipeline that ends in one, or SMFClassifierCV
        Fitted.
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        The training samples, in the form ``model.fit`` took.
    y : array-like of shape (n_samples,)
        Their labels.
    X_test, y_test : samples the model has not seen and their labels, optional
        Their figures are told too.
    covariates, covariates_test : array-like of shape (n_samples, n_covariates), optional
        As given to ``model.fit``.
    search : SMFClassifierCV, optional
        The fitted search that chose the model; `model` itself where it is one.
    nested : NestedScores, optional
        From ``nested_scores(search, X, y)`` of `superfactor.selection`, of the same search (or `model`),
        X, y and covariates.
    target : str, optional
        What the labels are called.

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
    if search is None and isinstance(model, SMFClassifierCV):
        search = model
    facts = gather(
        model,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        covariates=covariates,
        covariates_test=covariates_test,
        ids=None,
        search=search,
        nested=nested,
        target="" if target is None else label(target),
    )
    return in_words(study_of(facts))
