"""A small table of patients: a label that two of the genes predict, sex and age."""

import numpy as np
import pandas as pd

GENES = [f"gene{j}" for j in range(12)]
ROLES = {"target": "status", "id": "patient", "covariates": ["sex", "age"]}


def cohort(n=40, p=12, classes=("normal", "tumoral"), seed=0):
    """Return a table of patients: a label that two of the genes predict, sex and age."""
    rng = np.random.default_rng(seed)
    number = np.arange(n) % len(classes)
    X = rng.normal(size=(n, p)).round(4)
    X[:, 0] += 3 * number
    X[:, 1] -= 2 * number
    table = pd.DataFrame(X, columns=[f"gene{j}" for j in range(p)])
    table.insert(0, "patient", [f"P{i:03}" for i in range(n)])
    table.insert(1, "status", np.array(classes)[number])
    table["sex"] = np.where(rng.random(n) < 0.5, "F", "M")
    table["age"] = rng.integers(30, 80, size=n)
    return table


def said(study):
    """Return the notes of a study as text."""
    return [str(note) for note in study.notes]
