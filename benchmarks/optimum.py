"""Iterations of the default solver, and whether random restarts ever beat it."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from benchmarks import data
from reproduction import fits
from reproduction.restarts import Weighted, random_restarts


def solve(X, Y, rank: int, xi: float, lam: float, model: str, tol: float):
    """Solution and certificate."""
    problem = fits.state(model, X, Y, xi=xi, lam=lam, intercept=True)
    found = fits.solve(problem, rank, tol=tol)
    return found, fits.certify(problem, rank, found)


def iterations(quick: bool = False) -> list[dict[str, Any]]:
    """Iterations to 1e-10 at ξ, λ ∈ {0.1, 1, 10}."""
    rows = []
    for name, ranks in (("breast-cancer", (2, 3, 5)), ("digits", (5, 12))):
        X, y = data.real(name)
        if quick and name == "digits":
            continue
        Y = np.eye(y.max() + 1)[y][:, 1:]
        for model in ("filter", "feature"):
            counts = [
                solve(X, Y, rank, xi, lam, model, 1e-10)[0].n_iter
                for rank, xi, lam in product(ranks, (0.1, 1, 10), (0.1, 1, 10))
            ]
            row = {"data": name, "model": model, "settings": len(counts)}
            row |= {"median iterations": float(np.median(counts)), "most": max(counts)}
            rows.append(row | ({"asked at most": 40} if name == "breast-cancer" else {}))
    return rows


def restarts(quick: bool = False) -> list[dict[str, Any]]:
    """Settings of real data in which random restarts find an objective lower by more than 1e-6 relative.

    Small random problems are those of `benchmarks.hard`.
    """
    rows = []
    for name, count, restarts_each in (("breast-cancer", 3, 50), ("digits", 2, 5)):
        X, y = data.real(name)
        Y = np.eye(y.max() + 1)[y][:, 1:]
        if name == "digits" and quick:
            continue
        grid = list(product((1, 3, 6)[:count] if count == 3 else (4, 12), *[(1e-3, 0.1, 10)] * 2))
        rows.append(
            _compare(
                f"{name}",
                ((X, Y, r, xi, lam, m) for m in ("filter", "feature") for r, xi, lam in grid),
                5 if quick else restarts_each,
            )
        )
    return rows


def _compare(name: str, problems, restarts_each: int) -> dict[str, Any]:
    settings = proven = beaten = 0
    worst = 0.0
    for X, Y, rank, xi, lam, model in problems:
        found, proof = solve(X, Y, rank, xi, lam, model, 1e-10)
        settings += 1
        proven += proof.is_global
        if proof.is_global:  # the proof says that no restart can do better; the tests check the proof
            continue
        given = Weighted(model, X, Y, xi, lam, intercept=True)
        best = float(random_restarts(given, rank, restarts_each).min())
        excess = found.objective / best - 1
        beaten += excess > 1e-6
        worst = max(worst, excess)
    return {
        "problems": name,
        "settings": settings,
        "proven global": proven,
        "restarts on each other": restarts_each,
        "beaten by more than 1e-6": beaten,
        "worst excess": worst,
        "asked": 0,
    }
