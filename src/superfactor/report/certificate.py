"""The certificate of a fit in plain words."""

from __future__ import annotations

from typing import Any, NamedTuple

from superfactor.report.formats import gap, number, objective, plural

OF_COMPLETED = "This refers to the table with imputed missing values."


class Proof(NamedTuple):
    """A short label, and a sentence that explains it."""

    badge: str
    sentence: str


def in_plain_words(
    certificate: Any, rank: int, *, influence: str = "the class labels influence", completed: bool = False
) -> Proof:
    """Explain what the certificate (a `Certificate` or None) proves about `rank` factors.

    `influence` names the supervised part of the objective. `completed` means that missing values were
    imputed: the certificate then refers to the completed table.
    """
    factors = f"set of {plural(rank, 'factor')}" if rank > 1 else "single factor"
    if certificate is None:
        text = f"It was not checked whether another {factors} fits these data better."
        return Proof("Not checked", text)
    estimated = "" if certificate.exact else " (one quantity was estimated)"
    if certificate.is_global:
        badge = "Optimal, by estimate" if estimated else "Proven optimal"
        text = (
            f"{'A numerical check indicates' if estimated else 'It is proven'} that no other {factors} of "
            "this kind fits these training data better: it is not only a local optimum."
        )
    elif certificate.relative_gap < 1:
        badge = f"Within {gap(certificate.relative_gap)}"
        text = (
            f"No other {factors} of this kind can improve the part of the fit that {influence} "
            f"by more than {gap(certificate.relative_gap)}{estimated}."
        )
    else:
        badge = "Not proven"
        text = (
            f"The fit may be the best possible, but this is not proven: another {factors} could fit these "
            "training data better."
        )
    return Proof(badge, f"{text} {OF_COMPLETED}" if completed else text)


def technical(certificate: Any) -> list[tuple[str, str]]:
    """Return the numbers of the certificate."""
    c = certificate
    rows = [
        ("Statement", str(c)),
        ("Objective F", objective(c.objective)),
        ("Lower bound", objective(c.lower_bound)),
        ("Gap", number(c.gap)),
        ("Relative gap (of the supervised part)", number(c.relative_gap)),
        ("Method of the bound", f"{c.method}, {'exact' if c.exact else 'one singular value estimated'}"),
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
