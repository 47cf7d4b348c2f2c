"""One file per command, and functions that several commands share."""
