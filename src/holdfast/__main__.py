"""The entry point: `holdfast` and `python -m holdfast`."""

import sys

from holdfast.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
