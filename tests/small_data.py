"""Small made-up data in the formats of the real files, for tests that run without them.

Everything has signal, so that an experiment on it shows something: each digit has a shape of its own,
fake postings have words and a missing logo in common, tumours raise some of the genes.
"""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pandas as pd

from reproduction.data.job_covariates import CATEGORIES

IMAGES_PER_DIGIT = 60
N_POSTINGS, N_TOPICS, WORDS_PER_TOPIC, N_COMMON = 400, 6, 40, 60
MARKERS = {
    "Pancreatic_GSE16515": ("CA12", "TM4SF1", "KCTD14", "DPY19L1", "EPHX4"),
    "Breast_GSE70947": ("PTPRT-AS1", "DDB2", "RAPGEFL1", "RHBDL1", "SHMT2", "BRCA1"),
}
SHAPES = {"Pancreatic_GSE16515": (51, 300), "Breast_GSE70947": (80, 400)}
CLASSES = {
    "Pancreatic_GSE16515": ("normal", "tumoral"),
    "Breast_GSE70947": ("normal", "breast_adenocarcinoma"),
}


def write_small_data(folder: Path) -> None:
    """MNIST's test set, fake_job_postings.csv and two CuMiDa tables, the same in every run."""
    rng = np.random.default_rng(0)
    write_digits(folder, rng)
    postings(rng).to_csv(folder / "fake_job_postings.csv", index=False)
    for name in SHAPES:
        microarray(name, rng).to_csv(folder / f"{name}.csv", index=False)


# --- digits ---------------------------------------------------------------------------------------


def write_digits(folder: Path, rng: np.random.Generator) -> None:
    """Two IDX files: bytes after a header with the type (8), the number of dimensions and sizes."""
    digits = rng.permutation(np.repeat(np.arange(10), IMAGES_PER_DIGIT)).astype(np.uint8)
    images = (255 * np.clip(blurry_shapes(digits, rng), 0, 1)).astype(np.uint8)
    for name, values in (("images-idx3", images), ("labels-idx1", digits)):
        header = struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
        (folder / f"t10k-{name}-ubyte.gz").write_bytes(gzip.compress(header + values.tobytes()))


def blurry_shapes(digits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Images (n, 28, 28) in [0, 1]: a closed curve with as many waves as the digit says."""
    t = np.linspace(0, 2 * np.pi, 40)[:, None]
    waves = digits[None, :]
    radius = 7 + 3 * np.cos(waves * t + 0.3 * rng.standard_normal(len(digits)))
    centre = 13.5 + rng.uniform(-1.5, 1.5, (2, len(digits)))
    row, column = centre[0] + radius * np.sin(t), centre[1] + radius * np.cos(t)
    pixel = np.arange(28)[:, None, None]
    ink = [np.exp(-0.5 * (pixel - place) ** 2) for place in (row, column)]  # (28, 40, n) each
    return np.minimum(np.einsum("atn,btn->nab", *ink), 1)


# --- job postings ---------------------------------------------------------------------------------


def postings(rng: np.random.Generator) -> pd.DataFrame:
    """A table (400, 18) in the columns of the original, about one in ten fraudulent."""
    n = N_POSTINGS
    fraudulent = (rng.random(n) < 0.1).astype(int)
    topic = np.where(fraudulent & (rng.random(n) < 0.8), 0, rng.integers(1, N_TOPICS, n))
    logo = (rng.random(n) < np.where(fraudulent, 0.3, 0.8)).astype(int)
    places = np.array(["US, NY, New York", "US, , ", "GB, LND, London", "GR, I, Athens", ""])
    table = {
        "job_id": np.arange(1, n + 1),
        "title": [f"Position {k}" for k in topic],
        "location": rng.choice(places, n, p=[0.5, 0.1, 0.2, 0.15, 0.05]),
        "department": _some_empty(rng, np.full(n, "Sales"), 0.6),
        "salary_range": _some_empty(rng, np.full(n, "20000-28000"), 0.8),
        "company_profile": _some_empty(rng, np.full(n, "We are, in short, a company."), 0.2),
        "description": [_description(rng, k) for k in topic],
        "requirements": _some_empty(rng, np.full(n, "Experience"), 0.15),
        "benefits": _some_empty(rng, np.full(n, 'See "Benefits"\nbelow'), 0.4),
        "telecommuting": (rng.random(n) < 0.05).astype(int),
        "has_company_logo": logo,
        "has_questions": (rng.random(n) < 0.5).astype(int),
    }
    for column in ("employment_type", "required_experience", "required_education"):
        table[column] = _some_empty(rng, rng.choice(CATEGORIES[column], n), 0.3)
    table["industry"] = _some_empty(rng, rng.choice(["Oil & Energy", "Internet"], n), 0.3)
    table["function"] = _some_empty(rng, rng.choice(CATEGORIES["function"], n), 0.3)
    table["fraudulent"] = fraudulent
    frame = pd.DataFrame(table)
    frame.loc[n - 1, "description"] = ""  # the real data have postings without a word, too
    return frame


def _description(rng: np.random.Generator, topic: int) -> str:
    """Words of one topic among words that all postings have, the early ones of each more often."""
    common = _word(rng, "common", N_COMMON, 15)
    own = _word(rng, f"topic{topic}x", WORDS_PER_TOPIC, 20)
    stop = rng.choice(["the", "and", "of", "with"], 8)
    return " ".join(rng.permutation([*common, *own, *stop])).capitalize() + "."


def _word(rng: np.random.Generator, stem: str, n: int, size: int) -> list[str]:
    return [f"{stem}{int(k)}" for k in n * rng.random(size) ** 2]


def _some_empty(rng: np.random.Generator, values: np.ndarray, share: float) -> np.ndarray:
    return np.where(rng.random(len(values)) < share, "", values)


# --- microarrays ----------------------------------------------------------------------------------


def microarray(name: str, rng: np.random.Generator) -> pd.DataFrame:
    """A CuMiDa table on the log2 scale: three hidden processes, of which tumours raise the first.

    The markers take part in the first process; their names begin the list of genes.
    """
    n, p = SHAPES[name]
    tumour = rng.permutation(np.arange(n) % 3 > 0)
    codes = rng.standard_normal((n, 3))
    codes[:, 0] += 2.0 * tumour
    loadings = 0.5 * rng.standard_normal((3, p)) * (rng.random((3, p)) < 0.3)
    markers = MARKERS[name]
    loadings[0, : len(markers)] = 1.0
    X = rng.uniform(4, 10, p) + codes @ loadings + 0.5 * rng.standard_normal((n, p))
    genes = [*markers, *(f"GENE{j}" for j in range(p - len(markers)))]
    table = pd.DataFrame(np.round(X, 6), columns=genes)
    table.insert(0, "type", np.where(tumour, CLASSES[name][1], CLASSES[name][0]))
    table.insert(0, "samples", np.arange(1, n + 1))
    return table
