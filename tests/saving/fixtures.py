"""Models of version 1.1 that every later version loads, and what they predict.

``python -m tests.saving.fixtures``, run with version 1.1, wrote the folder ``models_1_1``. Nothing else
writes it. Each model has a file; ``expected.npz`` has the samples and the answers.
"""

import gzip
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import superfactor
from superfactor import saving
from superfactor.constraints import Box, FrobeniusBall, NonNegative, Product, WholeSpace
from superfactor.preprocessing import Adjuster, BlockScaler, LowRankImputer
from superfactor.tables import read_study

FOLDER = Path(__file__).parent / "models_1_1"
METHODS = ("predict", "predict_proba", "decision_function", "transform", "predict_survival_function")
QUICK = ("--rank", "2", "--xi", "0.1", "--lam", "1", "--repeats", "0", "--no-stable", "--quiet")
BLOCKS = ("--block", f"rna={FOLDER / 'rna.csv'}", "--block", f"protein={FOLDER / 'protein.csv'}")
PATIENTS = ("--phenotype", str(FOLDER / "patients.csv"), "--id", "patient")
RNA = (str(FOLDER / "rna.csv"), *PATIENTS)
#: Arguments of ``superfactor fit``, by model.
COMMANDS = {
    "fit-classes": (*RNA, "--target", "kind", "--covariates", "sex,age"),
    "fit-adjusted": (*RNA, "--target", "status", "--adjust", "batch", "--no-standardize"),
    "fit-feature": (*RNA, "--target", "status", "--balance", "--model", "feature", "--log2"),
    "fit-blocks": (*BLOCKS, *PATIENTS, "--target", "status", "--covariates", "sex"),
    "fit-numbers": (*RNA, "--target", "age", "--task", "regression"),
    "fit-counts": (*RNA, "--target", "visits", "--exposure", "hours", "--task", "counts"),
    "fit-times": (*RNA, "--time", "days", "--event", "died", "--covariates", "sex"),
    "fit-flags": (*RNA, "--target", "relapse,fever", "--task", "labels"),
}


def tables():
    """Features (24, 6) with missing cells, proteins (24, 3), and what is known about the patients."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 6)).round(2)
    rna = pd.DataFrame(X, columns=[f"gene{j}" for j in range(6)])
    rna.iloc[[3, 8], [1, 4]] = np.nan
    protein = pd.DataFrame(rng.standard_normal((24, 3)).round(2), columns=["pa", "pb", "pc"])
    patients = pd.DataFrame(
        {
            "status": np.where(X[:, 0] + 0.5 * X[:, 5] > 0, "tumour", "normal"),
            "kind": np.array(["A", "B", "C"])[np.digitize(X[:, 2], [-0.4, 0.4])],
            "age": (60 + 10 * X[:, 3]).round(1),
            "visits": rng.poisson(np.exp(1 + 0.5 * X[:, 0])),
            "hours": rng.uniform(1, 3, 24).round(1),
            "days": np.exp(3 - X[:, 0]).round(1),
            "died": np.arange(24) % 4 > 0,
            "relapse": (X[:, 2] > 0).astype(int),
            "fever": (X[:, 3] > 0).astype(int),
            "sex": np.array(["F", "M"])[np.arange(24) % 2],
            "batch": np.array(["one", "two"])[np.arange(24) // 12],
        }
    )
    for frame in (rna, protein, patients):
        frame.insert(0, "patient", [f"P{i}" for i in range(24)])
    return {"rna": rna, "protein": protein, "patients": patients}


def samples():
    """X (24, 6) without missing cells, with a column of words, and the patients."""
    X = pd.read_csv(FOLDER / "rna.csv", index_col="patient").fillna(0.0)
    return X.to_numpy(), X.assign(sex=["F", "M", "M"] * 8), pd.read_csv(FOLDER / "patients.csv")


def studies():
    """Models to fit, by name, with X, y and the covariates (or the strata, for predictions)."""
    X, table, p = samples()
    two, three = p["status"].to_numpy().astype(str), p["kind"].to_numpy().astype(str)
    numbers, counted = X[:, :2] + p[["age"]].to_numpy(), np.column_stack([X, p["hours"]])
    unknown = np.r_[["none"] * 5, two[5:]].astype(object)
    types = [("event", bool), ("time", float), ("stratum", "U1")]
    strata = np.array(list(zip(p["died"], p["days"], p["sex"], strict=True)), types)
    times = np.array(list(zip(p["died"], p["days"], strict=True)), types[:2])
    mixed = p[["status", "age", "visits", "days", "died"]]
    kinds = {"status": "classes", "age": "number", "visits": "counts", ("days", "died"): "times"}
    holes = X.copy()
    holes[2, 3] = np.nan
    beside, no = {"covariates": p[["age", "batch"]]}, {}
    box = Product(Box(-9.0, 9.0), FrobeniusBall(99.0), WholeSpace())
    fixed = {"xi": [0.1], "lam": [1.0], "cv": 2}
    steps = (
        LowRankImputer(n_components=1),
        Adjuster(confounders=[5]),
        BlockScaler({"a": [0, 1], "b": [2, 3]}),
    )
    C, R, S, M = (getattr(superfactor, f"SMF{n}") for n in ("Classifier", "Regressor", "Survival", "Mixed"))
    CV, RCV, SCV = (getattr(superfactor, f"SMF{n}CV") for n in ("Classifier", "Regressor", "Survival"))
    return {
        "two-classes": (C(2), X, two, no),
        "many-classes": (C(2, model="feature"), table.drop(columns="sex"), three, no),
        "fast": (C(2, model="feature", prediction="fast", certify="ascent"), X, three, no),
        "probit": (C(2, link="probit"), X, two, no),
        "whole-numbers": (C(1, certify=None), X, p["relapse"], no),
        "flags": (C(2), X, p[["relapse", "fever"]].to_numpy(), no),
        "covariates": (C(2), X, two, beside),
        "covariate-columns": (C(2, covariate_columns=["sex"]), table, two, no),
        "balanced": (C(2, class_weight={"normal": 2.0}, random_state=3), X, two, no),
        "unlabeled": (C(2, unlabeled="none"), X, unknown, no),
        "constraint": (C(2, constraint=box, max_iter=20), X, two, no),
        "nonnegative": (C(2, constraint=NonNegative(), solver="bcd", max_iter=9), abs(X), two, no),
        "numbers": (R(2), X, numbers, no),
        "one-number": (R(2, model="feature"), X, numbers[:, 0], no),
        "counts": (R(2, loss="poisson", exposure_column=6), counted, p["visits"], no),
        "breslow": (S(2), X, times, no),
        "efron": (S(2, ties="efron"), X, times, beside),
        "strata": (S(2), X, strata, {"strata": strata["stratum"]}),
        "mixed": (M(kinds, 2, outcome_weight={"age": 2.0}), X, mixed, no),
        "classifier-search": (CV([1, 2], **fixed), X, two, no),
        "scored-search": (CV(2, model=["filter", "feature"], scoring="roc_auc", **fixed), X, two, no),
        "words-search": (CV(2, **fixed, covariate_columns=["sex"]), table, three, no),
        "regressor-search": (RCV([1, 2], **fixed, rule="one_standard_error"), X, numbers[:, 0], no),
        "counts-search": (RCV(2, **fixed, loss="poisson", exposure_column=6), counted, p["visits"], no),
        "survival-search": (SCV([1, 2], **fixed, preprocess=None), X, times, no),
        "pipeline": (make_pipeline(VarianceThreshold(), StandardScaler(), C(2)), X, two, no),
        "own-pipeline": (make_pipeline(*steps, C(2)), holes, two, no),
    }


def answers(model, X, given):
    """What a model predicts for X, by method, as arrays."""
    found = {}
    for method in METHODS:
        if not hasattr(model, method):
            continue
        own = "strata" if method == "predict_survival_function" else "covariates"
        also = own if own in given else "covariates"
        words = {also: given[also]} if also in given and method != "transform" else {}
        result = getattr(model, method)(X, **words)
        for key, values in (result if isinstance(result, dict) else {"": result}).items():
            values = np.asarray(values)
            kind = str if values.dtype.kind in "OSU" else float
            found[f"{method} {key}".strip()] = values.astype(kind)
    return found


def studied(saved, name):
    """The X that a model of ``superfactor fit`` gets for the tables that it was fitted to."""
    command = COMMANDS[name]
    blocks = {name: FOLDER / f"{name}.csv" for name in ("rna", "protein")} if "--block" in command else {}
    table = None if blocks else FOLDER / "rna.csv"
    patients = FOLDER / "patients.csv"
    return read_study(blocks or table, like=saved.about, phenotype=patients, id="patient").design


def cells():
    """An AnnData with a label, a number and a batch."""
    import anndata

    X, _, patients = samples()
    obs = patients.set_index("patient")[["kind", "age", "batch", "visits", "relapse", "fever"]]
    adata = anndata.AnnData(X.astype(np.float32), obs=obs)
    adata.var_names = [f"gene{j}" for j in range(6)]
    return adata


#: Arguments of `tl.smf`, by key.
RECORDS = {
    "classes": {"label": "kind", "covariates": ["batch"]},
    "numbers": {"label": "age", "model": "feature", "scale": True},
    "counts": {"label": "visits", "task": "counts"},
    "flags": {"label": ["relapse", "fever"], "task": "labels"},
    "searched": {"label": "kind", "n_components": [1, 2], "xi": [0.1], "lam": [1.0], "cv": 2},
    "times": {"time": "age", "event": "batch", "event_word": "two"},
}


def compressed(path):
    """Compress the parts of a model file, which `save` leaves as they are."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED, 9)


def main():
    """Write the folder."""
    from superfactor.anndata import tl
    from superfactor.cli import main as command_line

    assert superfactor.__version__ == "1.1.0"
    FOLDER.mkdir(exist_ok=True)
    for name, frame in tables().items():
        frame.to_csv(FOLDER / f"{name}.csv", index=False)
    expected = {}
    for name, (model, X, y, given) in studies().items():
        model.fit(X, y, **{k: v for k, v in given.items() if k == "covariates"})
        superfactor.save(model, FOLDER / f"{name}.skops", about={"from": "Python"})
        expected |= {f"{name}: {method}": a for method, a in answers(model, X, given).items()}
    for name, words in COMMANDS.items():
        path = FOLDER / f"{name}.skops"
        try:
            command_line(["fit", *words, *QUICK, "--out", str(path)])
        except SystemExit as done:
            assert not done.code, name
        saved = saving.read(path)
        expected |= {f"{name}: {m}": a for m, a in answers(saved.model, studied(saved, name), {}).items()}
    for path in FOLDER.glob("*.skops"):
        compressed(path)
    adata = cells()
    for key, words in RECORDS.items():
        tl.smf(adata, **{"n_components": 2, **words}, key_added=key)
    kept = cells()
    kept.uns = {key: adata.uns[key] for key in RECORDS}
    with tempfile.TemporaryDirectory() as folder:
        kept.write_h5ad(Path(folder) / "cells.h5ad")
        content = Path(folder, "cells.h5ad").read_bytes()
    (FOLDER / "cells.h5ad.gz").write_bytes(gzip.compress(content, mtime=0))
    for key in RECORDS:
        expected[f"record of {key}: scores"] = np.asarray(adata.obsm[f"X_{key}"], float)
    np.savez_compressed(FOLDER / "expected.npz", **expected)


if __name__ == "__main__":
    main()
