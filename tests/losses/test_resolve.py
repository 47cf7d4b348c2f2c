"""Choosing a loss by the name of its link."""

import doctest
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from tests.losses.examples import CLOGLOG, SOFTPLUS

from superfactor.losses import CustomLink, Logistic, Multinomial, Probit, links, resolve_link


def test_names_and_objects():
    assert resolve_link("logistic", 3).link == Logistic()
    assert resolve_link("probit", 1).link == Probit()
    assert resolve_link(SOFTPLUS, 2).link is SOFTPLUS
    assert isinstance(resolve_link(Logistic(), 1), Multinomial)


def test_what_is_convex():
    for kappa in (1, 2, 5):
        assert resolve_link("logistic", kappa).convex
        assert resolve_link("logistic", kappa).has_conjugate
    assert resolve_link("probit", 1).has_conjugate
    assert resolve_link(CLOGLOG, 1).has_conjugate
    everywhere = CustomLink(lambda a: a, np.ones_like, np.zeros_like, convex=lambda n_outputs: True)
    assert resolve_link(everywhere, 3).convex
    assert not resolve_link(everywhere, 3).has_conjugate


def test_an_unknown_name_is_told_what_is_allowed():
    with pytest.raises(ValueError, match=r"link='cauchit'.*'logistic'.*'probit'"):
        resolve_link("cauchit", 1)


def test_a_wrong_type_is_told_what_is_allowed():
    with pytest.raises(TypeError, match=r"link=3.*'logistic'"):
        resolve_link(3, 1)
    with pytest.raises(TypeError, match="d_log_h"):
        CustomLink(np.log, 3.0, np.log)


@pytest.mark.parametrize("link", ["probit", Probit()])
def test_probit_is_for_two_classes(link):
    with pytest.raises(ValueError, match=r"link=.*two classes, got 3"):
        resolve_link(link, 2)


def test_at_least_two_classes():
    with pytest.raises(ValueError, match="n_outputs=0"):
        resolve_link("logistic", 0)


def test_links_and_losses_travel():
    for kappa, link in ((1, "probit"), (2, "logistic"), (2, SOFTPLUS)):
        loss = pickle.loads(pickle.dumps(resolve_link(link, kappa)))
        a = np.ones((3, kappa))
        np.testing.assert_array_equal(loss.value(a, 0 * a), resolve_link(link, kappa).value(a, 0 * a))


def test_links_survive_scikit_learns_clone():
    # As estimators hold them: a parameter that is deep-copied and compared by its representation.
    holder = clone(LogisticRegression(solver=Probit()))
    assert holder.solver == Probit()
    assert "Probit()" in repr(holder)


def test_the_documented_example_runs():
    outcome = doctest.testmod(links)
    assert outcome.attempted > 0
    assert outcome.failed == 0
