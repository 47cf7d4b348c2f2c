"""The page in a real browser: it opens, draws, answers mouse and keyboard, and asks for nothing."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from tests.report.conftest import CASES, KINDS, nested_like, number

from superfactor.interpretation import factor_view, matched, unsupervised
from superfactor.report.page import render

WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 400, "height": 800}
FIGURES = ["result", "prediction", "factors", "samples", "features", "choice", "convergence"]


def labels_of(marks):
    return marks.evaluate_all("nodes => nodes.map((node) => node.getAttribute('aria-label'))")


def every_tab_opens(window, size):
    window.page.set_viewport_size(size)
    for tab in window.tabs:
        window.tab(tab)
        visible, drawings, fits = window.page.evaluate(
            """() => [
              [...document.querySelectorAll(".panel")].filter((p) => p.offsetHeight).map((p) => p.id),
              document.querySelectorAll(".panel:not([hidden]) .plot svg").length,
              document.documentElement.scrollWidth <= document.documentElement.clientWidth,
            ]"""
        )
        assert visible == [tab] and fits
        assert tab not in FIGURES or drawings > 0
    assert window.said == []
    assert window.requests == [window.page.url.partition("#")[0]]


@pytest.mark.parametrize("name", ["two_classes", "hostile", *KINDS])
def test_every_tab_opens_without_errors_requests_or_overflow(opened, name):
    every_tab_opens(opened(name), WIDE)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES + KINDS)
def test_every_tab_opens_at_four_sizes(opened, name):
    for width, height in ((320, 640), (400, 800), (1000, 700), (2000, 1200)):
        every_tab_opens(opened(name), {"width": width, "height": height})


# Texts of the open tab that are cut, without a tooltip on them, around them or in them.
CUT = """() => [...document.querySelectorAll(".panel:not([hidden]) :is(text, .legend li, td, th, .verdict)")]
  .filter((node) => node.textContent.includes("…") && !node.closest("[data-tip], [data-mark]"))
  .filter((node) => !node.querySelector("[data-tip]"))
  .map((node) => node.textContent)"""


def test_no_name_becomes_code_or_is_cut_without_a_tooltip(opened):
    window = opened("hostile", viewport=NARROW)
    page = window.page
    for tab in window.tabs:
        window.tab(tab)
        page.evaluate(
            """() => document.querySelectorAll(".panel:not([hidden]) [data-mark]").forEach((mark) => {
              mark.dispatchEvent(new PointerEvent("pointermove", {bubbles: true}));
            })"""
        )
        # Features of more than 200 letters are cut once, where the page is written.
        assert [text for text in page.evaluate(CUT) if len(text) < 190] == []
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('main img, main style, main script').length") == 0
    assert page.title() == "<script>window.hacked = 'title'</script>"
    assert window.said == []
    window.tab("features")
    names = page.locator("table.features tbody th").all_inner_texts()
    assert any(name.startswith("</script><img src=x onerror=") for name in names)
    assert "window.hacked = 'command'" in page.locator("#command").text_content()


def test_tabs_by_click_key_and_address(opened):
    page = opened("two_classes").page
    page.get_by_role("tab", name="Samples").click()
    assert page.locator("#samples").is_visible() and page.locator("#result").is_hidden()
    page.evaluate("location.hash = 'result'")
    page.locator("#result").wait_for()
    page.locator("[role=tab][aria-selected=true]").focus()
    for key, tab in [("ArrowRight", "prediction"), ("End", "glossary"), ("ArrowRight", "result"),
                     ("ArrowLeft", "glossary"), ("Home", "result")]:  # fmt: skip
        page.keyboard.press(key)
        assert page.locator("[role=tab][aria-selected=true]").get_attribute("aria-controls") == tab
        assert page.evaluate("document.activeElement.id") == f"{tab}-tab"
        assert page.locator(f"#{tab}").is_visible() and page.url.endswith(f"#{tab}")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main" and page.locator("#result").is_visible()


class TestFactors:
    def bars(self, page):
        return page.locator("#factors svg[aria-label^='Top features of Supervised'] [data-mark]")

    def test_mouse_and_keys_tell_correlation_weight_and_note(self, opened, two_classes):
        window = opened("two_classes")
        window.tab("factors")
        (marker,) = two_classes.options["markers"]
        window.page.locator(f"#factors [data-mark][aria-label^='{marker},']").first.hover()
        lines = window.tooltip
        assert lines[0] == marker and lines[-1] == "a known marker"
        assert re.match(r"correlation [+−][\d.]+ with the factor", lines[1])
        assert re.match(r"weight in the score [+−][\d.]+ of the largest", lines[2])
        window.page.mouse.move(5, 5)
        assert window.tooltip == []
        first, second = (self.bars(window.page).nth(k) for k in (0, 1))
        assert [first.get_attribute("tabindex"), second.get_attribute("tabindex")] == ["0", "-1"]
        first.focus()
        assert window.tooltip[0] in first.get_attribute("aria-label")
        window.page.keyboard.press("ArrowDown")
        assert window.tooltip[0] in second.get_attribute("aria-label")
        window.page.keyboard.press("Escape")
        assert window.tooltip == []

    def test_choices_change_what_is_drawn_and_svd_factors_have_their_own_number(self, opened, many):
        window = opened("many")
        page = window.page
        window.tab("factors")
        pairs = matched(factor_view(many.model), unsupervised(many.model, many.X, many.y))
        heads = page.locator("#factors .side:last-child > p").all_inner_texts()
        assert [head.split(" · ")[:2] for head in heads] == [
            [f"SVD factor {k}", f"similarity {alike:.2f}"]
            for k, alike in zip(pairs.number, pairs.similarity, strict=True)
        ]
        page.select_option("#factor", "4")
        assert page.locator("#factors .factor h3").all_inner_texts() == ["Factor 4"]
        assert self.bars(page).count() == 10
        page.select_option("#per-end", "10")
        assert self.bars(page).count() == 20
        page.select_option("#compare", "plain")
        assert self.bars(page).count() == 0
        title = page.locator("#factors .factor h3").inner_text()
        assert title == f"SVD factor {pairs.number[3]}, matched to factor 4"


class TestSamples:
    def test_axes_selection_and_arrows(self, opened, many):
        window, places = opened("many"), []
        page = window.page
        for tab, figure in [("result", "overview"), ("samples", "samples"), ("samples", "biplot")]:
            window.tab(tab)
            places.append(
                page.locator(f"[data-figure={figure}] > svg").evaluate(
                    """(drawing) => [...drawing.querySelectorAll(".sample, .ellipse")]
                      .map((node) => node.getAttribute("transform") ?? node.getAttribute("d"))"""
                )
            )
        assert places[0] == places[1] == places[2] and len(places[0]) == 160 + 10
        drawing = page.locator("[data-figure=samples] > svg")
        marks = drawing.locator("[data-mark]")
        before = marks.first.get_attribute("transform")
        page.select_option("#x-factor", value="6")
        page.select_option("#y-factor", "class")
        assert "factor 7 horizontal, one row per class" in drawing.get_attribute("aria-label")
        assert marks.first.get_attribute("transform") != before
        page.select_option("#which-samples", "1")
        assert marks.count() == len(many.X_test) and drawing.locator(".sample:not(.filled)").count() == 0
        page.select_option("#which-samples", "wrong")
        predicted = [*many.model.predict(many.X), *many.model.predict(many.X_test)]
        assert marks.count() == sum(a != b for a, b in zip(predicted, [*many.y, *many.y_test], strict=True))
        for select, value in (("arrows", "6"), ("x", "2"), ("y", "5")):
            page.select_option(f"#biplot-{select}", value)
        arrows, view = page.locator("[data-figure=biplot] .arrow"), factor_view(many.model)
        top = [view.features[i] for j in (2, 5) for i in np.argsort(-np.abs(view.correlations[j]))[:3]]
        names = [label.split(",")[0] for label in labels_of(arrows)]
        assert names == list(dict.fromkeys(top))
        arrows.first.focus()
        r = np.corrcoef(many.X[names[0]], view.scores_of(many.model.transform(many.X))[:, 2])[0, 1]
        said = f"correlation {'+' if r > 0 else '−'}{abs(r):.2f} with factor 3"
        assert said in "\n".join(window.tooltip)

    def test_tooltips_and_hidden_classes(self, opened, two_classes):
        window = opened("two_classes")
        window.tab("samples")
        marks = window.page.locator("[data-figure=samples] > svg [data-mark]")
        everyone = marks.count()
        window.page.locator("[data-figure=samples] .legend button").first.click()
        assert marks.count() == everyone // 2
        assert window.page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "false"
        window.page.keyboard.press("Enter")
        assert marks.count() == everyone
        window.page.select_option("#which-samples", "1")
        window.page.locator("[data-figure=samples] [data-mark][aria-label^='sample 61,']").focus()
        probabilities = two_classes.model.predict_proba(two_classes.X_test)[1]
        best = f"{probabilities.max():.3f}" if probabilities.max() < 0.9995 else "> 0.999"
        assert window.tooltip[:3] == [
            "sample 61",
            f"{two_classes.y_test[1]}, held out",
            f"predicted class {probabilities.argmax()}, probability {best}",
        ]


class TestSaving:
    def saved(self, window, figure, kind, path):
        with window.page.expect_download(timeout=20_000) as started:
            window.page.click(f"[data-save={kind}][data-of={figure}]")
        assert started.value.suggested_filename == f"{figure}.{kind}"
        started.value.save_as(path)
        return path

    def test_every_figure_is_an_svg_that_needs_nothing_else(self, opened, tmp_path):
        window = opened("hostile")
        for tab in window.tabs:
            window.tab(tab)
            for button in window.page.locator(f"#{tab} [data-save=svg]").all():
                figure = button.get_attribute("data-of")
                path = self.saved(window, figure, "svg", tmp_path / f"{figure}.svg")
                root = ElementTree.parse(path).getroot()
                assert float(root.get("width")) > 100 and float(root.get("height")) > 50
                nodes = list(root.iter())
                kinds = {"svg", "g", "path", "rect", "line", "circle", "text", "clipPath"}
                assert {node.tag.rpartition("}")[2] for node in nodes} <= kinds
                text = path.read_text(encoding="utf-8")
                assert not re.search(r"class=|style=|var\(|light-dark|color-mix|href|<script", text)
                drawn = window.page.locator(f"[data-figure={figure}] svg text").all_text_contents()
                assert set(drawn) <= {node.text for node in nodes}
        assert window.said == []

    def test_png_has_twice_the_size_and_the_colours_of_the_page(self, opened, tmp_path):
        window = opened("two_classes", color_scheme="dark")
        window.tab("prediction")
        svg = ElementTree.parse(self.saved(window, "roc", "svg", tmp_path / "a.svg")).getroot()
        pixels = np.asarray(Image.open(self.saved(window, "roc", "png", tmp_path / "a.png")))[..., :3]
        assert pixels.shape[:2] == (2 * int(svg.get("height")), 2 * int(svg.get("width")))
        assert pixels[0, 0].mean() < 50  # the dark ground
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 20  # something is drawn on it
        assert window.said == []


def test_heat_map_rows_tell_their_means_and_cells_their_sample(opened, two_classes):
    window = opened("two_classes")
    window.tab("features")
    rows, X = window.page.locator("[data-figure=heatmap] .row"), two_classes.X
    name = labels_of(rows)[0].split(",")[0]
    rows.first.focus()
    z = (X[name] - X[name].mean()) / X[name].std(ddof=0)
    for c, line in zip(("class 0", "class 1"), window.tooltip[1:], strict=True):
        mean = f"{z[two_classes.y == c].mean():.2f}".replace("-", "−")
        assert line == f"mean of {c}: {mean} s.d."
    box = rows.first.locator(".frame").bounding_box()
    window.page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
    feature, sample, value = window.tooltip
    assert feature == name
    level = number(re.search(r"[−\d.]+", value)[0])
    assert level == pytest.approx(np.clip(z[sample.split(",")[0]], -3, 3), abs=3 / 8 / 2 + 0.05)


@pytest.mark.parametrize("grade", ["better", "not shown", "worse"])
def test_the_verdict_has_the_colour_of_its_grade_and_optimality_has_none(
    opened, two_classes, tmp_path, grade
):
    path = tmp_path / "page.html"
    path.write_text(render(replace(two_classes.facts, nested=nested_like(grade))), encoding="utf-8")
    page = opened(path, color_scheme="light").page
    box = page.locator(".verdict")
    assert box.locator(".headline").inner_text() == f"This is {grade}."
    assert "Another <b>one</b>." in box.inner_text() and "Try this." in box.inner_text()

    def rgb(node):
        return [int(v) for v in re.findall(r"\d+", node.evaluate("node => getComputedStyle(node).color"))[:3]]

    red, green, blue = rgb(box.locator(".headline"))
    assert {"better": green > red, "not shown": red > green > blue, "worse": red > 2 * green}[grade]
    proof = rgb(page.locator(".proof .badge"))
    assert max(proof) - min(proof) < 30  # grey
    cell = page.locator("table.nested tr", has_text="Balanced accuracy").first.locator("td").first
    assert cell.inner_text().split("\n") == ["91.0 %", "86.0 % to 96.0 %"]
    assert page.locator(".card").count() == 0


def test_other_choices(opened):
    window = opened("two_classes")
    page = window.page
    window.tab("choice")
    surface = page.locator("[data-figure=surface] svg")
    assert surface.locator(".pick").count() == 1
    before, options = surface.get_attribute("aria-label"), page.locator("#surface option").count()
    assert options == 4
    page.select_option("#surface", str((int(page.locator("#surface").input_value()) + 1) % options))
    assert surface.get_attribute("aria-label") != before and surface.locator(".pick").count() == 0
    window.tab("convergence")
    curve = page.locator("[data-figure=convergence] .curve")
    before = curve.get_attribute("d")
    page.select_option("#time-axis", "seconds")
    assert curve.get_attribute("d") != before
    page.select_option("#loss-axis", "excess")
    assert "excess" in page.locator("[data-figure=convergence] svg").get_attribute("aria-label")
    assert window.said == []


class TestTables:
    TOOLS = "[data-tools=top-table]"

    def test_columns_sort_and_search_narrows(self, opened):
        window = opened("two_classes")
        page = window.page
        window.tab("features")

        def column(k):
            cells = page.locator(f"#effects-table tbody tr:visible td:nth-child({k})").all_text_contents()
            return [number(text) for text in cells]

        for reverse in (False, True):
            page.locator("#effects-table [aria-label='Sort by AUC']").click()
            assert column(5) == sorted(column(5), reverse=reverse)
        page.fill("#search-effects-table", "gene 1")
        few = column(5)
        assert 0 < len(few) < 40 and few == sorted(few, reverse=True)
        rows = page.locator("table.features tbody tr:visible")
        everything = rows.count()
        page.fill("#search-top-table", "GENE 1 high")
        assert 0 < rows.count() < everything
        assert all("1" in text and "high" in text for text in rows.all_inner_texts())
        assert page.inner_text(f"{self.TOOLS} [role=status]") == f"{rows.count()} of {everything} rows"
        assert window.said == []

    def test_the_download_is_what_is_shown(self, opened, tmp_path):
        window = opened("hostile")
        window.tab("features")
        window.page.fill("#search-top-table", "low")
        with window.page.expect_download() as started:
            window.page.click(f"{self.TOOLS} [data-csv=download]")
        started.value.save_as(tmp_path / "top.csv")
        table = pd.read_csv(tmp_path / "top.csv", keep_default_na=False)
        assert (table["Correlation"] < 0).all() and table["Weight"].dtype == float
        assert list(table["Opposite signs"] == "†") == list(table["Weight"] > 0)
        shown = window.page.locator("table.features tbody tr:visible th").all_text_contents()
        # An apostrophe before what a spreadsheet would compute keeps it text.
        assert list(table["Feature"].str.replace(r"^'(?=[=+@-])", "", regex=True)) == shown
        assert all(url.startswith("blob:") for url in window.requests[1:])

    def test_copying(self, opened):
        window = opened("two_classes", permissions=["clipboard-read", "clipboard-write"])
        buttons = ("data-csv=copy", "data-copy=command", "data-copy=paragraph")
        for tab, button in zip(("features", "reproduce", "paper"), buttons, strict=True):
            window.tab(tab)
            window.page.locator(f"#{tab} [{button}]").last.click()
            window.page.locator(f"#{tab} [role=status]", has_text="copied").wait_for()
            copied = window.page.evaluate("navigator.clipboard.readText()")
            if tab == "features":
                assert copied.startswith("Feature,Factor,End,Rank,")
            else:
                shown = window.page.locator("#command" if tab == "reproduce" else "#paragraph")
                assert copied == shown.inner_text()


@pytest.mark.parametrize("system", ["light", "dark"])
def test_colours_follow_the_system_and_the_button(opened, system):
    page = opened("two_classes", color_scheme=system).page

    def ground():
        numbers = re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))
        return "dark" if sum(map(int, numbers[:3])) < 3 * 128 else "light"

    other = {"light": "dark", "dark": "light"}[system]
    assert ground() == system
    page.get_by_role("button", name=f"{other.capitalize()} colours").click()
    assert ground() == other


def test_figures_follow_the_width_and_paper_shows_everything(opened, tmp_path):
    window = opened("two_classes", color_scheme="dark")
    page = window.page
    window.tab("samples")
    drawing = page.locator("[data-figure=samples] > svg")
    wide = int(drawing.get_attribute("width"))
    page.set_viewport_size(NARROW)
    # Waiting for an expression would need eval, which the page forbids.
    page.locator(f"[data-figure=samples] > svg:not([width='{wide}'])").wait_for()
    assert drawing.bounding_box()["width"] <= NARROW["width"]
    page.emulate_media(media="print")
    page.locator("[data-figure=samples] > svg[width='680']").wait_for()
    assert page.locator(".panel:visible h2").count() == len(window.tabs)
    assert page.locator("button:visible:not(.legend button), select:visible, #tabs:visible").count() == 0
    widths = page.locator(".plot svg:not([aria-hidden])").evaluate_all(
        "nodes => nodes.map((node) => node.getBoundingClientRect().width)"
    )
    assert min(widths) > 100
    # Light, whatever the system says.
    assert page.evaluate("getComputedStyle(document.querySelector('h2')).color") == "rgb(28, 34, 40)"
    page.emulate_media(media="screen")
    assert page.locator(".panel:visible").count() == 1
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert (tmp_path / "page.pdf").stat().st_size > 50_000


@pytest.mark.parametrize("name", ["two_classes", "training_only"])
def test_without_scripts_the_numbers_are_there(opened, name, request):
    case = request.getfixturevalue(name)
    window = opened(name, viewport=NARROW, java_script_enabled=False)
    page = window.page
    assert page.locator(".panel:visible").count() == len(window.tabs)
    X, y = (case.X, case.y) if case.X_test is None else (case.X_test, case.y_test)
    assert f"{100 * case.model.score(X, y):.1f} %" in page.locator(".card strong").all_inner_texts()
    first = "Training" if case.X_test is None else "Held-out"
    assert page.locator(".card dt").first.inner_text() == f"{first} balanced accuracy"
    assert page.locator(".certificate .badge").is_visible()
    assert page.locator("table.features tbody tr").count() > 10
    assert page.locator("button:visible, select:visible, input:visible").count() == 0
    assert page.locator("noscript p").is_visible()
    assert window.requests == [page.url]
