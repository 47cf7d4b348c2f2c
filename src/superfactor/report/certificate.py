"""The certificate of a fit in words for people who do not optimise for a living."""

from __future__ import annotations

from typing import Any, NamedTuple

from superfactor.report.formats import gap, number, objective, plural

OF_COMPLETED = "This is about the table with its gaps filled in."


class Proof(NamedTuple):
    """Two or three words, and a sentence that says what they mean."""

    badge: str
    sentence: str


def in_plain_words(
    certificate: Any, rank: int, *, influence: str = "the class labels influence", completed: bool = False
) -> Proof:
    """What the certificate (a `Certificate` or None) proves about `rank` factors.

    `influence` says what the supervised part is of, `completed` that values were missing: what is proven is
    about the table with its gaps filled in.
    """
    factors = f"set of {plural(rank, 'factor')}" if rank > 1 else "single factor"
    if certificate is None:
        said = f"Whether another {factors} would fit these data better was not checked for this model."
        return Proof("Not checked", said)
    estimated = "" if certificate.exact else " (one quantity was estimated)"
    if certificate.is_global:
        badge = "Optimal, by estimate" if estimated else "Proven optimal"
        said = (
            f"{'A numerical check indicates' if estimated else 'It is proven'} that no other {factors} of "
            "this kind fits these training data better: the result is not an accident of where the search "
            "started."
        )
    elif certificate.relative_gap < 1:
        badge = f"Within {gap(certificate.relative_gap)}"
        said = (
            f"No other {factors} of this kind can improve the part of the fit that {influence} "
            f"by more than {gap(certificate.relative_gap)}{estimated}."
        )
    else:
        badge = "Not proven"
        said = (
            f"The fit may well be the best possible, but this is not proven: another {factors} that fits "
            "these training data better cannot be ruled out."
        )
    return Proof(badge, f"{said} {OF_COMPLETED}" if completed else said)


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
