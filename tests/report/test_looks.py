"""Looks in a real browser: tables show that they scroll, texts stand out, names of arrows stay apart."""

from itertools import combinations, product

import pytest
from sklearn.datasets import load_wine
from tests.report.conftest import KINDS, Case, scaled

NARROW = {"width": 390, "height": 800}

# Of each table of the open tab: where it is scrolled to, how far it can be, and the shadows at both sides.
TABLES = """() => [...document.querySelectorAll(".panel:not([hidden]) .sheet")].map((sheet) => {
  const table = sheet.querySelector(".scroll");
  const shadow = (side) => Number(getComputedStyle(sheet, side).opacity);
  const most = table.scrollWidth - table.clientWidth;
  return {at: table.scrollLeft, most, left: shadow("::before"), right: shadow("::after")};
})"""


@pytest.mark.parametrize("system", ["light", "dark"])
def test_tables_show_at_which_side_they_go_on(opened, system):
    window = opened("many", viewport=NARROW, color_scheme=system)
    wide = 0
    for tab in window.tabs:
        window.tab(tab)
        for share in (0, 0.5, 1):
            window.page.evaluate(
                """share => document.querySelectorAll(".scroll").forEach((table) => {
                  table.scrollLeft = share * (table.scrollWidth - table.clientWidth);
                })""",
                share,
            )
            window.page.evaluate(
                "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            for table in window.page.evaluate(TABLES):
                goes_on = (table["at"] > 1, table["at"] < table["most"] - 1)
                assert (table["left"], table["right"]) == goes_on
                wide += table["most"] > 1
    assert wide >= 3 * 4


def test_a_table_that_scrolls_is_reached_and_scrolled_by_keyboard(opened):
    window = opened("many", viewport=NARROW)
    window.tab("prediction")
    table = window.page.locator("#prediction .scroll").first
    table.focus()
    window.page.keyboard.press("Tab")
    window.page.keyboard.press("Shift+Tab")
    outline = table.evaluate("node => [document.activeElement === node, getComputedStyle(node).outlineStyle]")
    assert outline == [True, "solid"]
    window.page.keyboard.press("ArrowRight")
    for _ in range(50):  # scrolling is smooth
        if table.evaluate("node => node.scrollLeft"):
            break
        window.page.wait_for_timeout(20)
    assert table.evaluate("node => node.scrollLeft") > 0


# How many texts are seen, and those with a contrast below 4.5 to what is behind them.
FAINT = """() => {
  const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1});
  const pixel = canvas.getContext("2d", {willReadFrequently: true});
  const known = new Map();
  const parts = (colour) => {
    if (!known.has(colour)) {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = colour;
      pixel.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((c, i) => c * a + under[i] * (1 - a));
  const behind = (node) => parts(getComputedStyle(node).backgroundColor);
  const groundOf = (node) => (node ? over(behind(node), groundOf(node.parentElement)) : [255, 255, 255]);
  const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  let count = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility() || node.closest("script, style")) continue;
    const style = getComputedStyle(node);
    const ground = groundOf(node);
    const ink = over(parts(node.closest("svg") ? style.fill : style.color), ground);
    const [low, high] = [light(ink), light(ground)].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    count += 1;
    if (contrast < 4.5) found.push(`${contrast.toFixed(2)}: ${walker.currentNode.data.trim().slice(0, 40)}`);
  }
  return [count, found];
}"""


@pytest.mark.parametrize("system", ["light", "dark"])
@pytest.mark.parametrize("name", ["two_classes", "many", *KINDS])
def test_every_text_of_every_tab_stands_out(opened, name, system):
    window = opened(name, color_scheme=system)
    for tab in window.tabs:
        window.tab(tab)
        for button in window.page.query_selector_all(f"#{tab} .legend button")[:1]:
            button.click()  # a hidden class is still to be read
        count, faint = window.page.evaluate(FAINT)
        assert count > 10 and faint == [], tab
    window.page.evaluate("document.querySelector('footer').style.color = 'rgb(128 128 128 / 0.6)'")
    assert window.page.evaluate(FAINT)[1] != []


# Boxes of the names of arrows without their halo, and tips of the arrows, in pixels of the window.
ARROWS = """() => {
  const drawing = document.querySelector("[data-figure=biplot] > svg");
  const names = [...drawing.querySelectorAll(".note")].map((node) => node.getBoundingClientRect());
  const tips = [...drawing.querySelectorAll(".arrow .reach")].map((node) => {
    const at = node.getPointAtLength(node.getTotalLength()).matrixTransform(node.getScreenCTM());
    return [at.x, at.y];
  });
  return [names.map((box) => [box.left, box.top, box.right, box.bottom]), tips];
}"""


@pytest.mark.parametrize("width", [390, 768, 1400])
def test_names_of_arrows_cover_neither_each_other_nor_a_tip(opened, tmp_path_factory, width):
    wine = load_wine(as_frame=True)
    X, y = wine.data, wine.target_names[wine.target]
    path = tmp_path_factory.getbasetemp() / "wine.html"
    if not path.exists():
        Case(scaled(n_components=2, certify=None).fit(X, y), X, y).write(path, nearness=False)
    for page in (path, "many", "hostile"):
        window = opened(page, viewport={"width": width, "height": 800})
        window.tab("samples")
        window.page.select_option("#biplot-arrows", "20")
        names, tips = window.page.evaluate(ARROWS)
        assert len(tips) >= 10 and len(names) >= min(len(tips), 8)
        for (x0, y0, x1, y1), (u0, v0, u1, v1) in combinations(names, 2):
            # Lines of text have room above and below their letters.
            assert min(x1, u1) <= max(x0, u0) or min(y1, v1) - max(y0, v0) < 3
        for (x0, y0, x1, y1), (x, y) in product(names, tips):
            assert not (x0 < x < x1 and y0 + 2 < y < y1 - 2)
