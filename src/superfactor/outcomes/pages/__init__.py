"""What a page shows of each kind of y: one object a kind, which `superfactor.report` asks."""

from superfactor.outcomes.pages.base import Page
from superfactor.outcomes.pages.classes import ClassPage, Curve
from superfactor.outcomes.pages.flags import FlagPage
from superfactor.outcomes.pages.numbers import CountPage, NumberPage
from superfactor.outcomes.pages.times import TimePage

__all__ = ["ClassPage", "CountPage", "Curve", "FlagPage", "NumberPage", "Page", "TimePage"]
