"""The site: pages of this folder and an API reference from the docstrings. `make docs` builds it.

The Markdown pages are also read on code hosts, so they contain no Sphinx markup. The home page, the sections
and the API reference are in ``index.rst``, ``site/`` and ``api/``. Neither build nor site fetches anything.
"""

import json
import re
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes
from PIL import Image, ImageChops
from sphinx import addnodes
from sphinx_gallery.directives import MiniGallery
from sphinx_gallery.sorting import ExplicitOrder

import superfactor

project = "superfactor"
author = "superfactor contributors"
copyright = "superfactor contributors, MIT license"
version = release = superfactor.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_templates", "paper/*"]  # the short paper is printed, not shown
templates_path = ["_templates"]
highlight_language = "none"  # terminal output is not Python
smartquotes = False  # readers copy "filter" from a description

# Headings have the anchors of code hosts.
myst_heading_anchors = 4

# In docstrings, `name` links to the object of that name in the reference.
default_role = "py:obj"
autosummary_generate = True
autodoc_typehints = "none"  # docstrings describe types and shapes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # autodoc lists them
numpydoc_xref_param_type = False
add_module_names = False
python_maximum_signature_line_length = 88

# The order of scripts; others come last in their section.
TUTORIALS = (
    "genes texts single_cells survival few_labels pipelines cluster gpu from_pca from_mixomics from_the_paper"
)
GALLERY = {
    "factors": (
        "factors supervised_factors top_features correlation_circle feature_effects class_features "
        "rotation svd matched markers images"
    ),
    "samples": "samples biplot heatmap new_samples",
    "choosing": "scree cv_surface nearness panel",
    "trust": "certificate starts convergence stability stable_features shuffled",
    "data": "covariates confounders blocks missing_values unlabelled",
}

# Pages from the scripts of ../examples, which run in each build.
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorials", "../examples/gallery"],
    "gallery_dirs": ["tutorials", "gallery"],
    "subsection_order": ExplicitOrder([f"../examples/gallery/{name}" for name in GALLERY] + ["*"]),
    "within_subsection_order": ExplicitOrder(
        [f"{name}.py" for name in " ".join([TUTORIALS, *GALLERY.values()]).split()] + ["*"]
    ),
    # Without PyTorch, the page about GPUs is not run.
    "filename_pattern": r"\.py$" if find_spec("torch") else r"/(?!gpu\.)\w+\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,  # times of this machine do not help readers,
    "write_computation_times": False,  # and their page would load scripts from elsewhere
    "ignore_repr_types": r"superfactor\.plotting|matplotlib|'(list|tuple)'",  # the plot is enough
    "doc_module": "superfactor",
    "backreferences_dir": "api/examples",
    "inspect_global_variables": False,
    "parallel": 2,
}

# What a thumbnail shows of a large picture, so that its names can be read: left, top, right and bottom, as
# shares of width and height. Other thumbnails show the whole picture without its white margins.
CROPS = {
    "biplot": (0.36, 0.10, 0.88, 0.84),
    "correlation_circle": (0.40, 0.08, 1, 0.80),
    "factors": (0, 0.185, 0.52, 0.93),
    "heatmap": (0.38, 0.085, 1, 0.70),
    "markers": (0.10, 0.148, 1, 0.545),
    "new_samples": (0.5, 0, 1, 1),
    "shuffled": (0, 0, 1, 0.5),
    "stability": (0, 0.10, 0.515, 0.88),
    "stable_features": (0, 0.095, 1, 0.62),
    "svd": (0, 0.52, 0.51, 0.95),
}
THUMBNAIL = 560, 392  # pixels, twice what CSS shows, for fine screens

html_theme = "pydata_sphinx_theme"
html_title = "superfactor"
html_static_path = ["_static"]
html_css_files = ["superfactor.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 5,
    "navbar_align": "left",
    "navigation_depth": 3,
    "show_toc_level": 2,
    "use_edit_page_button": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
html_context = {"default_mode": "auto"}  # light or dark as the system of the reader
html_favicon = "_static/favicon.svg"
toc_object_entries_show_parents = "hide"

# Files above this folder, and their pages on the site.
ABOVE = {
    "../README.md": "index.rst",
    "../CONTRIBUTING.md": "site/contributing.md",
    "../CHANGELOG.md": "site/changelog.md",
}


def links_of_a_site(app, docname, source):
    """Link to pages instead of files above this folder; show titles instead of file names."""
    text = re.sub(r"\]\(\.\./examples/(\w+)/(\w+)\.py", r"](\1/\2.rst", source[0])
    for file, page in ABOVE.items():
        text = re.sub(rf"\[[^]]*\.md\]\({re.escape(file)}", f"[]({page}", text)
        text = text.replace(f"]({file}", f"]({page}")
    source[0] = re.sub(r"\[(\w+\.md)\]\(\1", r"[](\1", text)


def only_ours(app, what, name, obj, skip, options):
    """Skip members inherited from scikit-learn: their docstrings link to its own pages."""
    home = getattr(getattr(obj, "fget", obj), "__module__", None) or ""
    return True if home.startswith("sklearn.") else None


# Groups of members on the page of a class, in this order, each with its first members. Others are in "Fitted
# attributes" if their name ends in an underscore, and in "More methods and attributes" if not.
DEVELOPERS = "For developers of extensions"
MEMBERS = {
    "Fit and predict": [
        *["fit", "predict", "predict_proba", "predict_log_proba", "predict_survival_function"],
        *["predict_cumulative_hazard_function", "decision_function", "score", "scores"],
        *["transform", "fit_transform", "inverse_transform"],
    ],
    "Create and draw": [
        *["from_estimator", "from_data", "from_scree", "from_stability", "from_stable_features", "plot"]
    ],
    "Fitted attributes": ["coef_", "components_", "codes_", "certificate_"],
    "More methods and attributes": [],
    DEVELOPERS: [
        *["state", "adopt", "options", "plain", "exposure_column"],
        *["advice_in", "advice_keys", "of_dict"],
    ],
}


def ordered_members(app, doctree):
    """Group the members on the page of a class: first what users call, last what extensions need."""
    for entry in list(doctree.findall(addnodes.desc)):
        if entry.get("objtype") != "class":
            continue
        content = entry[-1]
        members = [node for node in content if isinstance(node, addnodes.desc)]
        members.sort(key=_place)
        for member in members:
            content.remove(member)
        for title in MEMBERS:
            found = [member for member in members if _group(_name(member)) == title]
            if 0 < len(found) < len(members):
                content += nodes.rubric(text=title)
            content += found
            if title == DEVELOPERS:
                for member in found:
                    member[0]["_toc_name"] = ""  # not in the contents of the page


def _name(member):
    return member[0]["ids"][0].rpartition(".")[2]


def _group(name):
    for title, names in MEMBERS.items():
        if name in names:
            return title
    return "Fitted attributes" if name.endswith("_") else "More methods and attributes"


def _place(member):
    names = MEMBERS[_group(_name(member))]
    return names.index(_name(member)) if _name(member) in names else len(names)


def crop_thumbnails(app):
    """Thumbnails of the examples are made again from the part of the picture that `CROPS` names."""
    for thumbnail in Path(app.srcdir).glob("*/**/images/thumb/sphx_glr_*_thumb.png"):
        name = thumbnail.stem.removeprefix("sphx_glr_").removesuffix("_thumb")
        source = thumbnail.parents[1] / f"sphx_glr_{name}_001.png"
        if not source.exists():
            continue
        picture = Image.open(source).convert("RGB")
        shares = CROPS.get(name, (0, 0, 1, 1))
        picture = picture.crop([round(s * side) for s, side in zip(shares, picture.size * 2, strict=True)])
        ink = ImageChops.difference(picture, Image.new("RGB", picture.size, "white")).getbbox()
        picture = picture.crop(ink)
        scale = min((wide - 16) / side for wide, side in zip(THUMBNAIL, picture.size, strict=True))
        picture = picture.resize([round(scale * side) for side in picture.size], Image.Resampling.LANCZOS)
        framed = Image.new("RGB", THUMBNAIL, "white")
        free = zip(THUMBNAIL, picture.size, strict=True)
        framed.paste(picture, [(wide - side) // 2 for wide, side in free])
        framed.save(thumbnail)


class UsedIn(MiniGallery):
    """The examples that use a name, unless there are more than eight."""

    def run(self):
        settings = self.state.document.settings.env.config.sphinx_gallery_conf
        known = Path(settings["src_dir"], settings["backreferences_dir"], "backreferences_all.json")
        (name,) = self.arguments
        uses = {  # of a class or its methods
            used: {(folder, file) for file, folder, *_ in examples}
            for used, examples in json.loads(known.read_text(encoding="utf-8")).items()
            if used == name or used.startswith(f"{name}.")
        }
        if not 0 < len(set().union(*uses.values())) <= 8:
            return []
        self.arguments = [" ".join(uses)]
        return [nodes.rubric(text="Used in"), *super().run()]


def setup(app):
    """Called by Sphinx."""
    app.add_directive("used-in", UsedIn)
    app.connect("autodoc-skip-member", only_ours)
    app.connect("doctree-read", ordered_members, priority=400)  # before the table of contents is collected
    app.connect("source-read", links_of_a_site)
    app.connect("builder-inited", crop_thumbnails, priority=900)  # after the gallery is made
