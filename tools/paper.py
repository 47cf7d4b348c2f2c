"""Prints the short paper: ``make paper``, that is ``.venv-paper/bin/python tools/paper.py``.

The journal prints it by LaTeX from the same two files. Here pandoc and Typst do, a hundredth of its size.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAPER = ROOT / "docs" / "paper" / "paper.md"


def main():
    """docs/paper/paper.pdf from paper.md and paper.bib."""
    try:
        import pypandoc
        import typst
    except ImportError as error:
        sys.exit(f"{error}: pip install pypandoc-binary typst, or make paper, which does it in .venv-paper")
    source = PAPER.with_suffix(".typ")  # beside the figures, whose paths are relative
    template = ROOT / "tools" / "paper.typ"
    options = ["--citeproc", f"--template={template}", f"--bibliography={PAPER.with_suffix('.bib')}"]
    try:
        pypandoc.convert_file(PAPER, "typst", format="markdown", outputfile=source, extra_args=options)
        typst.compile(source, output=PAPER.with_suffix(".pdf"), root=PAPER.parent)
    finally:
        source.unlink(missing_ok=True)
    print(PAPER.with_suffix(".pdf").relative_to(ROOT))


if __name__ == "__main__":
    main()
