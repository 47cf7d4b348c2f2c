"""The built site: its links lead somewhere, it fetches nothing, and its search finds things in a browser."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit

import pytest

WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 390, "height": 800}
WINDOWS = [(size, scheme) for size in (WIDE, NARROW) for scheme in ("light", "dark")]


class _Page(HTMLParser):
    """Links, what is loaded, and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.add(found.get("id"))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        self.loaded += [found[name] for name in ("src", "srcset") if found.get(name)]
        if tag == "link" and found.get("href"):
            self.loaded.append(found["href"])


@pytest.fixture(scope="module")
def pages(site):
    return {
        path.relative_to(site).as_posix(): _Page(path.read_text(encoding="utf-8"))
        for path in site.rglob("*.html")
        if "_static" not in path.parts
    }


def _outside(link):
    return urlsplit(link).scheme != "" or link.startswith("//")


def test_links_lead_somewhere(site, pages):
    dead = []
    for name, page in pages.items():
        for link in {*page.links, *page.loaded}:
            if _outside(link):
                continue
            there = urlsplit(urljoin(name, link) if not link.startswith("#") else name + link)
            path, anchor = unquote(there.path), unquote(there.fragment)
            lost = anchor and path in pages and anchor not in pages[path].anchors
            if lost or not (site / path).is_file():
                dead.append(f"{name}: {link}")
    assert len(pages) > 100
    assert dead == []


def test_nothing_is_loaded_from_elsewhere(site, pages):
    elsewhere = {link for page in pages.values() for link in page.loaded if _outside(link)}
    assert {link for link in elsewhere if not link.startswith("data:")} == set()
    styles = "\n".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:@import|url\()\s*['\"]?(?:https?:)?//", styles) == []


class _Window:
    """A page in the browser, what it asked for elsewhere and what went wrong in it."""

    def __init__(self, browser, address, size, scheme):
        self.context = browser.new_context(viewport=size, color_scheme=scheme)
        self.page, self.address, self.wrong = self.context.new_page(), address, []
        self.page.set_default_timeout(10_000)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.wrong.append(said.text))
        self.page.on("request", self._asked)

    def _asked(self, request):
        if not request.url.startswith((self.address, "data:")):
            self.wrong.append(request.url)

    def open(self, name):
        self.page.goto(self.address + name)
        return self.page


@pytest.fixture(params=WINDOWS, ids=lambda window: f"{window[0]['width']}-{window[1]}")
def window(request, browser, address):
    size, scheme = request.param
    opened = _Window(browser, address, size, scheme)
    opened.scheme = scheme
    yield opened
    opened.context.close()


@pytest.mark.parametrize(
    "word, found", [("certificate", "glossary.html"), ("SMFClassifierCV", "SMFClassifierCV")]
)
def test_the_search_finds(window, word, found):
    page = window.open("index.html")
    page.locator("button.search-button__button:visible, button.search-button:visible").first.click()
    box = page.locator(
        "dialog input[type=search]:visible, .search-button__search-container input:visible"
    )
    box.first.fill(word)
    box.first.press("Enter")
    page.wait_for_selector("#search-results li a")
    links = page.locator("#search-results li a").evaluate_all("all => all.map(a => a.href)")
    assert any(found in link for link in links)
    page.goto(next(link for link in links if found in link))
    assert page.locator("article h1").count() == 1
    assert window.wrong == []


@pytest.mark.parametrize(
    "name",
    [
        "index.html",
        "start.html",
        "benchmarks.html",
        "glossary.html",
        "api/generated/superfactor.SMFClassifier.html",
    ],
)
def test_pages_fit_and_can_be_read(window, name):
    page = window.open(name)
    assert page.evaluate(TOO_WIDE) == []
    assert page.locator("html").get_attribute("data-theme") == window.scheme
    assert page.evaluate(TOO_PALE) == []
    assert window.wrong == []


def test_keys_lead_to_content_and_search(browser, address):
    window = _Window(browser, address, WIDE, "light")
    page = window.open("start.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").strip() == "Skip to main content"
    page.keyboard.press("Control+k")
    page.wait_for_selector("dialog[open] input, .search-button__wrapper.show input")
    assert page.evaluate("document.activeElement.tagName") == "INPUT"
    window.context.close()


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
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll("main *")) {
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    const box = element.getBoundingClientRect();
    if (!own || !box.width || getComputedStyle(element).visibility === "hidden") continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(numbers(style.color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) poor.push(element.outerHTML.slice(0, 90) + " " + ratio.toFixed(2));
  }
  return poor;
}
"""
