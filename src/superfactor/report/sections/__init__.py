"""One file per tab of the page: its numbers, its text and tables, and what page.js draws there.

Each has ``section(facts) -> Section``, or None where the facts say nothing about it.
"""
