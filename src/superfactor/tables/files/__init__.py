"""Readers of files, one for each format."""
