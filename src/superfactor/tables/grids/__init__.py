"""Cells of a table as written in a file."""
