"""The page in a real browser: it opens, draws, answers mouse and keyboard, and asks for nothing."""

import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib import image as matplotlib_image
from tests.report.conftest import CASES, nested_like

from superfactor.interpretation import factor_view, matched, unsupervised

NARROW, WIDE = {"width": 400, "height": 800}, {"width": 1400, "height": 900}
FIGURES = ["result", "prediction", "factors", "samples", "features", "choice", "convergence"]


def tabs_of(opened):
    return [link.get_attribute("href")[1:] for link in opened.page.query_selector_all("#tabs a")]


def tooltip(opened):
    node = opened.page.locator("#tooltip")
    return node.inner_text() if node.is_visible() else None


@pytest.mark.parametrize("name", CASES)
def test_every_tab_opens_without_a_word_or_a_request_and_nothing_sticks_out(opened, name):
    page = opened(name, viewport=WIDE)
    for size in (WIDE, NARROW):
        page.page.set_viewport_size(size)
        for tab in tabs_of(page):
            page.tab(tab)
            visible, drawings, fits = page.page.evaluate(
                """() => [
                  [...document.querySelectorAll(".panel")].filter((p) => p.offsetHeight).map((p) => p.id),
                  document.querySelectorAll(".panel:not([hidden]) .plot svg").length,
                  document.documentElement.scrollWidth <= document.documentElement.clientWidth,
                ]"""
            )
            assert visible == [tab] and fits
            assert tab not in FIGURES or drawings > 0
    assert page.said == []
    assert page.requests == [page.page.url.partition("#")[0]]


def test_no_name_becomes_code(opened):
    page = opened("hostile", viewport=WIDE)
    for tab in tabs_of(page):
        page.tab(tab)
        page.page.evaluate(
            """() => document.querySelectorAll(".panel:not([hidden]) [data-mark]").forEach((mark) => {
              mark.dispatchEvent(new PointerEvent("pointermove", {bubbles: true}));
            })"""
        )
    assert page.page.evaluate("window.hacked") is None
    assert page.page.evaluate("document.querySelectorAll('main img, main style, main script').length") == 0
    assert page.page.title() == "<script>window.hacked = 'title'</script>"
    assert page.said == []
    page.tab("features")
    names = page.page.locator("table.features tbody th").all_inner_texts()
    assert any(name.startswith("</script><img src=x onerror=") for name in names)
    assert "window.hacked = 'command'" in page.page.locator("#command").text_content()


class TestTabs:
    def test_a_click_opens(self, opened):
        page = opened("two_classes", viewport=WIDE)
        page.page.get_by_role("tab", name="Samples").click()
        assert page.page.locator("#samples").is_visible()
        assert page.page.locator("#result").is_hidden()

    def test_keys_move_and_the_address_remembers(self, opened):
        page = opened("two_classes", viewport=WIDE)
        page.page.locator("[role=tab][aria-selected=true]").focus()
        for key, tab in [
            ("ArrowRight", "prediction"),
            ("ArrowRight", "factors"),
            ("ArrowLeft", "prediction"),
            ("End", "glossary"),
            ("ArrowRight", "result"),
            ("ArrowLeft", "glossary"),
            ("Home", "result"),
        ]:
            page.page.keyboard.press(key)
            chosen = page.page.locator("[role=tab][aria-selected=true]")
            assert chosen.get_attribute("aria-controls") == tab
            assert page.page.evaluate("document.activeElement.id") == f"{tab}-tab"
            assert page.page.locator(f"#{tab}").is_visible()
            assert page.page.url.endswith(f"#{tab}")

    def test_an_address_opens_its_tab(self, opened):
        page = opened("two_classes", viewport=WIDE)
        page.page.evaluate("location.hash = 'samples'")
        page.page.locator("#samples").wait_for()
        assert page.page.locator("#result").is_hidden()

    def test_the_skip_link_skips_and_keeps_the_tab(self, opened):
        page = opened("two_classes", viewport=WIDE)
        page.tab("choice")
        page.page.evaluate("document.activeElement.blur()")
        page.page.locator(".skip").focus()
        page.page.keyboard.press("Enter")
        assert page.page.evaluate("document.activeElement.id") == "main"
        assert page.page.locator("#choice").is_visible()


class TestFactors:
    def bars(self, page):
        return page.page.locator("#factors svg[aria-label^='Top features of Supervised'] [data-mark]")

    def test_hovering_tells_correlation_weight_and_note(self, opened, two_classes):
        page = opened("two_classes", viewport=WIDE)
        page.tab("factors")
        (marker,) = two_classes.told["markers"]
        bar = page.page.locator(f"#factors [data-mark][aria-label^='{marker},']").first
        bar.hover()
        lines = tooltip(page).split("\n")
        assert lines[0] == marker and lines[-1] == "a known marker"
        assert re.match(r"correlation [+−][\d.]+ with the factor", lines[1])
        assert re.match(r"weight in the score [+−][\d.]+ of the largest", lines[2])
        page.page.mouse.move(5, 5)
        assert tooltip(page) is None

    def test_arrow_keys_walk_through_the_bars(self, opened):
        page = opened("two_classes", viewport=WIDE)
        page.tab("factors")
        first, second = self.bars(page).nth(0), self.bars(page).nth(1)
        assert [first.get_attribute("tabindex"), second.get_attribute("tabindex")] == ["0", "-1"]
        first.focus()
        assert tooltip(page).split("\n")[0] in first.get_attribute("aria-label")
        page.page.keyboard.press("ArrowDown")
        assert tooltip(page).split("\n")[0] in second.get_attribute("aria-label")
        assert second.evaluate("node => node === document.activeElement")
        page.page.keyboard.press("Escape")
        assert tooltip(page) is None

    def test_choices_change_what_is_drawn(self, opened):
        page = opened("many", viewport=WIDE)
        page.tab("factors")
        assert page.page.locator("#factors .factor").count() == 20
        page.page.select_option("#factor", "4")
        assert page.page.locator("#factors .factor h3").all_inner_texts() == ["Factor 4"]
        assert self.bars(page).count() == 10
        page.page.select_option("#per-end", "10")
        assert self.bars(page).count() == 20
        page.page.select_option("#compare", "plain")
        assert self.bars(page).count() == 0
        assert page.page.locator("#factors .side").count() == 1

    def test_svd_factors_are_called_by_their_own_number(self, opened, many):
        page = opened("many", viewport=WIDE)
        page.tab("factors")
        pairs = matched(factor_view(many.model), unsupervised(many.model, many.X, many.y))
        heads = page.page.locator("#factors .side:last-child > p").all_inner_texts()
        assert [head.split(" · ")[:2] for head in heads] == [
            [f"SVD factor {number}", f"similarity {alike:.2f}"]
            for number, alike in zip(pairs.number, pairs.similarity, strict=True)
        ]
        page.page.select_option("#factor", "3")
        page.page.select_option("#compare", "plain")
        title = page.page.locator("#factors .factor h3").inner_text()
        assert title == f"SVD factor {pairs.number[2]}, beside factor 3"


class TestSamples:
    def test_axes_and_selection(self, opened, many):
        page = opened("many", viewport=WIDE)
        page.tab("samples")
        marks = page.page.locator("[data-figure=samples] > svg [data-mark]")
        assert marks.count() == 160
        label = page.page.locator("[data-figure=samples] > svg")
        before = marks.first.get_attribute("transform")
        page.page.select_option("#x-factor", value="6")
        page.page.select_option("#y-factor", "class")
        assert "factor 7 across, one row a class" in label.get_attribute("aria-label")
        assert marks.first.get_attribute("transform") != before
        page.page.select_option("#which-samples", "1")
        assert marks.count() == len(many.X_test)
        assert page.page.locator("[data-figure=samples] > svg .sample:not(.filled)").count() == 0
        page.page.select_option("#which-samples", "wrong")
        predicted = [*many.model.predict(many.X), *many.model.predict(many.X_test)]
        assert marks.count() == sum(a != b for a, b in zip(predicted, [*many.y, *many.y_test], strict=True))

    def test_hovering_tells_who_and_how_sure(self, opened, two_classes):
        page = opened("two_classes", viewport=WIDE)
        page.tab("samples")
        page.page.select_option("#which-samples", "1")
        page.page.locator("[data-figure=samples] [data-mark][aria-label^='sample 61,']").focus()
        lines = tooltip(page).split("\n")
        probabilities = two_classes.model.predict_proba(two_classes.X_test)[1]
        assert lines[:2] == ["sample 61", f"{two_classes.y_test[1]}, held out"]
        best = f"{probabilities.max():.3f}" if probabilities.max() < 0.9995 else "> 0.999"
        assert lines[2] == f"predicted class {probabilities.argmax()}, probability {best}"

    def test_classes_can_be_hidden(self, opened):
        page = opened("two_classes", viewport=WIDE)
        page.tab("samples")
        marks = page.page.locator("[data-figure=samples] > svg [data-mark]")
        everyone = marks.count()
        page.page.locator("[data-figure=samples] .legend button").first.click()
        assert marks.count() == everyone // 2
        assert page.page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "false"
        page.page.keyboard.press("Enter")
        assert marks.count() == everyone


class TestSaving:
    def saved(self, page, figure, kind, path):
        with page.page.expect_download(timeout=20_000) as started:
            page.page.click(f"[data-save={kind}][data-of={figure}]")
        assert started.value.suggested_filename == f"{figure}.{kind}"
        started.value.save_as(path)
        return path

    @pytest.mark.parametrize("name", ["two_classes", "hostile"])
    def test_every_figure_is_an_svg_that_needs_nothing_else(self, opened, tmp_path, name):
        page = opened(name, viewport=WIDE)
        for tab in tabs_of(page):
            page.tab(tab)
            for button in page.page.locator(f"#{tab} [data-save=svg]").all():
                figure = button.get_attribute("data-of")
                path = self.saved(page, figure, "svg", tmp_path / f"{figure}.svg")
                root = ElementTree.parse(path).getroot()
                assert float(root.get("width")) > 100 and float(root.get("height")) > 50
                nodes = list(root.iter())
                assert {node.tag.rpartition("}")[2] for node in nodes} <= {
                    "svg", "g", "path", "rect", "line", "circle", "text", "clipPath",
                }  # fmt: skip
                text = path.read_text(encoding="utf-8")
                assert not re.search(r"class=|style=|var\(|light-dark|color-mix|href|<script", text)
                drawn = page.page.locator(f"[data-figure={figure}] svg text").all_text_contents()
                assert set(drawn) <= {node.text for node in nodes}
        assert page.said == []

    @pytest.mark.parametrize("figure", ["overview", "roc"])
    def test_png_has_twice_the_size_and_the_colours_of_the_page(self, opened, tmp_path, figure):
        page = opened("two_classes", viewport=WIDE, color_scheme="dark")
        page.tab({"overview": "result", "roc": "prediction"}[figure])
        svg = ElementTree.parse(self.saved(page, figure, "svg", tmp_path / "a.svg")).getroot()
        path = self.saved(page, figure, "png", tmp_path / "a.png")
        data = path.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        size = [int.from_bytes(data[i : i + 4], "big") for i in (16, 20)]
        assert size == [2 * int(svg.get(side)) for side in ("width", "height")]
        pixels = matplotlib_image.imread(path)[..., :3]
        assert pixels[0, 0].mean() < 0.2  # the dark ground
        colours = {tuple(c) for c in np.rint(pixels.reshape(-1, 3) * 255).astype(int).tolist()}
        assert len(colours) > 20  # something is drawn on it
        assert page.said == []


class TestBiplot:
    def test_arrows_are_the_top_features_of_the_two_factors(self, opened, many):
        page = opened("many", viewport=WIDE)
        page.tab("samples")
        arrows = page.page.locator("[data-figure=biplot] .arrow")
        page.page.select_option("#biplot-arrows", "6")
        page.page.select_option("#biplot-x", "2")
        page.page.select_option("#biplot-y", "5")
        view = factor_view(many.model)
        expected = [view.features[i] for j in (2, 5) for i in np.argsort(-np.abs(view.correlations[j]))[:3]]
        names = [label.split(",")[0] for label in labels_of(arrows)]
        assert names == list(dict.fromkeys(expected))
        arrows.first.focus()
        scores = view.scores_of(many.model.transform(many.X))
        r = np.corrcoef(many.X[names[0]], scores[:, 2])[0, 1]
        shown = f"correlation {'+' if r > 0 else '−'}{abs(r):.2f} with factor 3"
        assert shown in tooltip(page)

    def test_samples_lie_where_they_lie_in_the_other_pictures(self, opened):
        page = opened("many", viewport=WIDE)
        places = []
        for tab, figure in [("result", "overview"), ("samples", "samples"), ("samples", "biplot")]:
            page.tab(tab)
            places.append(
                page.page.locator(f"[data-figure={figure}] > svg").evaluate(
                    """(drawing) => [...drawing.querySelectorAll(".sample, .ellipse")]
                      .map((node) => node.getAttribute("transform") ?? node.getAttribute("d"))"""
                )
            )
        assert places[0] == places[1] == places[2]
        assert len(places[0]) == 160 + 10


def labels_of(marks):
    return marks.evaluate_all("nodes => nodes.map((node) => node.getAttribute('aria-label'))")


class TestHeatMap:
    def test_rows_tell_their_means_and_cells_their_sample(self, opened, two_classes):
        page = opened("two_classes", viewport=WIDE)
        page.tab("features")
        rows = page.page.locator("[data-figure=heatmap] .row")
        X = two_classes.X
        name = labels_of(rows)[0].split(",")[0]
        rows.first.focus()
        lines = tooltip(page).split("\n")
        z = (X[name] - X[name].mean()) / X[name].std(ddof=0)
        for c, line in zip(("class 0", "class 1"), lines[1:], strict=True):
            mean = f"{z[two_classes.y == c].mean():.2f}".replace("-", "−")
            assert line == f"mean of {c}: {mean} s.d."
        frame = rows.first.locator(".frame")
        box = frame.bounding_box()
        page.page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
        feature, sample, value = tooltip(page).split("\n")
        who = sample.split(",")[0]
        assert feature == name and who in X.index
        level = float(re.search(r"[−\d.]+", value)[0].replace("−", "-"))
        assert level == pytest.approx(np.clip(z[who], -3, 3), abs=3 / 8 / 2 + 0.05)

    def test_every_class_can_be_told_in_the_strip(self, opened):
        page = opened("many", viewport=WIDE)
        page.tab("features")
        signs = page.page.locator("[data-figure=heatmap] .legend svg").evaluate_all(
            "nodes => nodes.map((n) => n.getAttribute('class') + n.firstChild.getAttribute('height'))"
        )
        assert len(set(signs)) == 10


# Texts of the open tab that are cut, without a tooltip on them, around them or in them.
CUT = """() => [...document.querySelectorAll(".panel:not([hidden]) :is(text, .legend li, td, th, .verdict)")]
  .filter((node) => node.textContent.includes("…") && !node.closest("[data-tip], [data-mark]"))
  .filter((node) => !node.querySelector("[data-tip]"))
  .map((node) => node.textContent)"""


def test_long_names_are_never_cut_without_a_tooltip(opened):
    page = opened("hostile", viewport=NARROW)
    for tab in tabs_of(page):
        page.tab(tab)
        # Features of more than 200 letters are cut once, where the page is written.
        assert [text for text in page.page.evaluate(CUT) if len(text) < 190] == []


@pytest.mark.parametrize("grade", ["better", "not shown", "worse"])
def test_the_verdict_has_the_colour_of_its_grade_and_optimality_has_none(
    browser, two_classes, tmp_path, grade
):
    path = two_classes.write(tmp_path / "page.html", nested=nested_like(grade))
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    page.goto(path.as_uri())
    box = page.locator(".verdict")
    assert box.locator(".headline").inner_text() == f"This is {grade}."
    assert "Another <b>one</b>." in box.inner_text() and "Try this." in box.inner_text()

    def rgb(node, name):
        style = node.evaluate(f"node => getComputedStyle(node).{name}")
        return [int(v) for v in re.findall(r"\d+", style)[:3]]

    red, green, blue = rgb(box.locator(".headline"), "color")
    assert {"better": green > red, "not shown": red > green > blue, "worse": red > 2 * green}[grade]
    proof = rgb(page.locator(".proof .badge"), "color")
    assert max(proof) - min(proof) < 30  # grey
    cell = page.locator("table.nested tr", has_text="Balanced accuracy").first.locator("td").first
    assert cell.inner_text().split("\n") == ["91.0 %", "86.0 % to 96.0 %"]
    assert page.locator(".card").count() == 0
    context.close()


def test_other_choices(opened):
    page = opened("two_classes", viewport=WIDE)
    page.tab("choice")
    surface = page.page.locator("[data-figure=surface] svg")
    assert surface.locator(".pick").count() == 1
    before = surface.get_attribute("aria-label")
    options = page.page.locator("#surface option").count()
    assert options == 4
    chosen = page.page.locator("#surface").input_value()
    page.page.select_option("#surface", str((int(chosen) + 1) % options))
    assert surface.get_attribute("aria-label") != before
    assert surface.locator(".pick").count() == 0
    page.tab("convergence")
    curve = page.page.locator("[data-figure=convergence] .curve")
    before = curve.get_attribute("d")
    page.page.select_option("#time-axis", "seconds")
    assert curve.get_attribute("d") != before
    page.page.select_option("#loss-axis", "excess")
    assert "excess" in page.page.locator("[data-figure=convergence] svg").get_attribute("aria-label")
    assert page.said == []


TOOLS = "[data-tools=top-table]"
STATUS = f"{TOOLS} [role=status]"


class TestFeatures:
    def test_search_narrows_the_table(self, opened):
        page = opened("two_classes", viewport=WIDE)
        page.tab("features")
        rows = page.page.locator("table.features tbody tr:visible")
        everything = rows.count()
        page.page.fill("#search-top-table", "GENE 1 high")
        assert 0 < rows.count() < everything
        assert all("1" in text and "high" in text for text in rows.all_inner_texts())
        assert page.page.inner_text(STATUS) == f"{rows.count()} of {everything} rows"

    def test_the_download_is_what_is_shown(self, opened, tmp_path):
        page = opened("hostile", viewport=WIDE)
        page.tab("features")
        page.page.fill("#search-top-table", "low")
        with page.page.expect_download() as started:
            page.page.click(f"{TOOLS} [data-csv=download]")
        started.value.save_as(tmp_path / "top.csv")
        table = pd.read_csv(tmp_path / "top.csv", keep_default_na=False)
        assert len(table) == page.page.locator("table.features tbody tr:visible").count()
        assert (table["Correlation"] < 0).all() and table["Weight"].dtype == float
        assert list(table["Disagree"] == "†") == list(table["Weight"] > 0)
        shown = page.page.locator("table.features tbody tr:visible th").all_text_contents()
        assert list(table["Feature"]) == shown
        assert page.requests[1:] == [] or all(url.startswith("blob:") for url in page.requests[1:])

    def test_copying(self, opened):
        page = opened("two_classes", viewport=WIDE, permissions=["clipboard-read", "clipboard-write"])
        page.tab("features")
        page.page.click(f"{TOOLS} [data-csv=copy]")
        page.page.locator(STATUS, has_text="copied").wait_for()
        copied = page.page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("Feature,Factor,End,Rank,")
        page.tab("reproduce")
        page.page.click("[data-copy=command]")
        page.page.locator("#reproduce [role=status]", has_text="copied").wait_for()
        copied = page.page.evaluate("navigator.clipboard.readText()")
        assert copied == "superfactor fit table.csv --target kind"
        page.tab("paper")
        page.page.click("[data-copy=paragraph]")
        page.page.locator("#paper [role=status]", has_text="copied").wait_for()
        copied = page.page.evaluate("navigator.clipboard.readText()")
        assert copied == page.page.locator("#paragraph").inner_text()


@pytest.mark.parametrize("system", ["light", "dark"])
def test_colours_follow_the_system_and_the_button(opened, system):
    page = opened("two_classes", viewport=WIDE, color_scheme=system)

    def ground():
        numbers = re.findall(r"\d+", page.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        return "dark" if sum(map(int, numbers[:3])) < 3 * 128 else "light"

    other = {"light": "dark", "dark": "light"}[system]
    assert ground() == system
    page.page.get_by_role("button", name=f"{other.capitalize()} colours").click()
    assert ground() == other
    page.page.get_by_role("button", name=f"{system.capitalize()} colours").click()
    assert ground() == system


def test_figures_follow_the_width(opened):
    page = opened("two_classes", viewport=WIDE)
    page.tab("samples")
    drawing = page.page.locator("[data-figure=samples] > svg")
    wide = int(drawing.get_attribute("width"))
    page.page.set_viewport_size(NARROW)
    # Waiting for an expression would need eval, which the page forbids.
    page.page.locator(f"[data-figure=samples] > svg:not([width='{wide}'])").wait_for()
    assert int(drawing.get_attribute("width")) < wide
    assert drawing.bounding_box()["width"] <= NARROW["width"]


@pytest.mark.parametrize("name", ["two_classes", "many"])
def test_paper_shows_everything(opened, name):
    page = opened(name, viewport=WIDE, color_scheme="dark")
    page.tab("samples")
    page.page.emulate_media(media="print")
    page.page.locator("[data-figure=samples] > svg[width='680']").wait_for()
    for tab in tabs_of(page):
        assert page.page.locator(f"#{tab}").is_visible()
        assert page.page.locator(f"#{tab} h2").is_visible()
    assert page.page.locator("button:visible:not(.legend button), select:visible, #tabs:visible").count() == 0
    widths = page.page.locator(".plot svg:not([aria-hidden])").evaluate_all(
        "nodes => nodes.map((node) => node.getBoundingClientRect().width)"
    )
    assert min(widths) > 100
    # Light, whatever the system says.
    assert page.page.evaluate("getComputedStyle(document.querySelector('h2')).color") == "rgb(28, 34, 40)"
    page.page.emulate_media(media="screen")
    assert page.page.locator(".panel:visible").count() == 1


def test_a_printed_page_has_the_numbers_and_the_figures(opened, tmp_path):
    page = opened("two_classes", viewport=WIDE)
    page.page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert (tmp_path / "page.pdf").stat().st_size > 50_000
    # Drawn for paper while printing, and for the screen again afterwards.
    page.tab("convergence")
    assert int(page.page.locator("#convergence .plot > svg").get_attribute("width")) > 1000


@pytest.mark.parametrize("name", CASES)
def test_without_scripts_the_numbers_are_there(opened, name, request):
    case = request.getfixturevalue(name)
    page = opened(name, viewport=NARROW, java_script_enabled=False)
    for tab in tabs_of(page):
        assert page.page.locator(f"#{tab}").is_visible()
    samples = (case.X, case.y) if case.X_test is None else (case.X_test, case.y_test)
    shown = page.page.locator(".card strong").all_inner_texts()
    assert f"{100 * case.model.score(*samples):.1f} %" in shown
    assert page.page.locator(".certificate .badge").is_visible()
    assert page.page.locator("table.features tbody tr").count() > 10
    assert page.page.locator("button:visible, select:visible, input:visible").count() == 0
    assert page.page.locator("noscript p").is_visible()
    assert page.requests == [page.page.url]


def test_training_figures_are_called_optimistic(opened):
    page = opened("training_only", viewport=WIDE)
    verdict = page.page.locator(".verdict.unknown").inner_text()
    assert "not known" in verdict and "optimistic" in verdict
    assert page.page.locator(".card dt").first.inner_text() == "Training balanced accuracy"


def test_the_cross_validated_score_comes_first_without_held_out_samples(browser, two_classes, tmp_path):
    path = two_classes.write(tmp_path / "page.html", X_test=None, y_test=None)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator(".card dt").first.inner_text() == "Cross-validated log-likelihood"
    score = f"{two_classes.model.best_score_:.3f}".replace("-", "−")
    assert page.locator(".card strong").first.inner_text() == score
    context.close()
