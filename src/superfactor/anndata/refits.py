"""What takes further fits: the page about a model, and which of its genes come back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from superfactor import interpretation
from superfactor.anndata.fitting import model_of, refitted
from superfactor.anndata.reading import cells
from superfactor.report import write_report


def report(
    adata: Any,
    path: str | os.PathLike[str],
    *,
    groups: str | None = None,
    mod: str | None = None,
    key: str = "smf",
    **parameters: Any,
) -> Path:
    """Write the page about a model: one HTML file with its factors, genes and how well it predicts.

    The model of `smf` is fitted again, with the ξ and λ that it had, and five times more to parts of the
    cells: the page shows where cells lie on factors that were found without them. X is taken into memory.
    It is that of `superfactor.report.write_report`, with the names of genes and cells, the outcome and the
    covariates of the fit.

    Parameters
    ----------
    adata : AnnData or MuData
        What `smf` has written to.
    path : path of the HTML file
    groups : column of ``adata.obs``, optional
        Cells of one group (a donor, a batch) are held out together.
    mod : str, optional
        Which modality of a MuData.
    key : str, default="smf"
        ``key_added`` of `smf`.
    **parameters
        Others of `superfactor.report.write_report`: ``title``, ``markers``, ``nested``, ``held_out=False``
        and so on.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> import anndata, numpy as np, pathlib, tempfile
    >>> from sklearn.datasets import load_wine
    >>> import superfactor.anndata as sfa
    >>> wine = load_wine()
    >>> adata = anndata.AnnData(np.log1p(wine.data), obs={"kind": wine.target.astype(str)})
    >>> adata.var_names = wine.feature_names
    >>> sfa.tl.smf(adata, "kind", n_components=2)
    >>> sfa.tl.report(adata, pathlib.Path(tempfile.mkdtemp(), "wine.html")).name
    'wine.html'
    """
    path = Path(path)
    if not path.parent.is_dir():  # said before the fit
        raise FileNotFoundError(f"path={str(path)!r}: the folder {str(path.parent)!r} does not exist")
    found = model_of(adata, mod, key, "adata")
    given, adata = adata, cells.one_modality(adata, mod)
    estimator, X, outcome, table = refitted(given, adata, found)
    rotation = found["params"].get("rotation")
    said: dict[str, Any] = {
        "target": ", ".join(outcome.columns),
        "ids": [str(name) for name in adata.obs_names],
        "groups": _groups(given, adata, groups),
        "rotation": None if rotation is None else str(rotation),
    }
    return write_report(path, estimator, X, outcome.y, covariates=table, **said | parameters)


def stable_features(
    adata: Any,
    *,
    groups: str | None = None,
    mod: str | None = None,
    key: str = "smf",
    key_added: str | None = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Genes that come back in fits to disjoint halves of the cells, few of them by chance.

    See `superfactor.interpretation.stable_features`. X is taken into memory, and the model fitted three times
    for each of 50 pairs of halves; ``n_pairs=`` says how many.

    Parameters
    ----------
    adata : AnnData or MuData
        What `smf` has written to.
    groups : column of ``adata.obs``, optional
        Cells of one group (a donor, a batch) are in the same half.
    mod : str, optional
        Which modality of a MuData.
    key : str, default="smf"
        ``key_added`` of `smf`.
    key_added : str, optional
        The name of what is written; `key` by default.
    copy : bool, default=False
        Leave `adata` as it is and return a copy with the results; needs X in memory.
    **parameters
        Others of `superfactor.interpretation.stable_features`: ``expected_false``, ``n_pairs``,
        ``threshold``, ``n_jobs`` and so on.

    Returns
    -------
    copy : AnnData (MuData) or None
        None where `adata` itself was written to:

        ========================== ===================================================================
        ``.var["smf_share"]``      of the halves, how many had the gene among their top genes; NaN for a
                                   gene that was left out
        ``.var["smf_stable"]``     whether it is selected
        ``.uns["smf_stable"]``     ``statement``, ``selected`` genes, the most stable first, ``n_top``,
                                   ``n_pairs``, ``threshold``, ``expected_false``; and ``table``, all of it
                                   gene by gene
        ========================== ===================================================================

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from sklearn.datasets import load_wine
    >>> import superfactor.anndata as sfa
    >>> wine = load_wine()
    >>> adata = anndata.AnnData(np.log1p(wine.data), obs={"kind": wine.target.astype(str)})
    >>> adata.var_names = wine.feature_names
    >>> sfa.tl.smf(adata, "kind", n_components=3, scale=True)
    >>> sfa.tl.stable_features(adata, n_pairs=10)
    >>> int(adata.var["smf_stable"].sum()) == len(adata.uns["smf_stable"]["selected"])
    True
    """
    key_added = key if key_added is None else key_added
    cells.check_key(key_added)
    found = model_of(adata, mod, key, "adata")
    given, adata = cells.to_write_to(adata, mod, copy)
    estimator, X, outcome, table = refitted(given, adata, found)
    stable = interpretation.stable_features(
        estimator, X, outcome.y, covariates=table, groups=_groups(given, adata, groups), **parameters
    )
    by_gene = stable.table.set_index("feature").reindex(adata.var_names.astype(str))
    adata.var[f"{key_added}_share"] = by_gene["share"].to_numpy(dtype=float)
    adata.var[f"{key_added}_stable"] = (by_gene["selected"] == True).to_numpy(dtype=bool)  # noqa: E712
    kept = ("statement", "n_top", "n_pairs", "threshold", "expected_false")
    adata.uns[f"{key_added}_stable"] = {
        **{name: getattr(stable, name) for name in kept},
        "selected": np.asarray(stable.selected, dtype=object),
        "table": stable.table.set_index("feature"),
    }
    return given if copy else None


def _groups(given: Any, adata: Any, name: str | None) -> Any:
    """A column of groups as words (n,), or None."""
    if name is None:
        return None
    column = cells.column(given, adata, name, "groups")
    if column.isna().any():
        raise ValueError(f"groups={name!r}: a group of every cell is required, but some have none")
    return column.astype(str).to_numpy(dtype=object)
