"""The page in a real browser: it opens, draws, answers mouse and keyboard, and asks for nothing."""

import re

import pandas as pd
import pytest
from tests.report.conftest import CASES

from superfactor.interpretation import factor_view, matched, unsupervised

NARROW, WIDE = {"width": 400, "height": 800}, {"width": 1400, "height": 900}
FIGURES = ["prediction", "factors", "samples", "choice", "convergence"]


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
    assert (
        page.page.evaluate("document.querySelectorAll('main img, main style, main script').length")
        == 0
    )
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
            ("End", "reproduce"),
            ("ArrowRight", "result"),
            ("ArrowLeft", "reproduce"),
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
        return page.page.locator(
            "#factors svg[aria-label^='Top features of Supervised'] [data-mark]"
        )

    def test_hovering_tells_weight_and_note(self, opened, two_classes):
        page = opened("two_classes", viewport=WIDE)
        page.tab("factors")
        (marker,) = two_classes.told["markers"]
        bar = page.page.locator(f"#factors [data-mark][aria-label^='{marker},']").first
        bar.hover()
        lines = tooltip(page).split("\n")
        assert lines[0] == marker and lines[-1] == "a known marker"
        assert re.match(r"weight [+−][\d.]+ of the largest", lines[1])
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
        marks = page.page.locator("#samples .plot > svg [data-mark]")
        assert marks.count() == 160
        label = page.page.locator("#samples .plot > svg")
        before = marks.first.get_attribute("transform")
        page.page.select_option("#x-factor", value="6")
        page.page.select_option("#y-factor", "class")
        assert "factor 7 across, one row a class" in label.get_attribute("aria-label")
        assert marks.first.get_attribute("transform") != before
        page.page.select_option("#which-samples", "1")
        assert marks.count() == len(many.X_test)
        assert page.page.locator("#samples .plot > svg .sample:not(.filled)").count() == 0
        page.page.select_option("#which-samples", "wrong")
        predicted = [*many.model.predict(many.X), *many.model.predict(many.X_test)]
        assert marks.count() == sum(
            a != b for a, b in zip(predicted, [*many.y, *many.y_test], strict=True)
        )

    def test_hovering_tells_who_and_how_sure(self, opened, two_classes):
        page = opened("two_classes", viewport=WIDE)
        page.tab("samples")
        page.page.select_option("#which-samples", "1")
        page.page.locator("#samples [data-mark][aria-label^='sample 61,']").focus()
        lines = tooltip(page).split("\n")
        probabilities = two_classes.model.predict_proba(two_classes.X_test)[1]
        assert lines[:2] == ["sample 61", f"{two_classes.y_test[1]}, held out"]
        best = f"{probabilities.max():.3g}"
        assert lines[2] == f"predicted class {probabilities.argmax()}, probability {best}"

    def test_classes_can_be_hidden(self, opened):
        page = opened("two_classes", viewport=WIDE)
        page.tab("samples")
        marks = page.page.locator("#samples .plot > svg [data-mark]")
        everyone = marks.count()
        page.page.locator("#samples .legend button").first.click()
        assert marks.count() == everyone // 2
        assert page.page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "false"
        page.page.keyboard.press("Enter")
        assert marks.count() == everyone


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
    assert "excess" in page.page.locator("[data-figure=convergence] svg").get_attribute(
        "aria-label"
    )
    assert page.said == []


class TestFeatures:
    def test_search_narrows_the_table(self, opened):
        page = opened("two_classes", viewport=WIDE)
        page.tab("features")
        rows = page.page.locator("table.features tbody tr:visible")
        everything = rows.count()
        page.page.fill("#search", "GENE 1 high")
        assert 0 < rows.count() < everything
        assert all("1" in text and "high" in text for text in rows.all_inner_texts())
        assert page.page.inner_text("#found") == f"{rows.count()} of {everything} rows"

    def test_the_download_is_what_is_shown(self, opened, tmp_path):
        page = opened("hostile", viewport=WIDE)
        page.tab("features")
        page.page.fill("#search", "low")
        with page.page.expect_download() as started:
            page.page.click("#download-csv")
        started.value.save_as(tmp_path / "top.csv")
        table = pd.read_csv(tmp_path / "top.csv", keep_default_na=False)
        assert len(table) == page.page.locator("table.features tbody tr:visible").count()
        assert (table["Weight, scaled"] < 0).all() and table["Weight"].dtype == float
        shown = page.page.locator("table.features tbody tr:visible th").all_text_contents()
        assert list(table["Feature"]) == shown
        assert page.requests[1:] == [] or all(url.startswith("blob:") for url in page.requests[1:])

    def test_copying(self, opened):
        page = opened(
            "two_classes", viewport=WIDE, permissions=["clipboard-read", "clipboard-write"]
        )
        page.tab("features")
        page.page.click("#copy-csv")
        page.page.locator("#found", has_text="copied").wait_for()
        copied = page.page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("Feature,Factor,End,Rank,")
        page.tab("reproduce")
        page.page.click("#copy-command")
        page.page.locator("#copied", has_text="copied").wait_for()
        copied = page.page.evaluate("navigator.clipboard.readText()")
        assert copied == "superfactor fit table.csv --target kind"


@pytest.mark.parametrize("system", ["light", "dark"])
def test_colours_follow_the_system_and_the_button(opened, system):
    page = opened("two_classes", viewport=WIDE, color_scheme=system)

    def ground():
        numbers = re.findall(
            r"\d+", page.page.evaluate("getComputedStyle(document.body).backgroundColor")
        )
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
    drawing = page.page.locator("#samples .plot > svg")
    wide = int(drawing.get_attribute("width"))
    page.page.set_viewport_size(NARROW)
    # Waiting for an expression would need eval, which the page forbids.
    page.page.locator(f"#samples .plot > svg:not([width='{wide}'])").wait_for()
    assert int(drawing.get_attribute("width")) < wide
    assert drawing.bounding_box()["width"] <= NARROW["width"]


@pytest.mark.parametrize("name", ["two_classes", "many"])
def test_paper_shows_everything(opened, name):
    page = opened(name, viewport=WIDE, color_scheme="dark")
    page.tab("samples")
    page.page.emulate_media(media="print")
    page.page.locator("#samples .plot > svg[width='680']").wait_for()
    for tab in tabs_of(page):
        assert page.page.locator(f"#{tab}").is_visible()
        assert page.page.locator(f"#{tab} h2").is_visible()
    assert (
        page.page.locator(
            "button:visible:not(.legend button), select:visible, #tabs:visible"
        ).count()
        == 0
    )
    widths = page.page.locator(".plot svg:not([aria-hidden])").evaluate_all(
        "nodes => nodes.map((node) => node.getBoundingClientRect().width)"
    )
    assert min(widths) > 100
    # Light, whatever the system says.
    assert (
        page.page.evaluate("getComputedStyle(document.querySelector('h2')).color")
        == "rgb(28, 34, 40)"
    )
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
    assert "optimistic" in page.page.locator(".callout.warning").inner_text()
    assert page.page.locator(".card dt").first.inner_text() == "Training accuracy"


def test_the_cross_validated_score_comes_first_without_held_out_samples(
    browser, two_classes, tmp_path
):
    path = two_classes.write(tmp_path / "page.html", X_test=None, y_test=None)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator(".card dt").first.inner_text() == "Cross-validated accuracy"
    score = two_classes.model.best_score_
    assert page.locator(".card strong").first.inner_text() == f"{100 * score:.1f} %"
    context.close()
