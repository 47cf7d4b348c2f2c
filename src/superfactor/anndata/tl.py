"""Tools that compute results and write them to an AnnData."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from superfactor.anndata import record
from superfactor.anndata.fitting import check_given, estimator_for, fitted, model_of, reads_blocks
from superfactor.anndata.ranking import rank_genes_smf
from superfactor.anndata.reading import cells, matrix
from superfactor.anndata.reading.outcome import OutcomeRequest, read
from superfactor.anndata.refits import report, stable_features
from superfactor.anndata.writing import about_classes, copy_colors, write_cells, write_genes
from superfactor.estimators.inputs import block_cuts
from superfactor.interpretation import factor_view
from superfactor.outcomes import outcome_named

__all__ = ["project", "rank_genes_smf", "report", "smf", "stable_features"]


def smf(
    adata: Any,
    label: str | Sequence[str] | None = None,
    *,
    time: str | None = None,
    event: str | None = None,
    event_word: str | None = None,
    task: str | None = None,
    layer: str | None = None,
    covariates: str | Sequence[str] = (),
    n_components: int | str | Sequence[int] = 10,
    model: str = "filter",
    scale: bool = False,
    mask_var: Any = "auto",
    rotation: str | None = None,
    mod: str | None = None,
    key_added: str = "smf",
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Compute supervised factors of cells, and predict an outcome in ``adata.obs``.

    X should be log-normalised counts; it is not changed. Sparse X stays sparse. X on disk
    (``anndata.read_h5ad(path, backed="r")``) is read in blocks of cells, several times.

    Parameters
    ----------
    adata : AnnData or MuData
    label : column or columns of ``adata.obs``
        The outcome to predict. Text, categories and booleans are classes, two or more. Whole numbers with few
        different values are classes too, with a warning. Other numbers are numbers. Several columns are
        predicted together: all 0/1 or yes/no, or all numbers. Cells without a value (NaN, or the value of
        ``unlabeled=``) contribute to the factors, and their outcome is predicted.
    time, event : columns of ``adata.obs``, optional
        Survival times instead of `label`: the time of observation of each sample, and whether it ended with
        an event (0/1, True/False, R's 1/2, or text with `event_word`).
    event_word : str, optional
        The value of `event` that means an event; all other values mean none.
    task : {"classes", "regression", "counts", "labels"}, optional
        The kind of `label`. None infers it, except for counts: "counts" fits `superfactor.SMFRegressor` with
        ``loss="poisson"``. "labels" are several yes/no columns.
    layer : str, optional
        A layer of ``adata.layers`` to use instead of X.
    covariates : column or columns of ``adata.obs``, default=()
        They enter the prediction in addition to the factors: numbers unchanged, text and categories as
        indicators.
    n_components : int, "auto" or list of int, default=10
        Number of factors. "auto" chooses it by cross-validation, and ξ and λ too unless they are given
        (`superfactor.SMFClassifierCV` and similar searches, on unchanged X in memory). From a list, one
        number is chosen.
    model : {"filter", "feature"}, default="filter"
        "filter" predicts from projections of the cells, "feature" from codes that reconstruct them.
    scale : bool, default=False
        Divide every gene by its standard deviation, without centring, so that X stays sparse. On
        log-normalised counts, noise of rare genes then has as much weight as markers, and predictions are
        worse (docs/scanpy.md). Use it for measurements in different units.
    mask_var : "auto", None, column of ``adata.var`` or boolean array of shape (genes,), default="auto"
        The genes to use. "auto" selects ``adata.var["highly_variable"]`` if it exists, as scanpy's PCA does;
        None selects all.
    rotation : None, "predictive", "variance" or "varimax", default=None
        Which of the equally good factors are written: see `superfactor.interpretation.factor_view`.
    mod : str, optional
        Which modality of a MuData; the outcome may be in the MuData's ``obs``.
    key_added : str, default="smf"
        Name of the results, as below; "/" is not allowed.
    copy : bool, default=False
        Leave `adata` unchanged and return a copy with the results; requires X in memory.
    **parameters
        Parameters of `superfactor.SMFClassifier`, `superfactor.SMFRegressor` or `superfactor.SMFSurvival`:
        ``xi``, ``lam``, ``class_weight``, ``certify`` and so on; and those of the search, such as ``cv``.

    Returns
    -------
    copy : AnnData (MuData) or None
        None if `adata` itself was changed:

        ============================== ===============================================================
        ``.obsm["X_smf"]``             scores (cells, n_components) of the factors in the order, sign and
                                       rotation of all plots and reports: uncorrelated, of mean 0 and
                                       variance 1 over the fitted cells
        ``.varm["SMF"]``               correlations of the genes with the scores (genes, n_components);
                                       0 for genes that were not used
        ``.varm["SMF_weights"]``       weights of the genes (genes, n_components): scores are
                                       X/scale @ SMF_weights plus a constant
        ``.uns["smf"]``                for every factor: coefficients (``effects``), share of the
                                       variance (``variance_ratio``), role in the prediction
                                       (``contribution``, ``roles``); also certificate, parameters,
                                       ``kind`` of outcome, ``search`` if there was one, versions, and
                                       data for `project` and plots
        ============================== ===============================================================

        Predictions depend on the kind of outcome. For cells with a label they are no test, since the fit has
        used the label.

        ================ =============================================================================
        classes          ``.obs["smf_predicted"]``, the most probable class, ``.obs["smf_probability"]``,
                         its probability, and ``.obsm["smf_probabilities"]`` (cells, classes), in the order
                         of ``.uns["smf"]["classes"]``
        numbers, counts  ``.obs["smf_predicted"]``, the value or the expected count; for several columns
                         ``.obs["smf_predicted_<column>"]`` and ``.obsm["smf_predictions"]``
        several yes/no   ``.obs["smf_probability_<column>"]`` and ``.obsm["smf_probabilities"]``
        survival         ``.obs["smf_risk"]``, the log hazard ratio against the average
        ================ =============================================================================

    Warns
    -----
    UserWarning
        If X looks like counts, like expression without its logarithm, or scaled.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from sklearn.datasets import load_digits
    >>> import superfactor.anndata as sfa
    >>> images = load_digits()
    >>> adata = anndata.AnnData(np.log1p(images.data), obs={"digit": images.target.astype(str)})
    >>> sfa.tl.smf(adata, "digit", n_components=9)
    >>> adata.obsm["X_smf"].shape, adata.varm["SMF"].shape, adata.varm["SMF_weights"].shape
    ((1797, 9), (64, 9), (64, 9))
    >>> bool((adata.obs["smf_predicted"] == adata.obs["digit"]).mean() > 0.9)
    True
    """
    check_given(parameters)
    cells.check_key(key_added)
    asked = OutcomeRequest(label, time, event, event_word, task, parameters.get("unlabeled"))
    asked.check()
    given, adata = cells.to_write_to(adata, mod, copy)
    outcome = read(given, adata, asked)
    table = cells.covariate_table(given, adata, covariates)
    genes = cells.chosen_genes(adata, mask_var)
    estimator = estimator_for(outcome, n_components, model=model, **parameters)
    data, deviations = matrix.fitted_data(adata, layer, genes, scale, reads_blocks(estimator))
    estimator, search = fitted(estimator, data, outcome.y, table, adata.var_names[genes])
    view = factor_view(estimator, rotation=rotation)
    found = record.write_model(estimator, view, adata.var_names[genes], deviations)
    found["kind"], found["targets"] = outcome.kind, np.asarray(outcome.columns, dtype=object)
    found |= about_classes(found, outcome.first)
    if search is not None:
        found["search"] = search
    found["params"] = record.storable_parameters(
        {
            **asked.stored(),
            "layer": layer,
            "covariates": found["model"]["covariates"],
            "n_components": n_components,
            "model": model,
            "scale": scale,
            "mask_var": mask_var if isinstance(mask_var, str | None) else "given",
            "rotation": rotation,
            **parameters,
        }
    )
    adata.uns[key_added] = found
    dtype = estimator.components_.dtype
    write_genes(adata, key_added.upper(), genes, view.correlations, dtype)
    write_genes(adata, f"{key_added.upper()}_weights", genes, view.weights, dtype)
    write_cells(adata, key_added, found, estimator.transform(data), _rows(found, estimator, data, table))
    copy_colors(adata, outcome.first, key_added)
    return given if copy else None


def project(
    adata: Any,
    reference: Any,
    *,
    layer: str | None = None,
    mod: str | None = None,
    key: str = "smf",
    key_added: str | None = None,
    copy: bool = False,
) -> Any:
    """Compute scores and predictions of new cells with a model that `smf` has fitted.

    Parameters
    ----------
    adata : AnnData or MuData
        New cells, normalised like those of the reference. Genes are matched by name; genes that the model
        does not use are ignored. Missing genes count as 0, with a warning; if more than half are missing, a
        ValueError is raised.
    reference : AnnData, MuData or dict
        Results of `smf`, or its ``uns["smf"]``.
    layer : str, optional
        A layer of the new cells; by default the one the reference was fitted to. "X" is X.
    mod : str, optional
        Which modality of a MuData: of the new cells, of the reference, or of both.
    key : str, default="smf"
        Name of the model in the reference: ``key_added`` of `smf`.
    key_added : str, optional
        Name of the results; `key` by default.
    copy : bool, default=False
        Leave `adata` unchanged and return a copy with the results; requires X in memory.

    Returns
    -------
    copy : AnnData (MuData) or None
        None if `adata` itself was changed: ``.obsm["X_smf"]`` and predictions are written as by `smf`.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from sklearn.datasets import load_digits
    >>> import superfactor.anndata as sfa
    >>> images = load_digits()
    >>> adata = anndata.AnnData(np.log1p(images.data), obs={"digit": images.target.astype(str)})
    >>> known, new = adata[:1000].copy(), adata[1000:].copy()
    >>> sfa.tl.smf(known, "digit", n_components=9)
    >>> sfa.tl.project(new, known)
    >>> bool((new.obs["smf_predicted"] == new.obs["digit"]).mean() > 0.8)
    True
    """
    found = model_of(reference, mod, key)
    key_added = key if key_added is None else key_added
    cells.check_key(key_added)
    # If only the reference has modalities, `mod` names one of these.
    only_there = hasattr(reference, "mod") and not hasattr(adata, "mod")
    given, adata = cells.to_write_to(adata, None if only_there else mod, copy)
    cells.chosen_genes(adata, None)  # checks that names are unique
    estimator = record.read_model(found)
    if layer is None:
        layer = found["params"].get("layer")
    source = matrix.rows_of(matrix.stored_matrix(adata, None if layer == "X" else layer))
    table = cells.covariate_table(given, adata, [str(c) for c in found["model"]["covariates"]])
    aligned = matrix.alignment(adata.var_names, found["model"], estimator.components_.dtype)
    codes, rows = [], []
    for start, stop in pairwise(block_cuts(source)):
        block = source.read_finite(start, stop) @ aligned
        beside = None if table is None else table.iloc[start:stop]
        codes.append(estimator.transform(block))
        rows.append(_rows(found, estimator, block, beside))
    write_cells(adata, key_added, found, np.vstack(codes), np.vstack(rows))
    return given if copy else None


def _rows(found: dict[str, Any], estimator: Any, X: Any, table: Any) -> Any:
    """Return predictions for X (n, k): probabilities, values, expected counts or risks."""
    names = found.get("classes", found.get("targets"))
    beside = {} if table is None else {"covariates": table}
    return outcome_named(str(found.get("kind", "classes"))).rows(estimator, X, names, **beside)
