"""Pages of the built site in a browser: fitting the window, to be read in light and dark."""

import pytest

pytestmark = pytest.mark.slow
LOOKS = [(1400, "light"), (390, "dark")]


def _written(site):
    return [*site.glob("*.html"), *site.glob("site/*.html")]


def _run(site):
    gallery = site.glob("gallery/*/*.html")
    return [*site.glob("tutorials/*.html"), site / "gallery" / "index.html", *_longest(gallery)]


def _reference(site):
    return _longest([*site.glob("api/generated/*.html"), *site.glob("api/*.html")])


def _longest(pages):
    """One template made them all, so that the longest have what can go wrong."""
    return sorted(pages, key=lambda path: path.stat().st_size)[-6:]


def _faults(window, name):
    page = window.open(name)
    faults = []
    for width, scheme in LOOKS:
        window.look(width, scheme)
        for fault, script in {"too wide": TOO_WIDE, "too pale": TOO_PALE}.items():
            faults += [f"{width} {scheme}, {fault}: {element}" for element in page.evaluate(script)]
    return [*faults, *window.wrong]


@pytest.mark.parametrize("some", [_written, _run, _reference])
def test_pages_fit_and_can_be_read(some, window, site):
    names = sorted(path.relative_to(site).as_posix() for path in some(site))
    assert len(names) > 1
    assert {name: faults for name in names if (faults := _faults(window, name))} == {}


# What sticks out of the window, and is in no box that scrolls.
TOO_WIDE = """
() => {
  const scrolls = element => {
    for (let at = element; at && at.tagName !== "ARTICLE"; at = at.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(at).overflowX)) return true;
    return false;
  };
  return [...document.querySelectorAll("article *")]
    .filter(element => element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element))
    .map(element => element.outerHTML.slice(0, 90));
}
"""

# Text of less than 4.5 to 1 against what is behind it (WCAG AA; 3 to 1 for large text).
TOO_PALE = """
() => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const known = new Map();
  const behind = element => {
    if (!element) return [255, 255, 255];
    if (!known.has(element)) {
      const colour = numbers(getComputedStyle(element).backgroundColor);
      known.set(element, colour.length < 4 || colour[3] === 1 ? colour : behind(element.parentElement));
    }
    return known.get(element);
  };
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const elements = new Set();
  while (texts.nextNode())
    if (texts.currentNode.data.trim()) elements.add(texts.currentNode.parentElement);
  const poor = [];
  for (const element of elements) {
    const style = getComputedStyle(element);
    if (!element.getBoundingClientRect().width || style.visibility === "hidden") continue;
    const [a, b] = [light(numbers(style.color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) poor.push(element.outerHTML.slice(0, 90) + " " + ratio.toFixed(2));
  }
  return poor;
}
"""
