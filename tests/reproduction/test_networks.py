"""The paper's two networks."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from reproduction.networks import Network, convolutional, feed_forward  # noqa: E402


def two_blobs(n=60, p=40, classes=2):
    rng = np.random.default_rng(0)
    y = np.arange(n) % classes
    X = rng.standard_normal((n, p))
    for k in range(classes):
        X[y == k, k * 5 : k * 5 + 5] += 3.0
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("p", [10, 40, 41, 43], ids=str)
def test_convolutional_layers_are_the_appendix_s(p):
    width = len(range(0, len(range(0, p - 2 - 1, 2)) - 2 - 1, 2))  # two convolutions, two averages
    expected = (32 * 3 + 32) + (64 * 32 * 3 + 64) + (64 * width * 128 + 128) + (128 + 1)
    network = convolutional(p, 1)
    assert sum(w.numel() for w in network.parameters()) == expected
    assert network(torch.zeros(3, p)).shape == (3, 1)


def test_feed_forward_layers_are_the_appendix_s():
    network = feed_forward(40, 1)
    assert [tuple(w.shape) for w in network.parameters() if w.ndim == 2] == [(64, 40), (32, 64), (1, 32)]
    assert [layer.p for layer in network if isinstance(layer, torch.nn.Dropout)] == [0.5]


@pytest.mark.parametrize("classes", [2, 3], ids=["two", "three"])
@pytest.mark.parametrize("layers", ["convolutional", "feed-forward"])
def test_learns_what_can_be_separable(layers, classes):
    X, y = two_blobs(classes=classes)
    model = Network(layers, epochs=40).fit(X[:40], y[:40])
    assert model.score(X[40:], y[40:]) >= 0.9
    P = model.predict_proba(X)
    assert P.shape == (60, classes)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-5)


def test_balanced_classes_weigh_the_same_however_many_samples_they_have():
    """Without informative features, the probability is the share of the class, or one half."""
    X, y = np.zeros((40, 12)), np.repeat(["a", "b"], [32, 8])
    for weight, expected in ((None, 0.2), ("balanced", 0.5)):
        model = Network(epochs=300, batch_size=40, learning_rate=1e-2, class_weight=weight)
        found = model.fit(X, y).predict_proba(X[:1])[0, 1]
        assert found == pytest.approx(expected, abs=0.05), weight
