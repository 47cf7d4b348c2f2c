"""Whether what a fit claims is true: random problems of every kind against naive code.

`python -m benchmarks trust --problems 1000 --seed 0` draws them, fits them through the public estimators,
and looks for wrong objectives, bounds above a point that the naive code finds, proven answers that are
beaten, attributes that are not finite, equal problems with unequal answers, and folds that are not sealed.
`--outcome mixed --problems 300` takes problems of one kind. A violation prints a script of about ten lines
that shows it.

draw, tables, outcomes    problem number i of a seed
losses, naive, svd        F on the user's own numbers, in long double
search, starts            the lowest F that many descents find
equal, folds              the same problem said otherwise; test rows of any size
checks, script, run       all of it for one problem; what shows a violation; many problems
"""

from benchmarks.trust.checks import check, generator, not_finite, search_lowest
from benchmarks.trust.draw import problem
from benchmarks.trust.equal import same
from benchmarks.trust.folds import differences
from benchmarks.trust.naive import objective

__all__ = ["check", "differences", "generator", "not_finite", "objective", "problem", "same", "search_lowest"]
