"""The certificate of a fit in words for people who do not optimise for a living."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from superfactor.report.formats import gap, number, objective, plural


@dataclass(frozen=True)
class Proof:
    """badge: two or three words; level: "proven", "bounded" or "open"; sentence: what it means."""

    badge: str
    level: str
    sentence: str


def in_plain_words(certificate: Any, rank: int, *, completed: bool = False) -> Proof:
    """What the certificate (a `Certificate` or None) proves about `rank` factors.

    `completed` says that values were missing: what is proven is about the table with its gaps filled in.
    """
    proof = _proof(certificate, rank)
    if certificate is None or not completed:
        return proof
    return replace(proof, sentence=f"{proof.sentence} {OF_COMPLETED}")


def _proof(certificate: Any, rank: int) -> Proof:
    factors = f"set of {plural(rank, 'factor')}" if rank > 1 else "single factor"
    if certificate is None:
        return Proof(
            "Not checked",
            "open",
            f"Whether another {factors} would fit these data better was not checked for this model.",
        )
    if certificate.is_global:
        proof = "It is proven" if certificate.exact else "A numerical check indicates"
        return Proof(
            "Proven optimal" if certificate.exact else "Optimal, by estimate",
            "proven" if certificate.exact else "bounded",
            f"{proof} that no other {factors} of this kind fits these training data better: "
            "the result is not an accident of where the search started.",
        )
    if certificate.relative_gap < 1:
        proof = "" if certificate.exact else " (one quantity was estimated)"
        return Proof(
            f"Within {gap(certificate.relative_gap)}",
            "bounded",
            f"No other {factors} of this kind can improve the part of the fit that the class labels "
            f"influence by more than {gap(certificate.relative_gap)}{proof}.",
        )
    return Proof(
        "Not proven",
        "open",
        f"The fit may well be the best possible, but this is not proven: another {factors} that fits "
        "these training data better cannot be ruled out.",
    )


OF_COMPLETED = "This is about the table with its gaps filled in."
CAVEAT = (
    "Better by the model's own measure, which weighs describing the features against telling the "
    "classes apart, on the training data. How well it predicts new samples is another question; the "
    "accuracy answers it."
)


def technical(certificate: Any) -> list[tuple[str, str]]:
    """The numbers behind it, for those who do."""
    c = certificate
    rows = [
        ("Statement", str(c)),
        ("Objective F", objective(c.objective)),
        ("Lower bound", objective(c.lower_bound)),
        ("Gap", number(c.gap)),
        ("Relative gap (of the supervised part)", number(c.relative_gap)),
        ("Bound computed", f"{c.method}, {'exact' if c.exact else 'one singular value estimated'}"),
    ]
    for name, constants in [("as printed", c.constants), ("profiled", c.profiled)]:
        window = constants.step_window
        steps = "none" if window is None else f"{number(window[0])} to {number(window[1])}"
        rows.append(
            (
                f"Convergence theorem, {name}",
                f"μ {number(constants.mu)}, L {number(constants.L)}, L/μ "
                f"{number(constants.condition_number)}, steps {steps}, rate {number(constants.best_rate)}",
            )
        )
    return rows
