"""Programs that tests start."""

# First lines of a program that is sent SIGINT: where the parent ignores it, as background jobs of a shell do,
# so does a child, and Python installs no handler of its own.
INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
"""
