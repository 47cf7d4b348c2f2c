"""Side by side with the peers, in one run on an otherwise idle machine: `make bench`."""
