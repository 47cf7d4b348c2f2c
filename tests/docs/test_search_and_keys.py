"""The built site in a browser: its search finds things, and it can be used without a mouse."""

import pytest

pytestmark = pytest.mark.slow
LOOKS = [(1400, "light"), (1400, "dark"), (390, "dark"), (390, "light")]
# A word of the pages and a name of the reference, and where they lead.
WORDS = [("certificate", "glossary.html"), ("SMFClassifierCV", "SMFClassifierCV")]


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look[0]}-{look[1]}")
def test_the_search_finds(window, look):
    word, found = WORDS[LOOKS.index(look) % 2]
    page = window.open("index.html")
    window.look(*look)
    page.locator("button.search-button__button:visible, button.search-button:visible").first.click()
    box = page.locator("dialog input[type=search]:visible, .search-button__search-container input:visible")
    box.first.fill(word)
    box.first.press("Enter")
    page.locator(f"#search-results li a[href*='{found}']").first.click()
    page.wait_for_url(f"**/*{found}*")
    assert page.locator("article h1").count() == 1
    assert window.wrong == []


@pytest.mark.parametrize("name", ["start.html", "tutorials/single_cells.html", "gallery/index.html"])
def test_keys_lead_everywhere(window, name):
    page = window.open(name)
    window.look(1400, "light")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").strip() == "Skip to main content"
    page.keyboard.press("Enter")
    count = page.evaluate(WATCH)
    for _ in range(count):
        page.keyboard.press("Tab")
    left, unseen = page.evaluate("[keys.left(), keys.unseen]")
    assert count > 2
    assert left == [], "no key leads there"
    assert unseen == [], "it does not show that the keys are there"


def test_a_key_opens_the_search(window):
    page = window.open("start.html")
    window.look(1400, "light")
    page.keyboard.press("Control+k")
    page.wait_for_selector("dialog[open] input, .search-button__wrapper.show input")
    assert page.evaluate("document.activeElement.tagName") == "INPUT"
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog[open]", state="detached")


# From now on notes where the focus goes. Returns how many places there are after the skipped part.
WATCH = """
() => {
  const places = [...document.querySelectorAll("main :is(a[href], button, input, [tabindex='0'])")]
    .filter(element => element.tabIndex >= 0 && element.checkVisibility({visibilityProperty: true}));
  const told = element => element.outerHTML.slice(0, 90);
  const reached = new Set();
  const missed = place => place.tabIndex >= 0 && !reached.has(place);
  window.keys = {unseen: [], left: () => places.filter(missed).map(told)};
  document.addEventListener("focusin", ({target}) => {
    reached.add(target);
    const {outlineStyle, boxShadow} = getComputedStyle(target);
    if (outlineStyle === "none" && boxShadow === "none") keys.unseen.push(told(target));
  });
  return places.length;
}
"""
