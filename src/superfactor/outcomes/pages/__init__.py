"""Contents of a page of `superfactor.report` that depend on the kind of y: one object for each kind."""

from superfactor.outcomes.pages.base import Page
from superfactor.outcomes.pages.classes import ClassPage, Curve
from superfactor.outcomes.pages.flags import FlagPage
from superfactor.outcomes.pages.numbers import CountPage, NumberPage
from superfactor.outcomes.pages.times import TimePage

__all__ = ["ClassPage", "CountPage", "Curve", "FlagPage", "NumberPage", "Page", "TimePage"]
