"""Tools: what is computed and written to an AnnData."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from superfactor.anndata import cells, matrix, ranking, record
from superfactor.estimators import SMFClassifier
from superfactor.estimators.fitting import reads_passes
from superfactor.estimators.inputs import block_cuts
from superfactor.estimators.parameters import check_parameters, choose_solver
from superfactor.interpretation import factor_view
from superfactor.interpretation.tables import check_count


def smf(
    adata: Any,
    label: str,
    *,
    layer: str | None = None,
    covariates: str | Sequence[str] = (),
    n_components: int = 10,
    model: str = "filter",
    scale: bool = False,
    mask_var: Any = "auto",
    rotation: str | None = None,
    mod: str | None = None,
    key_added: str = "smf",
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Supervised factors of cells: an embedding, and a classifier of a label of ``adata.obs``.

    X is taken as it is, best log-normalised counts: sparse stays sparse, and what is on disk
    (``anndata.read_h5ad(path, backed="r")``) is read in blocks of cells, several times.

    Parameters
    ----------
    adata : AnnData or MuData
    label : column of ``adata.obs``
        Words, categories or whole numbers, two classes or more. Cells without one (NaN, or the value
        ``unlabeled=``) help to find the factors, and are predicted.
    layer : str, optional
        A layer of ``adata.layers`` in place of X.
    covariates : column or columns of ``adata.obs``, default=()
        They enter the classifier beside the factors: numbers as they are, words and categories as
        indicators.
    n_components : int, default=10
        Factors.
    model : {"filter", "feature"}, default="filter"
        "filter" predicts from projections of the cells, "feature" from codes that reconstruct them.
    scale : bool, default=False
        Divide every gene by its standard deviation, without centring, so that X stays sparse. On
        log-normalised counts this gives noise of rare genes as much weight as markers, and
        predicts worse (docs/scanpy.md); for measurements in different units it is right.
    mask_var : "auto", None, column of ``adata.var`` or boolean array of shape (genes,), default="auto"
        The genes to use. "auto" are those in ``adata.var["highly_variable"]`` where it is there, as in
        scanpy's PCA; None are all.
    rotation : None, "predictive", "variance" or "varimax", default=None
        Which of the equally good factors are written: see `superfactor.interpretation.factor_view`.
    mod : str, optional
        Which modality of a MuData; the label may be in the MuData's ``obs``.
    key_added : str, default="smf"
        The name of what is written, as below; without "/", which files cannot hold.
    copy : bool, default=False
        Leave `adata` as it is and return a copy with the results; needs X in memory.
    **parameters
        Those of `superfactor.SMFClassifier`: ``xi``, ``lam``, ``class_weight``, ``certify`` and so on.

    Returns
    -------
    copy : AnnData (MuData) or None
        None where `adata` itself was written to:

        ============================== ===============================================================
        ``.obsm["X_smf"]``             scores (cells, n_components) of the factors in the order, sign and
                                       rotation of all plots and reports: uncorrelated, of mean 0 and
                                       variance 1 over the fitted cells
        ``.varm["SMF"]``               correlations of the genes with the scores (genes, n_components):
                                       what goes with a factor. 0 where a gene was left out
        ``.varm["SMF_weights"]``       weights of the genes (genes, n_components): how scores are computed,
                                       X/scale @ SMF_weights and a constant
        ``.obs["smf_predicted"]``      the most probable class, and
        ``.obs["smf_probability"]``    its probability; for labelled cells it has seen their label
        ``.obsm["smf_probabilities"]`` of all classes (cells, classes), in the order of
                                       ``.uns["smf"]["classes"]``
        ``.uns["smf"]``                of every factor the coefficients (``effects``), the share of the
                                       variance (``variance_ratio``), what it does for the prediction
                                       (``contribution``, ``roles``); certificate, parameters,
                                       versions, and what `project` and plots need
        ============================== ===============================================================

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
    _check_parameters(parameters)
    cells.check_key(key_added)
    given, adata = cells.to_write_to(adata, mod, copy)
    column = cells.column(given, adata, label, "label")
    table = cells.covariate_table(given, adata, covariates)
    genes = cells.chosen_genes(adata, mask_var)
    estimator = SMFClassifier(n_components, model=model, **parameters)
    data, deviations = matrix.fitted_data(adata, layer, genes, scale, _reads_blocks(estimator))
    estimator.fit(data, cells.labels(column), covariates=table)
    estimator.set_feature_names([str(name) for name in adata.var_names[genes]])
    view = factor_view(estimator, rotation=rotation)
    found = record.write_model(estimator, view, adata.var_names[genes], deviations)
    found["categories"] = _categories(column, found["classes"])
    found["params"] = record.storable_parameters(
        {
            "label": label,
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
    _write_genes(adata, key_added.upper(), genes, view.correlations, dtype)
    _write_genes(adata, f"{key_added.upper()}_weights", genes, view.weights, dtype)
    codes, probabilities = estimator.transform(data), estimator.predict_proba(data, table)
    _write_cells(adata, key_added, found, codes, probabilities)
    _copy_colors(adata, label, column, key_added)
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
    """Scores and predictions of new cells by a model that `smf` has fitted to others.

    Parameters
    ----------
    adata : AnnData or MuData
        New cells, normalised as those of the reference were. Genes are found by their name; what the
        reference does not know is left out. Genes that are missing count as 0, with a warning; where more
        than half of them are missing, that is refused.
    reference : AnnData, MuData or dict
        What `smf` has written to, or its ``uns["smf"]``.
    layer : str, optional
        A layer of the new cells; by default the one the reference was fitted to. "X" is X.
    mod : str, optional
        Which modality of a MuData: of the new cells, of the reference, or of both.
    key : str, default="smf"
        What the reference calls its model: ``key_added`` of `smf`.
    key_added : str, optional
        The name of what is written; `key` by default.
    copy : bool, default=False
        Leave `adata` as it is and return a copy with the results; needs X in memory.

    Returns
    -------
    copy : AnnData (MuData) or None
        None where `adata` itself was written to: ``.obsm["X_smf"]``, ``.obs["smf_predicted"]``,
        ``.obs["smf_probability"]`` and ``.obsm["smf_probabilities"]`` as `smf` does.

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
    found = _model_of(reference, mod, key)
    key_added = key if key_added is None else key_added
    cells.check_key(key_added)
    # A modality of the reference alone is named where the new cells have none.
    only_there = hasattr(reference, "mod") and not hasattr(adata, "mod")
    given, adata = cells.to_write_to(adata, None if only_there else mod, copy)
    cells.chosen_genes(adata, None)  # whose names must differ
    estimator = record.read_model(found)
    if layer is None:
        layer = found["params"].get("layer")
    source = matrix.rows_of(matrix.stored_matrix(adata, None if layer == "X" else layer))
    table = cells.covariate_table(given, adata, [str(c) for c in found["model"]["covariates"]])
    aligned = matrix.alignment(adata.var_names, found["model"], estimator.components_.dtype)
    codes, probabilities = [], []
    for start, stop in pairwise(block_cuts(source)):
        block = source.read_finite(start, stop) @ aligned
        beside = None if table is None else table.iloc[start:stop]
        codes.append(estimator.transform(block))
        probabilities.append(estimator.predict_proba(block, beside))
    _write_cells(adata, key_added, found, np.vstack(codes), np.vstack(probabilities))
    return given if copy else None


def rank_genes_smf(
    adata: Any,
    *,
    groups: str | Sequence[str] = "all",
    n_genes: int | None = None,
    mod: str | None = None,
    key: str = "smf",
    key_added: str = "rank_genes_groups",
    copy: bool = False,
) -> Any:
    """Rank genes as markers of each class of a fit, where ``sc.pl.rank_genes_groups`` looks for them.

    First come genes that are higher in the class than in all other cells *and* carry its prediction: they go
    with the log-odds of the class, and more of them makes the class more likely. Their score is d·r, above 0:
    d the difference of the means in standard deviations, r the correlation with the log-odds. Genes that are
    higher but do not carry the prediction have the score 0, genes that are lower one below 0.

    Parameters
    ----------
    adata : AnnData or MuData
        What `smf` has written to. Cells without a label are left out; X on disk is taken into memory.
    groups : "all" or list of classes, default="all"
        Whose markers to rank; each is compared with all other cells.
    n_genes : int, optional
        How many to keep for each class. None keeps all genes of the fit.
    mod : str, optional
        Which modality of a MuData.
    key : str, default="smf"
        ``key_added`` of `smf`.
    key_added : str, default="rank_genes_groups"
        The name of what is written, scanpy's by default; another one is ``key=`` of its functions.
    copy : bool, default=False
        Leave `adata` as it is and return a copy with the results; needs X in memory.

    Returns
    -------
    copy : AnnData (MuData) or None
        None where `adata` itself was written to: ``.uns["rank_genes_groups"]`` in scanpy's form. ``names``,
        ``scores``, ``logfoldchanges``, ``pvals`` and ``pvals_adj`` are record arrays with a field for each
        class, the best genes first; ``params`` says how they came about. ``sc.pl.rank_genes_groups`` and its
        relatives draw it, and ``sc.get.rank_genes_groups_df`` makes a table of it.

    Notes
    -----
    ``pvals`` are of Mann and Whitney's test of the class against the rest, ``pvals_adj`` Benjamini and
    Hochberg's q. They are of each gene by itself, and do not depend on the fit. Where labels were made of the
    expression of the same genes, as by clustering, they are too small, here as in scanpy.
    ``logfoldchanges`` are right where X are logarithms of 1 + expression. All figures are made of those of
    `superfactor.interpretation.feature_effects`.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from sklearn.datasets import load_digits
    >>> import superfactor.anndata as sfa
    >>> images = load_digits()
    >>> adata = anndata.AnnData(np.log1p(images.data), obs={"digit": images.target.astype(str)})
    >>> adata.var_names = images.feature_names
    >>> sfa.tl.smf(adata, "digit", n_components=9)
    >>> sfa.tl.rank_genes_smf(adata, groups=["0", "1"])
    >>> [str(name) for name in adata.uns["rank_genes_groups"]["names"]["1"][:2]]
    ['pixel_2_3', 'pixel_5_4']
    """
    cells.check_key(key_added)
    found = _model_of(adata, mod, key, "adata")
    given, adata = cells.to_write_to(adata, mod, copy)
    known = [str(label) for label in found["categories"]]
    chosen = known if isinstance(groups, str) and groups == "all" else list(map(str, groups))
    strange = sorted(set(chosen) - set(known))
    if strange or not chosen or (isinstance(groups, str) and groups != "all"):
        raise ValueError(f"groups={groups!r}: 'all' or a list of some of {known} is required")
    if n_genes is not None:
        check_count("n_genes", n_genes)
    parameters, estimator = found["params"], record.read_model(found)
    label, layer = str(parameters["label"]), parameters.get("layer")
    source = matrix.rows_of(matrix.stored_matrix(adata, layer))
    aligned = matrix.alignment(adata.var_names, found["model"], source.stored_type)
    y = cells.labels(cells.column(given, adata, label, "label"))
    tables = ranking.statistics(estimator, matrix.in_memory(source) @ aligned, y, chosen)
    base = adata.uns.get("log1p", {}).get("base")
    adata.uns[key_added] = {
        "params": {
            "groupby": label,
            "reference": "rest",
            "method": "superfactor",
            "use_raw": False,
            "layer": layer,
            "corr_method": "benjamini-hochberg",
        },
        **ranking.as_records(tables, found["model"]["scales"], base, n_genes),
    }
    return given if copy else None


def _check_parameters(parameters: dict[str, Any]) -> None:
    link = parameters.get("link", "logistic")
    if not isinstance(link, str):
        raise TypeError(
            "link: 'logistic' or 'probit' is required; one of your own cannot be kept in an AnnData"
        )
    if "covariate_columns" in parameters:
        raise TypeError("covariate_columns: covariates=[…], columns of adata.obs, is required here")


def _reads_blocks(estimator: SMFClassifier) -> bool:
    """Whether the fit takes rows in blocks; others take X as a whole."""
    check_parameters(estimator)
    solver = choose_solver(estimator.solver, estimator.constraint)
    return reads_passes(solver, estimator.certify)


def _model_of(reference: Any, mod: str | None, key: str, said: str = "reference") -> Any:
    """The dictionary that `smf` wrote."""
    found = reference
    if not isinstance(reference, dict):
        found = cells.one_modality(reference, mod if hasattr(reference, "mod") else None).uns.get(key)
    if not isinstance(found, dict) or "model" not in found:
        raise ValueError(
            f"{said}: no model in its uns[{key!r}]; superfactor.anndata.tl.smf writes one, and key= says "
            "what it is called"
        )
    record.check_age(found, f"{said}: uns[{key!r}]")
    return found


def _categories(column: Any, classes: np.ndarray) -> np.ndarray:
    """The classes in the order of the label's categories, where it has one."""
    if not hasattr(column, "cat"):
        return classes
    known = [str(label) for label in column.cat.categories]
    place = {label: k for k, label in enumerate(known)}
    return classes[np.argsort([place[str(label)] for label in classes], kind="stable")]


def _write_genes(adata: Any, place: str, genes: Any, values: Any, dtype: Any) -> None:
    """Values (factors, genes) of the genes that were used; 0 for those left out."""
    every = np.zeros((adata.n_vars, len(values)), dtype=dtype)
    every[genes] = values.T
    adata.varm[place] = every


def _write_cells(adata: Any, key: str, found: Any, codes: Any, probabilities: Any) -> None:
    import pandas as pd

    classes = np.asarray(found["classes"])
    best = np.argmax(probabilities, axis=1)
    predicted = pd.Categorical(classes[best], categories=np.asarray(found["categories"]))
    kept = found["model"]
    scores = (codes - kept["center"]) @ kept["turn"]
    adata.obsm[f"X_{key}"] = np.asarray(scores, dtype=codes.dtype)
    adata.obsm[f"{key}_probabilities"] = probabilities
    adata.obs[f"{key}_predicted"] = predicted
    adata.obs[f"{key}_probability"] = probabilities[np.arange(len(best)), best]


def _copy_colors(adata: Any, label: str, column: Any, key: str) -> None:
    """Predictions in the colours of the label, where scanpy has chosen some."""
    colors = adata.uns.get(f"{label}_colors")
    if colors is None or not hasattr(column, "cat") or len(colors) != len(column.cat.categories):
        return
    color = dict(zip(map(str, column.cat.categories), colors, strict=True))
    categories = adata.obs[f"{key}_predicted"].cat.categories
    adata.uns[f"{key}_predicted_colors"] = [color[str(name)] for name in categories]
