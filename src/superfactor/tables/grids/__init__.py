"""Cells of a table as they stand in a file."""
