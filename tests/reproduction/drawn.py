"""What can be asked of any drawn figure."""

from itertools import combinations

from matplotlib.axis import Tick
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text


def overlapping_texts(figure):
    """Texts that leave the figure, and pairs of them that are drawn over one another."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    hidden = {id(text) for ax in figure.axes for text in _beyond(ax)}
    texts = {
        id(text): text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden
    }
    boxes = [(t.get_text(), t.get_window_extent(canvas.get_renderer())) for t in texts.values()]
    page = figure.bbox.padded(1)
    wrong = [name for name, box in boxes if not _inside(box, page)]
    # Boxes have room for letters that are not there: a little overlap is none.
    small = [(name, box.shrunk(0.98, 0.75)) for name, box in boxes]
    return wrong + [(a, b) for (a, one), (b, two) in combinations(small, 2) if one.overlaps(two)]


def _beyond(ax):
    """Labels of ticks that the axes are too short for; matplotlib has them but does not draw them."""
    if not ax.axison:
        return ax.findobj(Text)
    return [
        text
        for axis in (ax.xaxis, ax.yaxis)
        for tick in axis.findobj(Tick)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
        for text in tick.findobj(Text)
    ]


def _inside(box, page):
    return page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
