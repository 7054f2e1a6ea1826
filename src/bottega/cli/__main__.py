"""``python -m bottega.cli`` is the command ``bottega``."""

from bottega.cli.app import main

if __name__ == "__main__":
    main()
