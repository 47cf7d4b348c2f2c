"""Choosing a loss by its link."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from tests.losses.examples import CLOGLOG, SOFTPLUS

from superfactor.losses import CustomLink, Logistic, Probit, resolve_link

EVERYWHERE = CustomLink(lambda a: a, np.ones_like, np.zeros_like, convex=lambda n_outputs: True)


@pytest.mark.parametrize(
    ("link", "kappa", "convex", "has_conjugate"),
    [
        ("logistic", 1, True, True),
        (Logistic(), 5, True, True),
        ("probit", 1, True, True),
        (CLOGLOG, 1, True, True),
        (CLOGLOG, 2, False, False),  # a plain True applies to two classes only
        (SOFTPLUS, 1, False, False),
        (EVERYWHERE, 3, True, False),
    ],
)
def test_what_is_convex(link, kappa, convex, has_conjugate):
    loss = resolve_link(link, kappa)
    assert loss.link == {"logistic": Logistic(), "probit": Probit()}.get(link, link)
    assert (loss.convex, loss.has_conjugate) == (convex, has_conjugate)


@pytest.mark.parametrize(
    ("link", "kappa", "error", "said"),
    [
        ("cauchit", 1, ValueError, r"link='cauchit'.*'logistic'.*'probit'"),
        (3, 1, TypeError, r"link=3.*'logistic'"),
        ("probit", 2, ValueError, r"link=.*two classes, got 3"),
        (Probit(), 2, ValueError, r"link=.*two classes, got 3"),
        ("logistic", 0, ValueError, "n_outputs=0"),
    ],
)
def test_invalid_arguments_raise(link, kappa, error, said):
    with pytest.raises(error, match=said):
        resolve_link(link, kappa)


def test_a_link_takes_functions():
    with pytest.raises(TypeError, match="d_log_h"):
        CustomLink(np.log, 3.0, np.log)


def test_links_and_losses_can_be_pickled():
    for kappa, link in ((1, "probit"), (2, "logistic"), (2, SOFTPLUS)):
        loss, a = pickle.loads(pickle.dumps(resolve_link(link, kappa))), np.ones((3, kappa))
        np.testing.assert_array_equal(loss.value(a, 0 * a), resolve_link(link, kappa).value(a, 0 * a))
    # As in estimators: a parameter that is deep-copied and compared by its representation.
    holder = clone(LogisticRegression(solver=Probit()))
    assert holder.solver == Probit() and "Probit()" in repr(holder)
