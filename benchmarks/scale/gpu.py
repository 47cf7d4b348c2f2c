"""The million samples of `million` on a GPU: `PYTHONPATH=src:. python3 -m benchmarks.scale.gpu --out FILE`.

Data of the same kind is made on the device. Whole fits at the defaults in float32, of PyTorch and of CuPy
arrays, with and without certificate: the best of three after a warm-up. A fit in float64 with the same
weights gives the objective to compare with. X is on the device before, and labels are NumPy's.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.tables import show
from reproduction.writing import whole
from superfactor import SMFClassifier

Row = dict[str, Any]
BLOCK = 50_000
ASKED_SECONDS = {"filter": 0.5, "feature": 0.7}
ASKED_DIFFERENCE = 1e-6
SIZE = {"n": 1_000_000, "p": 2_000, "classes": 10, "rank": 20}
QUICK = {"n": 4_000, "p": 40, "classes": 3, "rank": 3}


def gpu(size: dict[str, int], device: str, libraries: tuple[str, ...]) -> Iterator[Row]:
    """A row for every library and model, and one of float64 for every model."""
    X, y = planted(**size, device=device)
    rank, exact = size["rank"], {}
    for library in libraries:
        data = X if library == "torch" else _cupy(X)
        for model in ("filter", "feature"):
            bare, _ = best(SMFClassifier(rank, model=model, certify=None), data, y, 3)
            seconds, fitted = best(SMFClassifier(rank, model=model), data, y, 3)
            if model not in exact:
                weights = {"xi": fitted.xi_, "lam": fitted.lam_}
                same = SMFClassifier(rank, model=model, certify=None, **weights)
                spent, same = best(same, X.double(), y, 1)
                exact[model] = same.objective_
                yield {"library": "torch", "type": "float64", "model": model, **size} | {
                    "s without certificate": spent,
                    "iterations": same.n_iter_,
                    "objective": same.objective_,
                }
            yield {"library": library, "type": "float32", "model": model, **size} | {
                "s without certificate": bare,
                "s": seconds,
                "iterations": fitted.n_iter_,
                "objective": fitted.objective_,
                "certificate": str(fitted.certificate_.statement),
                "relative difference": abs(fitted.objective_ / exact[model] - 1),
                "asked at most s": ASKED_SECONDS[model],
                "asked at most": ASKED_DIFFERENCE,
            }


def best(estimator: SMFClassifier, X: Any, y: np.ndarray, times: int) -> tuple[float, SMFClassifier]:
    """The least seconds of some whole fits after a first one, until the device is done; the model."""
    spent = []
    for _ in range(times + 1):
        _synchronize(X)
        start = time.perf_counter()
        estimator.fit(X, y)
        _synchronize(X)
        spent.append(time.perf_counter() - start)
    return min(spent[1:]), estimator


def planted(n: int, p: int, classes: int, rank: int, device: str) -> tuple[Any, np.ndarray]:
    """X (n, p) float32 on the device and y (n,), as `planted.Dense` has it, of other random numbers."""
    import torch

    generator = torch.Generator(device=device).manual_seed(0)

    def normal(*shape: int) -> Any:
        return torch.randn(*shape, generator=generator, device=device)

    atoms, beta = torch.linalg.qr(normal(p, rank))[0].T, normal(rank, classes)
    X, y = torch.empty(n, p, device=device), np.empty(n, dtype=np.int64)
    for a in range(0, n, BLOCK):
        b = min(a + BLOCK, n)
        codes = normal(b - a, rank) * torch.linspace(3, 1, rank, device=device)
        X[a:b] = codes @ atoms + 0.3 * normal(b - a, p)
        uniform = torch.rand(b - a, classes, generator=generator, device=device)
        gumbel = -torch.log(-torch.log(uniform.clip(1e-30, 1 - 1e-7)))
        y[a:b] = torch.argmax(0.7 * codes @ beta + gumbel, 1).cpu().numpy()
    return X, y


def _cupy(X: Any) -> Any:
    """The same memory as a CuPy array."""
    import cupy

    return cupy.from_dlpack(X)


def _synchronize(X: Any) -> None:
    """Wait until the device of X has finished."""
    if type(X).__module__.startswith("cupy"):
        import cupy

        cupy.cuda.Device().synchronize()
    elif X.is_cuda:
        import torch

        torch.cuda.synchronize()


def described() -> dict[str, Any]:
    """The machine, its device, and the libraries that compute there."""
    import cupy
    import torch

    return measure.machine() | {
        "device": torch.cuda.get_device_name(0),
        "device memory GB": round(torch.cuda.get_device_properties(0).total_memory / 1e9, 1),
        "cuda": torch.version.cuda,
        "torch": torch.__version__,
        "cupy": cupy.__version__,
    }


def main() -> None:
    """Measure on the first CUDA device, print, and keep every row as it comes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.gpu", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the JSON")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    given = parser.parse_args()
    machine, rows = described(), list[Row]()
    for row in gpu(QUICK if given.quick else SIZE, "cuda", ("torch", "cupy")):
        rows.append(row)
        show(machine["device"], [row])
        with whole(given.out) as part:
            kept = {"gpu": {"machine": machine, "rows": rows}}
            part.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
