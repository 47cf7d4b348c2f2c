"""Draws the picture of the README again: ``.venv/bin/python tools/readme_figure.py``."""

from pathlib import Path

import matplotlib
import pandas as pd

from superfactor import SMFClassifierCV
from superfactor.datasets import load_t_cells
from superfactor.plotting import FactorsDisplay

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "factors.png"
WIDTH = 1600  # pixels


def main():
    """Three factors of the T cells, weights chosen by cross-validation."""
    matplotlib.use("Agg")
    data = load_t_cells()
    X = pd.DataFrame(data.X, columns=data.features)
    search = SMFClassifierCV(n_components=3).fit(X, data.y)
    display = FactorsDisplay.from_estimator(search, n=6, positive="CD8")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    # White also where the page is dark; no software version inside, so that equal pictures are equal files.
    dpi = WIDTH / display.figure_.get_figwidth()
    display.figure_.savefig(PICTURE, dpi=dpi, facecolor="white", metadata={"Software": None})
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB, {search.best_params_}")


if __name__ == "__main__":
    main()
