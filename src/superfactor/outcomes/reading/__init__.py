"""What tables of factors and pictures ask of a kind of y.

============== =====================================================================
file           idea
============== =====================================================================
``base``       ``Reading``: the questions, and answers that hold for several kinds
``shown``      which outputs are shown and which way is up; the samples of a picture
``univariate`` tests and effects of one feature at a time
============== =====================================================================
"""

from superfactor.outcomes.reading.base import Reading, of_leading, one_column
from superfactor.outcomes.reading.shown import ShownClasses, ShownFlags, ShownOutputs, ShownSamples
from superfactor.outcomes.reading.univariate import (
    Statistics,
    against_rest,
    by_columns,
    with_numbers,
    with_times,
)

__all__ = [
    "Reading",
    "ShownClasses",
    "ShownFlags",
    "ShownOutputs",
    "ShownSamples",
    "Statistics",
    "against_rest",
    "by_columns",
    "of_leading",
    "one_column",
    "with_numbers",
    "with_times",
]
