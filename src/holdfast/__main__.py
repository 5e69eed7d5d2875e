"""The entry point: `holdfast` and `python -m holdfast`."""

import gc
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status."""
    # Imports allocate many objects, nearly all of which stay: a search for garbage among them finds none.
    gc.disable()
    from holdfast.cli import main as run  # noqa: PLC0415  # garbage collection is disabled first

    gc.enable()
    status = run(arguments)
    # The interpreter collects garbage when it exits. The process ends then, and its memory is freed without that.
    # DuckDB would report the objects that are not collected as leaks, on standard error.
    if "duckdb" not in sys.modules:
        gc.freeze()
    return status


if __name__ == "__main__":
    sys.exit(main())
