"""The site: pages of this folder and an API reference from the docstrings. `make docs` builds it.

The Markdown pages are written for a code host too, so that nothing of Sphinx is in them. What only
the site has (landing page, sections, reference) is in ``index.rst``, ``site/`` and ``api/``.
Nothing is fetched, neither when it is built nor when it is read.
"""

import json
import re
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes
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
highlight_language = "none"  # samples of terminals are not Python
smartquotes = False  # "filter" in a description is to be copied

# Links to headings, with the anchors that code hosts make.
myst_heading_anchors = 4

# In docstrings `name` links to what has that name, if the reference has it.
default_role = "py:obj"
autosummary_generate = True
autodoc_typehints = "none"  # types are said in words, beside the shapes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists them
numpydoc_xref_param_type = False
add_module_names = False
python_maximum_signature_line_length = 88

# What comes in which order; a script that is not named comes last in its section.
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
    "data": "covariates confounders blocks gaps unlabelled",
}

# Scripts of ../examples, run as they are; these pages are made anew each time.
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorials", "../examples/gallery"],
    "gallery_dirs": ["tutorials", "gallery"],
    "subsection_order": ExplicitOrder([f"../examples/gallery/{name}" for name in GALLERY] + ["*"]),
    "within_subsection_order": ExplicitOrder(
        [f"{name}.py" for name in " ".join([TUTORIALS, *GALLERY.values()]).split()] + ["*"]
    ),
    # PyTorch is there only where a CPU build can be found; without it that page is not run.
    "filename_pattern": r"\.py$" if find_spec("torch") else r"/(?!gpu\.)\w+\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,  # how long it took here is no news to a reader,
    "write_computation_times": False,  # and the page about it loads scripts from elsewhere
    "ignore_repr_types": r"superfactor\.plotting|matplotlib|'(list|tuple)'",  # a plot is not said again
    "doc_module": "superfactor",
    "backreferences_dir": "api/examples",
    "inspect_global_variables": False,
    "parallel": 2,
}

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
html_context = {"default_mode": "auto"}  # light or dark as the reader's system says
html_favicon = "_static/favicon.svg"
toc_object_entries_show_parents = "hide"

# Files above this folder, and the pages that show them here.
ABOVE = {
    "../README.md": "index.rst",
    "../CONTRIBUTING.md": "site/contributing.md",
    "../CHANGELOG.md": "site/changelog.md",
}


def links_of_a_site(app, docname, source):
    """Links to files above this folder lead to the pages that show them; names of files become titles."""
    text = re.sub(r"\]\(\.\./examples/(\w+)/(\w+)\.py", r"](\1/\2.rst", source[0])
    for file, page in ABOVE.items():
        text = re.sub(rf"\[[^]]*\.md\]\({re.escape(file)}", f"[]({page}", text)
        text = text.replace(f"]({file}", f"]({page}")
    source[0] = re.sub(r"\[(\w+\.md)\]\(\1", r"[](\1", text)


def only_ours(app, what, name, obj, skip, options):
    """What scikit-learn brings is documented there, and its docstrings link to its own pages."""
    home = getattr(getattr(obj, "fget", obj), "__module__", None) or ""
    return True if home.startswith("sklearn.") else None


class UsedIn(MiniGallery):
    """The examples that use a name: nothing where there is none, or so many that they help nobody."""

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
        return [nodes.rubric(text="Where it is used"), *super().run()]


def setup(app):
    """Called by Sphinx."""
    app.add_directive("used-in", UsedIn)
    app.connect("autodoc-skip-member", only_ours)
    app.connect("source-read", links_of_a_site)
