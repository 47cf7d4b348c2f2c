"""Metadata of a model file, as plain values and NumPy arrays."""

from __future__ import annotations

import hashlib
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from superfactor.cli.commands.learning import Learned
from superfactor.cli.output.summary import performance_facts
from superfactor.cli.training_samples import fingerprints
from superfactor.outcomes.descriptions import description_of
from superfactor.report.facts import Searched
from superfactor.saving import versions
from superfactor.selection import Scree, Verdict

_PARAMETERS = ("n_components", "model", "xi", "lam")
_SCORES = ("mean_test_score", "std_test_score", "rank_test_score")


def metadata(learned: Learned, command: str) -> dict[str, Any]:
    """Return all that later commands need: roles of columns, settings, scores, training samples."""
    samples, settings = learned.samples, learned.settings
    preprocess = "standardize" if settings.standardize else "center"
    return {
        "versions": versions(),
        "command": command,
        **samples.record,
        "columns": np.array(samples.column_names),
        "params": {
            **learned.search.best_params_,
            "preprocess": preprocess,
            "log2": samples.wishes.log2,
            "class_weight": getattr(learned.search, "class_weight", None),
        },
        "scores": learned.scores,
        **performance_facts(learned),
        "nested": _nested(learned.nested),
        "groups": _groups(learned),
        "seed": settings.seed,
        "search": _search(learned.search),
        "training_ids": unique_names(samples.ids)[learned.train],
        "training_rows": fingerprints(samples.design[learned.known]),
        "unlabeled_ids": unique_names(samples.ids)[learned.unlabeled],
        "unlabeled_rows": fingerprints(samples.design[learned.unlabeled]),
        "held_out_ids": unique_names(samples.ids)[learned.held_out],
        "training_checksum": checksum(samples.design[learned.train], samples.y[learned.train]),
    }


def _groups(learned: Learned) -> Any:
    """Return the group number (n,) of each training sample; None without groups."""
    if learned.samples.groups is None:
        return None
    return np.unique(learned.samples.groups[learned.train], return_inverse=True)[1]


def verdict_of(about: dict[str, Any]) -> Verdict | None:
    """Return the Verdict in the metadata of a model, or None."""
    return None if about["verdict"] is None else Verdict.of_dict(about["verdict"])


def checksum(X: Any, y: Any) -> str:
    """Return a hash of values (n, p) and y (n, …) that identifies the training samples."""
    if issparse(X):
        digest = hashlib.sha256(fingerprints(X).tobytes())
    else:
        # Single precision: the last digits of a logarithm may differ between versions of NumPy.
        digest = hashlib.sha256(X.astype(np.float32).tobytes())
    digest.update("\n".join(str(label) for label in y.tolist()).encode())
    return digest.hexdigest()


def unique_names(ids: Any) -> Any:
    """Return unique names (n,) of samples: `ids`, or row numbers if `ids` contain duplicates."""
    unique = len(set(ids.tolist())) == len(ids)
    return ids if unique else np.array([str(row) for row in range(1, len(ids) + 1)])


def _nested(nested: Any) -> dict[str, Any] | None:
    """Return the nested scores as plain values; predictions (n, c) are in the order of `training_ids`."""
    if nested is None:
        return None
    return {
        **nested.as_dict(),
        "classes": nested.classes.tolist(),
        "counts": nested.counts.tolist(),
        # Single precision halves the size and has more digits than any figure shows.
        "predictions": nested.predictions.astype(np.float32),
    }


def _search(search: Any) -> dict[str, Any]:
    results, scree = search.cv_results_, search.scree_
    return {
        **{name: np.array([point[name] for point in results["params"]]) for name in _PARAMETERS},
        **{name: results[name] for name in _SCORES},
        "scoring": search.scoring,
        "n_splits": search.n_splits_,
        "best_index": search.best_index_,
        "singular_values": scree.singular_values,
        "share": scree.share,
        "total": scree.total,
        "elbow": scree.elbow,
    }


def recorded_scores(record: dict[str, Any] | None) -> Any:
    """Return the nested scores of a model file; files of earlier versions have no predictions."""
    if record is None:
        return None
    verdict = Verdict.of_dict(record["verdict"])
    predictions = record.get("predictions")
    if predictions is not None:
        predictions = predictions.astype(float)
        predictions = description_of(record["outcome"]).restored(predictions)
    # The file does not store the procedure: the scores are always those of its own model.
    new = {"verdict": verdict, "predictions": predictions, "procedure": None}
    new["baselines"] = record.get("baselines", record.get("rivals"))  # their name until 1.1
    return SimpleNamespace(**record | new)


def recorded_search(record: dict[str, Any]) -> Any:
    """Return the search of a model file as a `Searched`."""
    columns = (record[name].tolist() for name in _PARAMETERS)
    scree = (record[name] for name in ("singular_values", "share", "total", "elbow"))
    return Searched(
        [dict(zip(_PARAMETERS, point, strict=True)) for point in zip(*columns, strict=True)],
        mean=record["mean_test_score"],
        spread=record["std_test_score"],
        place=record["rank_test_score"],
        chosen=record["best_index"],
        n_splits=record["n_splits"],
        scoring=record["scoring"],
        scree=Scree(*scree),
    )
