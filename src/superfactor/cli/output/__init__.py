"""Output: in the terminal, in files, and as JSON for scripts."""
