"""Names, labels, order and contrast: what a screen reader, a keyboard and weak eyes need."""

import itertools
import re
from importlib.resources import files

import numpy as np
import pytest
from tests.colours import SEEN, contrast, nearest, parts
from tests.report.conftest import KINDS, Case, scaled, table

CSS = (files("superfactor.report") / "assets" / "page.css").read_text(encoding="utf-8")
FOUND = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", CSS)
THEMES = {"light": {name: light for name, light, _ in FOUND}, "dark": {name: dark for name, _, dark in FOUND}}


@pytest.mark.parametrize("theme", THEMES)
def test_text_numbers_and_marks_stand_out(theme):
    colours = {name: parts(colour) for name, colour in THEMES[theme].items()}
    texts = [
        *itertools.product(["ink", "quiet", "accent"], ["ground", "panel"]),
        *itertools.product(["ink", "quiet"], ["wash", "proven-wash", "open-wash", "worse-wash"]),
        *((name, f"{name}-wash") for name in ("proven", "open", "worse")),
        ("panel", "ink"),  # the tooltip
    ]
    for text, ground in texts:
        assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for shade, share in itertools.product(["cell", "wrong"], np.linspace(0, 1, 11)):
        ground = np.rint(colours[shade] * share + colours["ground"] * (1 - share))
        assert contrast(colours["ink"], ground) >= 4.5, shade
    for mark in ["edge", "high", "low", "accent", *(name for name in colours if name.startswith("class-"))]:
        assert contrast(colours[mark], colours["panel"]) >= 3, mark


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("eyes", SEEN)
def test_ten_classes_and_the_ends_of_a_factor_differ_in_colour(theme, eyes):
    colours = THEMES[theme]
    classes = [colour for name, colour in colours.items() if name.startswith("class-")]
    assert len(classes) == 10
    # About 2.3 is the least difference people notice between large areas; marks are small.
    assert nearest(classes, eyes) > (25 if eyes == "usual" else 12)
    assert nearest([colours["high"], colours["low"]], eyes) > 40


# Colour and shape of each class in the legend of the samples.
LOOKS = """() => [...document.querySelectorAll("[data-figure=samples] .legend svg")]
  .map((node) => [getComputedStyle(node).color, node.firstChild.getAttribute("d")])"""


def test_ten_classes_have_ten_colours_and_shapes_and_more_classes_differ_in_one(opened, tmp_path):
    X, y = table(65, 20, 13)
    more = Case(scaled(n_components=2, certify=None).fit(X, y), X, y)
    for page, count in (("many", 10), (more.write(tmp_path / "more.html", nearness=False), 13)):
        window = opened(page)
        window.tab("samples")
        looks = [tuple(look) for look in window.page.evaluate(LOOKS)]
        assert len(looks) == len(set(looks)) == count
        assert len({colour for colour, _ in looks}) == len({shape for _, shape in looks}) == 10


AUDIT = """() => {
  const found = [];
  const say = (problem, node) => found.push(problem + ": " + node.outerHTML.slice(0, 120));
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  const twice = ids.filter((id, i) => ids.indexOf(id) !== i);
  if (twice.length) found.push("ids twice: " + twice);
  for (const node of document.querySelectorAll("button, select, input, a")) {
    const name = node.getAttribute("aria-label") || node.labels?.[0]?.textContent || node.textContent;
    if (!name.trim()) say("no name", node);
  }
  for (const node of document.querySelectorAll("svg:not([aria-hidden])")) {
    if (!node.getAttribute("aria-label") || !node.getAttribute("role")) say("no label", node);
  }
  for (const node of document.querySelectorAll("[role=img] [tabindex], [role=img] [role=img]")) {
    say("hidden in an image", node);
  }
  for (const node of document.querySelectorAll("svg[role=group]")) {
    const stops = node.querySelectorAll("[tabindex='0']").length;
    if (stops !== 1) say(stops + " tab stops", node);
  }
  for (const node of document.querySelectorAll("[tabindex]")) {
    if (node.tabIndex > 0) say("positive tabindex", node);
  }
  for (const name of ["aria-controls", "aria-labelledby", "aria-describedby"]) {
    for (const node of document.querySelectorAll(`[${name}]`)) {
      if (!document.getElementById(node.getAttribute(name))) say("points nowhere", node);
    }
  }
  for (const node of document.querySelectorAll("table")) {
    if (!node.caption || node.querySelector("th:not([scope])")) say("bare table", node);
  }
  const levels = [...document.querySelectorAll("h1, h2, h3, h4")].map((node) => Number(node.tagName[1]));
  if (levels.some((level, i) => i && level > levels[i - 1] + 1)) found.push("headings skip: " + levels);
  if (levels.filter((level) => level === 1).length !== 1) found.push("not one h1");
  if (!document.documentElement.lang) found.push("no language");
  for (const tag of ["main", "header", "footer"]) {
    if (!document.querySelector("body > " + tag)) found.push("no " + tag);
  }
  return found;
}"""


@pytest.mark.parametrize("name", ["two_classes", "many", *KINDS])
def test_everything_has_a_name_and_a_landmark(opened, name):
    window = opened(name)
    for tab in window.tabs:
        window.tab(tab)
    assert window.page.evaluate(AUDIT) == []


def test_controls_and_words_are_reached_by_keyboard_and_seen(opened):
    window = opened("two_classes")
    page = window.page

    def reached(steps):
        for _ in range(steps):
            page.keyboard.press("Tab")
            node = page.locator(":focus")
            assert node.evaluate("node => getComputedStyle(node).outlineStyle") != "none"
            yield node.get_attribute("id") or node.get_attribute("class")

    assert list(reached(3)) == ["skip", "theme", "result-tab"]
    while "term" not in next(reached(1)):
        pass
    word = page.locator(":focus")
    meaning = page.locator(f"#{word.get_attribute('aria-describedby')}").text_content()
    assert meaning in "\n".join(window.tooltip)
    page.keyboard.press("Escape")
    assert window.tooltip == []
    page.evaluate("document.activeElement.blur()")
    word = page.locator("#result .term").first
    word.hover()
    assert meaning in "\n".join(window.tooltip)
    page.mouse.move(1, 1)
    assert window.tooltip == []
    page.locator("#samples-tab").click()
    stops = list(reached(9))
    assert stops[:4] == ["x-factor", "y-factor", "positions", "which-samples"]
    assert stops[8].startswith("sample ")  # after two kinds of files and the two classes of the legend
