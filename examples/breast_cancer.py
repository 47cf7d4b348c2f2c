"""Factors of the breast-cancer data: what they are made of, how they predict, what is proven.

Run with ``make demo``.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier

N_COMPONENTS = 3


def top_features(atom, names, count=3):
    """The features with the largest weights in an atom, with their signs."""
    order = np.argsort(-np.abs(atom))[:count]
    return ", ".join(f"{'+' if atom[j] > 0 else '−'}{names[j]}" for j in order)


def main():
    """Fit on one half of the patients, look at the factors, predict the other half."""
    data = load_breast_cancer(as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(
        data.data,
        data.target_names[data.target],
        test_size=0.5,
        random_state=0,
        stratify=data.target,
    )

    # Both with their default parameters: neither has been tuned, least of all on the test half.
    smf = make_pipeline(StandardScaler(), SMFClassifier(N_COMPONENTS))
    smf.fit(X_train, y_train)
    clf = smf[-1]
    pca = make_pipeline(StandardScaler(), PCA(N_COMPONENTS), LogisticRegression())
    pca.fit(X_train, y_train)

    print(
        f"Breast cancer: {len(X_train)} patients, {X_train.shape[1]} features, "
        f"{N_COMPONENTS} supervised factors ({clf.n_iter_} iterations)\n"
    )
    print(f"{'factor':>6}  {'coefficient':>11}  for {clf.classes_[1]}; made of")
    for j in range(N_COMPONENTS):
        atom, weight = clf.components_[j], clf.coef_[0, j]
        print(f"{j + 1:>6}  {weight:>+11.3f}  {top_features(atom, X_train.columns)}")

    print("\naccuracy on the other half of the patients, both with default parameters")
    for name, model in (("supervised factorization", smf), ("PCA + logistic regression", pca)):
        print(f"  {name:<30}{model.score(X_test, y_test):>7.1%}")
    print(f"\n{clf.certificate_.statement}")


if __name__ == "__main__":
    main()
