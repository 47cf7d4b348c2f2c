"""Every text that a figure shows, with its place on the page."""

from itertools import combinations


def shown_texts(figure):
    """The non-empty text artists that are drawn; ticks outside their axis are not."""
    figure.canvas.draw()
    texts = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for ax in figure.axes:
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


def assert_readable(figure):
    """All text lies within the page, and no two texts cover each other."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in shown_texts(figure)]
    assert boxes
    page = figure.bbox
    for text, box in boxes:
        inside = box.x0 >= -0.5 and box.y0 >= -0.5
        inside = inside and box.x1 <= page.x1 + 0.5 and box.y1 <= page.y1 + 0.5
        assert inside, f"{text!r} at {box} leaves the page {page}"
    for (one, a), (other, b) in combinations(boxes, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        along = min(a.y1, b.y1) - max(a.y0, b.y0)
        # Boxes include the room of letters with descenders: a few pixels of overlap show nothing.
        assert across < 1 or along < 4, f"{one!r} and {other!r} overlap by {across}, {along}"
