"""Draws the picture of the README again: ``.venv/bin/python tools/readme_figure.py``."""

from pathlib import Path

import matplotlib
from sklearn.datasets import load_breast_cancer

from superfactor import SMFClassifierCV
from superfactor.plotting import FactorsDisplay

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "factors.png"
WIDTH = 1600  # pixels


def main():
    """Three factors of the breast-cancer data, weights chosen by cross-validation, beside SVD's."""
    matplotlib.use("Agg")
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    search = SMFClassifierCV(n_components=3, preprocess="standardize").fit(X, y)
    display = FactorsDisplay.from_estimator(search, X, y, n=4)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    # White also where the page is dark; no software version inside, so that equal pictures are equal files.
    dpi = WIDTH / display.figure_.get_figwidth()
    display.figure_.savefig(PICTURE, dpi=dpi, facecolor="white", metadata={"Software": None})
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1000:.0f} kB, {search.best_params_}")


if __name__ == "__main__":
    main()
