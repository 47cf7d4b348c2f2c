"""What people see: on the screen, in tables on disk, and as JSON for scripts."""
