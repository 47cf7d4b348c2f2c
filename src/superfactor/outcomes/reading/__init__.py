"""Methods of a kind of y for tables of factors and for plots.

============== =====================================================================
file           idea
============== =====================================================================
``base``       ``Reading``: the methods, with defaults that hold for several kinds
``shown``      which outputs are shown and with which sign; y of the samples of a plot
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
