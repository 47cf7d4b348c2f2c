"""Every text that a figure shows, with its place on the page."""

from itertools import combinations

from matplotlib.transforms import Bbox


def shown_texts(figure):
    """The non-empty text artists that are drawn; ticks outside their axis are not."""
    figure.canvas.draw()
    texts = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    insets = [inset for ax in figure.axes for inset in ax.child_axes]
    for ax in [*figure.axes, *insets]:
        texts += ax.texts
        texts += ax.get_legend().get_texts() if ax.get_legend() else []
        if not ax.axison:
            continue
        texts += [ax.title, ax.xaxis.label, ax.yaxis.label, ax.xaxis.offsetText, ax.yaxis.offsetText]
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if low <= tick.get_loc() <= high:
                    texts += [tick.label1, tick.label2]
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


def lines_of(text):
    """What each line of a text says, with its box; empty lines have none. Vertical text is one box."""
    box, lines = text.get_window_extent(), text.get_text().split("\n")
    if text.get_rotation():
        return [(text.get_text(), box)]
    tall = box.height / len(lines)
    tops = [box.y1 - k * tall for k in range(len(lines))]
    places = [Bbox([[box.x0, top - tall], [box.x1, top]]) for top in tops]
    return [(line, place) for line, place in zip(lines, places, strict=True) if line]


def assert_apart(figure):
    """No two texts cover each other; returns the lines of texts with their boxes."""
    boxes = [line for text in shown_texts(figure) for line in lines_of(text)]
    assert boxes
    for (one, a), (other, b) in combinations(boxes, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        along = min(a.y1, b.y1) - max(a.y0, b.y0)
        # Boxes include the room of letters with descenders: a few pixels of overlap show nothing.
        assert across < 1 or along < 4, f"{one!r} and {other!r} overlap by {across}, {along}"
    return boxes


def assert_readable(figure):
    """All text lies within the page, and no two texts cover each other."""
    page = figure.bbox
    for text, box in assert_apart(figure):
        inside = box.x0 >= -0.5 and box.y0 >= -0.5
        inside = inside and box.x1 <= page.x1 + 0.5 and box.y1 <= page.y1 + 0.5
        assert inside, f"{text!r} at {box} leaves the page {page}"
