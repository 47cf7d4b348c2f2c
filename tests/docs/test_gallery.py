"""The gallery has every plot and every table, in short scripts, on pages without noise."""

import ast
import inspect
import re
from html import unescape
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples" / "gallery").glob("*/*.py"))
LINES = 25


def _used(script):
    """The names a script reads, not counting those it only imports."""
    nodes = ast.walk(ast.parse(script.read_text(encoding="utf-8")))  # codespell:ignore walk
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def test_every_display_and_every_table_has_a_picture():
    pytest.importorskip("pandas")
    from superfactor import interpretation, plotting

    wanted = set(plotting.__all__)
    wanted |= {name for name in interpretation.__all__ if inspect.isfunction(getattr(interpretation, name))}
    assert len(wanted) > 15
    assert wanted - set().union(*map(_used, SCRIPTS)) == set()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts_are_short_and_say_what_one_sees(script):
    text = script.read_text(encoding="utf-8")
    module = ast.parse(text)
    title, _, said = ast.get_docstring(module).partition("\n")
    code = [line for line in text.splitlines()[module.body[0].end_lineno :] if line.strip()]
    assert len(code) <= LINES
    assert len(title) <= 40
    assert 2 <= len(re.findall(r"[.:?](?:\s|$)", said)) <= 6


def _configured(name):
    """What docs/conf.py assigns to a name."""
    body = ast.parse((ROOT / "docs" / "conf.py").read_text(encoding="utf-8")).body
    (found,) = [node for node in body if isinstance(node, ast.Assign) and node.targets[0].id == name]
    return ast.literal_eval(found.value)


def test_scripts_have_their_place():
    gallery = _configured("GALLERY")
    named = {f"{section}/{name}" for section in gallery for name in gallery[section].split()}
    assert named == {f"{script.parent.name}/{script.stem}" for script in SCRIPTS}


def test_thumbnails_are_cut_from_pictures_that_exist():
    crops = _configured("CROPS")
    assert set(crops) <= {script.stem for script in SCRIPTS}
    for left, top, right, bottom in crops.values():
        assert 0 <= left < right <= 1 and 0 <= top < bottom <= 1


def test_thumbnails_are_filled_by_their_pictures(site):
    image = pytest.importorskip("PIL.Image")
    chops = pytest.importorskip("PIL.ImageChops")
    size = _configured("THUMBNAIL")
    for script in SCRIPTS:
        (path,) = (site / "_images").glob(f"sphx_glr_{script.stem}_thumb.png")
        thumbnail = image.open(path).convert("RGB")
        assert thumbnail.size == size
        left, top, right, bottom = chops.difference(thumbnail, image.new("RGB", size, "white")).getbbox()
        assert right - left > 0.9 * size[0] or bottom - top > 0.9 * size[1], script.stem


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_pages_have_a_picture_and_no_noise(site, script):
    page = site / "gallery" / script.parent.name / f"{script.stem}.html"
    text = page.read_text(encoding="utf-8")
    assert text.count("sphx-glr-single-img") + text.count("sphx-glr-multi-img") >= 1
    shown = unescape(re.sub("<[^>]*>", "", text))
    for noise in (" object at 0x", "Total running time", "Text(", "Warning"):
        assert noise not in re.sub(r"ConvergenceWarning", "", shown)


@pytest.mark.parametrize("name", ["plotting.FactorsDisplay", "interpretation.block_shares"])
def test_the_reference_shows_examples(site, name):
    page = site / "api" / "generated" / f"superfactor.{name}.html"
    assert "sphx-glr-thumbcontainer" in page.read_text(encoding="utf-8")
