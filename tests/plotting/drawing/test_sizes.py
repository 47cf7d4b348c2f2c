"""Labels of real tables stay apart in small and large figures, of two and of ten classes."""

from itertools import combinations

import matplotlib.pyplot as plt
import pytest
from tests.plotting.drawing.texts import assert_apart, assert_readable
from tests.plotting.models import cancer, digits

from superfactor.plotting import (
    BiplotDisplay,
    CorrelationCircleDisplay,
    FactorsDisplay,
    HeatmapDisplay,
    SamplesDisplay,
)

TABLES = {"cancer": cancer, "digits": digits}
training = {"samples": "training"}
PLOTS = {
    "biplot": lambda model, X, y, ax: BiplotDisplay.from_estimator(model, X, y, n=8, ax=ax, **training),
    "circle": lambda model, X, y, ax: CorrelationCircleDisplay.from_estimator(model, n=14, ax=ax),
    "samples": lambda model, X, y, ax: SamplesDisplay.from_estimator(model, X, y, ax=ax, **training),
    "rows": lambda model, X, y, ax: SamplesDisplay.from_estimator(model, X, y, factors=1, ax=ax, **training),
    "factors": lambda model, X, y, ax: FactorsDisplay.from_estimator(model, max_factors=2, ax=ax),
    "heatmap": lambda model, X, y, ax: HeatmapDisplay.from_estimator(model, X, y, ax=ax),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("plot", PLOTS)
def test_a_new_figure_is_readable(plot, table):
    X, y, model = TABLES[table]()
    assert_readable(PLOTS[plot](model, X, y, None).figure_)


@pytest.mark.parametrize("plot", PLOTS)
@pytest.mark.parametrize(
    "size, layout, table",
    [
        ((4, 3), "constrained", "digits"),
        ((4, 3), None, "digits"),
        ((4, 3), None, "cancer"),
        ((12, 9), None, "cancer"),
    ],
)
def test_texts_stay_apart_in_the_users_axes(size, layout, plot, table):
    X, y, model = TABLES[table]()
    figure, ax = plt.subplots(figsize=size, layout=layout)
    PLOTS[plot](model, X, y, ax)
    assert_apart(figure)
    if plot in ("biplot", "circle"):
        boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
        assert len(boxes) >= 8
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
        page = ax.get_window_extent().padded(1)
        assert all(page.contains(*corner) for box in boxes for corner in (box.min, box.max))
