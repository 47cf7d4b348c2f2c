"""Fits: the estimator or search for a kind of outcome, the record of a search, and repeated fits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from superfactor.anndata import record
from superfactor.anndata.reading import cells, matrix
from superfactor.anndata.reading.outcome import CellOutcome, OutcomeRequest, read
from superfactor.estimators import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.estimators.fitting import reads_passes
from superfactor.estimators.parameters import check_parameters, choose_solver
from superfactor.estimators.targets.spelling import LabelWarning
from superfactor.interpretation.models import fitted_model
from superfactor.selection import SMFClassifierCV, SMFRegressorCV, SMFSurvivalCV

# By kind of outcome: the estimator for a given rank, and the search that chooses the rank.
_ESTIMATORS: dict[str, Callable[..., Any]] = {
    "classes": SMFClassifier,
    "flags": SMFClassifier,
    "numbers": SMFRegressor,
    "counts": partial(SMFRegressor, loss="poisson"),
    "times": SMFSurvival,
}
_SEARCHES: dict[str, Callable[..., Any]] = {
    "classes": SMFClassifierCV,
    "flags": SMFClassifierCV,
    "numbers": SMFRegressorCV,
    "counts": partial(SMFRegressorCV, loss="poisson"),
    "times": SMFSurvivalCV,
}


def check_given(parameters: dict[str, Any]) -> None:
    """Raise a TypeError for parameters that cannot be stored, or have another name here."""
    if not isinstance(parameters.get("link", "logistic"), str):
        raise TypeError(
            "link: 'logistic' or 'probit' is required; a custom link cannot be stored in an AnnData"
        )
    if "covariate_columns" in parameters:
        raise TypeError("covariate_columns: covariates=[…], columns of adata.obs, is required here")


def is_searched(n_components: Any) -> bool:
    """Return whether the rank is chosen by a search: "auto", or several ranks."""
    return not np.isscalar(n_components) or isinstance(n_components, str)


def estimator_for(outcome: CellOutcome, n_components: Any, **parameters: Any) -> Any:
    """Return the estimator of a kind, or the search for one; a TypeError names unknown parameters."""
    makers = _SEARCHES if is_searched(n_components) else _ESTIMATORS
    maker = makers[outcome.kind]
    made: type[Any] = maker.func if isinstance(maker, partial) else maker  # type: ignore[assignment]
    known = made._get_param_names()
    strange = [name for name in parameters if name not in known]
    if strange:
        raise TypeError(
            f"{strange[0]}: no parameter of superfactor.anndata.tl.smf or of {made.__name__}, which fits "
            f"{' and '.join(map(repr, outcome.columns))}; its parameters are {', '.join(sorted(known))}"
        )
    if makers is _SEARCHES:
        parameters = {"preprocess": None, "impute": None, **parameters}  # X is used unchanged
    return maker(n_components, **parameters)


def reads_blocks(estimator: Any) -> bool:
    """Return whether the fit reads rows in blocks; searches and other fits need X in memory."""
    if not hasattr(estimator, "solver"):
        return False
    check_parameters(estimator)
    solver = choose_solver(estimator.solver, estimator.constraint)
    return reads_passes(solver, estimator.certify)


def fitted(estimator: Any, X: Any, y: Any, table: Any, names: Any) -> tuple[Any, dict[str, Any] | None]:
    """Return the fitted estimator with gene names, and the record of the search, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelWarning)  # reported with arguments when obs was read
        estimator.fit(X, y, covariates=table)
    chosen = fitted_model(estimator).estimator
    chosen.set_feature_names([str(name) for name in names])
    return chosen, None if chosen is estimator else _choice(estimator)


def _choice(search: Any) -> dict[str, Any]:
    """Return the choice and the score of every candidate, in types that a file can store."""
    results = search.cv_results_
    candidates = {
        name: np.asarray(results[f"param_{name}"]).astype(float) for name in ("n_components", "xi", "lam")
    }
    return {
        "best": dict(search.best_params_),
        "best_score": float(search.best_score_),
        "candidates": {
            **candidates,
            "model": np.asarray([str(name) for name in results["param_model"]], dtype=object),
            "mean_test_score": np.asarray(results["mean_test_score"], dtype=float),
            "std_test_score": np.asarray(results["std_test_score"], dtype=float),
        },
    }


def model_of(reference: Any, mod: str | None, key: str, said: str = "reference") -> Any:
    """Return the dictionary that `smf` wrote."""
    found = reference
    if not isinstance(reference, dict):
        found = cells.one_modality(reference, mod if hasattr(reference, "mod") else None).uns.get(key)
    if not isinstance(found, dict) or "model" not in found:
        raise ValueError(
            f"{said}: no model in its uns[{key!r}]; superfactor.anndata.tl.smf writes one, and key= is its "
            "name"
        )
    record.check_record(found, f"{said}: uns[{key!r}]")
    return found


def request_of(found: dict[str, Any]) -> OutcomeRequest:
    """Return the outcome that was requested from a fit."""
    given, label = record.given_parameters(found), found["params"].get("label")
    several = label is not None and not isinstance(label, str)
    return OutcomeRequest(
        [str(name) for name in label] if several else label,
        unlabeled=given.get("unlabeled"),
        **{name: found["params"].get(name) for name in ("time", "event", "event_word", "task")},
    )


def known_data(given: Any, adata: Any, found: dict[str, Any]) -> tuple[Any, CellOutcome]:
    """Return X (n, genes of the model) in memory, scaled as at the fit, and the outcome of the cells."""
    source = matrix.rows_of(matrix.stored_matrix(adata, found["params"].get("layer")))
    aligned = matrix.alignment(adata.var_names, found["model"], source.stored_type)
    outcome = read(given, adata, request_of(found), str(found.get("kind", "classes")))
    return matrix.in_memory(source) @ aligned, outcome


def refitted(given: Any, adata: Any, found: dict[str, Any]) -> tuple[Any, Any, CellOutcome, Any]:
    """Fit a stored model again; return it with X, outcome and covariates, for pages and resamples."""
    X, outcome = known_data(given, adata, found)
    names = [str(name) for name in found["model"]["covariates"]]
    table = cells.covariate_table(given, adata, names)
    weights = {name: float(found[name]) for name in ("xi", "lam")}
    parameters = record.given_parameters(found)
    kept = {
        name: value
        for name, value in parameters.items()
        if name in SMFClassifier._get_param_names() and name != "n_components"
    }
    estimator = estimator_for(outcome, len(found["model"]["turn"]), **kept | weights)
    return fitted(estimator, X, outcome.y, table, found["model"]["genes"])[0], X, outcome, table
