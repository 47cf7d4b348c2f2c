"""The page of times, numbers and labels in a real browser: what only these kinds of outcome have."""

import pytest
from tests.report.test_browser import labels_of


def test_curves_show_survival_under_the_pointer_and_numbers_at_risk(opened):
    window = opened("of_times")
    window.tab("prediction")
    figure = window.page.locator("[data-figure=curves]")
    assert len(labels_of(figure.locator("[data-mark]"))) == figure.locator(".legend li").count()
    figure.locator("[data-mark]").first.focus()
    assert "risk" in window.tooltip[0] and "events" in window.tooltip[1]
    window.page.keyboard.press("ArrowRight")
    assert len(window.tooltip) == 3
    shown = window.page.evaluate("JSON.parse(document.getElementById('payload').textContent).prediction")
    numbers = figure.locator(".at-risk text").all_text_contents()[1:]
    assert numbers == [
        t for c in shown["curves"] for t in [c["name"].removesuffix(" risk"), *map(str, c["at_risk"])]
    ]
    line = figure.locator("[data-mark] .reach").last
    line.scroll_into_view_if_needed()
    x, y = line.evaluate(
        """node => {
          const middle = node.getPointAtLength(node.getTotalLength() / 2);
          const at = middle.matrixTransform(node.getScreenCTM());
          return [at.x, at.y];
        }"""
    )
    window.page.mouse.move(x, y)
    assert "without an event" in window.tooltip[-1]


def test_panels_have_a_mark_for_each_sample(opened):
    window = opened("of_several_numbers")
    window.tab("prediction")
    panels = window.page.locator("[data-figure=panels] svg")
    assert panels.count() == 2 and panels.first.locator("[data-mark]").count() == 30
    panels.last.locator("[data-mark]").first.focus()
    assert [line.split()[0] for line in window.tooltip] == ["sample", "true", "predicted"]


def test_the_outcome_can_stand_on_an_axis(opened):
    window = opened("of_numbers")
    window.tab("samples")
    window.page.select_option("#y-factor", "class")
    marks = window.page.locator("[data-figure=samples] > svg [data-mark]")
    assert marks.count() == 90 and window.said == []
    marks.first.focus()
    assert window.tooltip[0] == "sample 0" and window.tooltip[2].startswith("predicted y ")


def test_another_label_gives_other_colours(opened):
    window = opened("of_flags")
    window.tab("samples")

    def colours():
        marks = window.page.locator("[data-figure=samples] > svg [data-mark]")
        return marks.evaluate_all("nodes => nodes.map((node) => node.getAttribute('class'))")

    first = colours()
    window.page.select_option("#colour-by", "1")
    assert colours() != first and window.said == []


@pytest.mark.parametrize("figure", ["curves", "panels"])
def test_figures_are_saved(opened, figure):
    window = opened({"curves": "of_times", "panels": "of_numbers"}[figure])
    window.tab("prediction")
    with window.page.expect_download(timeout=20_000) as started:
        window.page.click(f"[data-save=svg][data-of={figure}]")
    assert "<svg" in started.value.path().read_text(encoding="utf-8")
