"""The two neural networks of the paper's table, as scikit-learn classifiers.

The appendix gives the layers. It does not give activation of the convolutions, optimiser, epochs or batches;
here: ReLU, Adam at its usual rate 0.001, 15 epochs, batches of 32. PyTorch is optional and imported when a
network is fitted.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

__all__ = ["Network", "convolutional", "feed_forward", "has_torch"]


def has_torch() -> bool:
    """Whether PyTorch is installed."""
    return find_spec("torch") is not None


def convolutional(n_features: int, n_outputs: int) -> Any:
    """CNN: two convolutions of width 3 (32 and 64 filters), each averaged in pairs, then 128 neurons."""
    from torch import nn

    # Each convolution loses two places, each average halves them.
    width = ((n_features - 2) // 2 - 2) // 2
    if width < 1:
        raise ValueError(f"X: {n_features} features; the network needs at least 10")
    return nn.Sequential(
        nn.Unflatten(1, (1, n_features)),
        nn.Conv1d(1, 32, 3),
        nn.ReLU(),
        nn.AvgPool1d(2),
        nn.Conv1d(32, 64, 3),
        nn.ReLU(),
        nn.AvgPool1d(2),
        nn.Flatten(),
        nn.Linear(64 * width, 128),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(128, n_outputs),
    )


def feed_forward(n_features: int, n_outputs: int) -> Any:
    """FFNN: 64 neurons, of which a random half learns at a time, and 32 neurons."""
    from torch import nn

    return nn.Sequential(
        nn.Linear(n_features, 64),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(64, 32),
        nn.ReLU(),
        nn.Linear(32, n_outputs),
    )


LAYERS = {"convolutional": convolutional, "feed-forward": feed_forward}


class Network(ClassifierMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """A network of the paper, fitted by Adam to the mean log loss.

    The last layer gives one number for each class but the first, whose own is 0; class probabilities are
    their softmax. With two classes that is the paper's sigmoid.

    Parameters
    ----------
    layers : "convolutional" or "feed-forward"
    epochs, batch_size, learning_rate : of Adam
    class_weight : None, "balanced" or dict, factors of the loss by class
    seed : of the first weights, the batches and the neurons dropped; PyTorch's own is left alone
    """

    def __init__(
        self,
        layers: str = "feed-forward",
        *,
        epochs: int = 15,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        class_weight: Any = None,
        seed: int = 0,
    ):
        self.layers = layers
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.class_weight = class_weight
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to X (n, p) and labels (n,)."""
        import torch

        self.classes_, codes = np.unique(y, return_inverse=True)
        inputs, targets = _tensor(X), torch.as_tensor(codes)
        weight = _tensor(compute_class_weight(self.class_weight, classes=self.classes_, y=y))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            self.network_ = LAYERS[self.layers](inputs.shape[1], len(self.classes_) - 1).train()
            # Fused: the convolutional network has millions of weights, and a step is mostly memory traffic.
            adam = torch.optim.Adam(self.network_.parameters(), lr=self.learning_rate, fused=True)
            for _ in range(self.epochs):
                order: Any = torch.randperm(len(targets))
                for batch in order.split(self.batch_size):
                    adam.zero_grad()
                    scores = self._scores(inputs[batch])
                    loss: Any = torch.nn.functional.cross_entropy(scores, targets[batch], weight)
                    loss.backward()
                    adam.step()
        return self

    def _scores(self, inputs: Any) -> Any:
        """Logarithms of unnormalised class probabilities (n, classes)."""
        import torch

        return torch.nn.functional.pad(self.network_(inputs), (1, 0))

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities (n, classes) of X (n, p)."""
        import torch

        check_is_fitted(self)
        self.network_.eval()
        with torch.no_grad():
            return torch.softmax(self._scores(_tensor(X)), dim=1).numpy()

    def predict(self, X: Any) -> Any:
        """The most probable class (n,) of each row of X (n, p)."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _tensor(X: Any) -> Any:
    import torch

    return torch.as_tensor(np.asarray(X, dtype=np.float32))
