"""Write results for cells and genes, by the kind of outcome, in the places that scanpy uses."""

from __future__ import annotations

from typing import Any

import numpy as np


def write_genes(adata: Any, place: str, genes: Any, values: Any, dtype: Any) -> None:
    """Write values (factors, genes) of the used genes; 0 for the others."""
    every = np.zeros((adata.n_vars, len(values)), dtype=dtype)
    every[genes] = values.T
    adata.varm[place] = every


def write_cells(adata: Any, key: str, found: Any, codes: Any, rows: Any) -> None:
    """Write scores and predictions of the cells, from codes (n, r) and rows (n, k) of the model `found`."""
    kept = found["model"]
    scores = (codes - kept["center"]) @ kept["turn"]
    adata.obsm[f"X_{key}"] = np.asarray(scores, dtype=codes.dtype)
    _WRITERS[str(found.get("kind", "classes"))](adata, key, found, rows)


def _write_classes(adata: Any, key: str, found: Any, probabilities: Any) -> None:
    import pandas as pd

    classes = np.asarray(found["classes"])
    best = np.argmax(probabilities, axis=1)
    adata.obsm[f"{key}_probabilities"] = probabilities
    adata.obs[f"{key}_predicted"] = pd.Categorical(classes[best], categories=np.asarray(found["categories"]))
    adata.obs[f"{key}_probability"] = probabilities[np.arange(len(best)), best]


def _write_flags(adata: Any, key: str, found: Any, probabilities: Any) -> None:
    adata.obsm[f"{key}_probabilities"] = probabilities
    for name, column in zip(found["targets"], probabilities.T, strict=True):
        adata.obs[f"{key}_probability_{name}"] = column


def _write_numbers(adata: Any, key: str, found: Any, values: Any) -> None:
    names = [str(name) for name in found["targets"]]
    if len(names) == 1:
        adata.obs[f"{key}_predicted"] = values[:, 0]
        return
    adata.obsm[f"{key}_predictions"] = values
    for name, column in zip(names, values.T, strict=True):
        adata.obs[f"{key}_predicted_{name}"] = column


def _write_times(adata: Any, key: str, found: Any, risk: Any) -> None:
    adata.obs[f"{key}_risk"] = risk[:, 0]


_WRITERS = {
    "classes": _write_classes,
    "flags": _write_flags,
    "numbers": _write_numbers,
    "counts": _write_numbers,
    "times": _write_times,
}
# Kinds whose prediction is one of several categories.
_CATEGORICAL = ("classes",)


def about_classes(found: dict[str, Any], column: Any) -> dict[str, Any]:
    """Return the classes in the order of the label's categories, if it has any; {} for other outcomes."""
    if found["kind"] not in _CATEGORICAL:
        return {}
    classes = np.asarray(found["classes"])
    if hasattr(column, "cat"):
        place = {str(label): k for k, label in enumerate(column.cat.categories)}
        classes = classes[np.argsort([place[str(label)] for label in classes], kind="stable")]
    return {"categories": classes}


def copy_colors(adata: Any, column: Any, key: str) -> None:
    """Give predicted classes the colours of the label, if scanpy has set them."""
    colors, predicted = adata.uns.get(f"{column.name}_colors"), adata.obs.get(f"{key}_predicted")
    if colors is None or not all(hasattr(c, "cat") for c in (column, predicted)):
        return
    if len(colors) != len(column.cat.categories):
        return
    color = dict(zip(map(str, column.cat.categories), colors, strict=True))
    adata.uns[f"{key}_predicted_colors"] = [color[str(name)] for name in predicted.cat.categories]
