"""About ten lines that show a violation by themselves."""

from __future__ import annotations

from benchmarks.trust.checks import STARTS, Result, Violation

FIT = """\
from benchmarks.trust import {names}

p = problem({seed}, {index})  # {words}
model = p.estimator(search={search!r}).fit(**p.data())
print(p.parameters, p.X.shape, p.X.dtype, model.certificate_)
"""
SHOWN = {
    "wrong F": (
        "objective, problem",
        "F, error = objective(p.naive(model), p.factors(model))\n"
        'print(f"objective_ {model.objective_!r}, F of the factors {F!r} up to {error:.1g}")\n',
    ),
    "false bound": (
        "generator, problem, search_lowest",
        "given = p.naive(model)\n"
        'rng = generator({seed}, {index}, "starts")\n'
        "F, error = search_lowest(given, p.factors(model), {starts}, rng)\n"
        'print(f"objective_ {model.objective_!r}, bound {model.certificate_.lower_bound!r}")\n'
        'print(f"a point has F = {F!r} up to {error:.1g}, supervised part {F - given.floor:.6g}")\n',
    ),
    "not finite": ("not_finite, problem", "print(not_finite(model))\n"),
    "unequal": (
        "generator, problem, same",
        'other = same(p, generator({seed}, {index}, "same"))\n'
        "again = other.estimator(search={search!r}).fit(**other.data())\n"
        "print(other.words, again.certificate_)\n"
        "print(model.objective_, again.objective_)\n",
    ),
    "unequal folds": (
        "differences, generator, problem",
        'print(differences(p, generator({seed}, {index}, "folds")))\n',
    ),
    "exception": ("problem", ""),
}
SHOWN["false proof"] = SHOWN["harness"] = SHOWN["false bound"]


def script(result: Result, violation: Violation, search: str) -> str:
    """A script that draws the problem, fits it, and prints what is wrong beside what is right."""
    names, body = SHOWN[violation.kind]
    words = violation.words.replace("\n", " ")
    # Braces of the script's own f-strings stay.
    fields = {"seed": result.seed, "index": result.index, "starts": STARTS[result.proven]}
    for name, value in fields.items():
        body = body.replace(f"{{{name}}}", str(value))
    body = body.replace("{search!r}", repr(search))
    fit = FIT.format(names=names, seed=result.seed, index=result.index, words=result.words, search=search)
    return f"# {violation.kind}, {violation.amount:.2g} of the supervised part: {words}\n{fit}{body}"
