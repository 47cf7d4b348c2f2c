"""Run ``python -m superfactor.cli`` if the script ``superfactor`` is not on the path."""

from superfactor.cli import main

if __name__ == "__main__":
    main()
