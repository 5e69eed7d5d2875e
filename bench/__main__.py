"""Run every benchmark, or those named on the command line: `python -m bench info`."""

import argparse
import platform
import sys
from importlib import import_module

from bench.harness import Figure
from holdfast import backup

BENCHMARKS = (
    "start",
    "wire",
    "info",
    "validate",
    "repair",
    "merge",
    "archive",
    "encryption",
    "dataset",
    "keep",
    "website_chats",
    "export",
    "container",
    "memory",
    "service",
    "clone",
    "push",
    "files_read",
    "files_write",
    "many_commits",
    "forks",
    "pull_merges",
    "pull_lists",
    "pull_pages",
    "nodes",
    "website",
    "large_pages",
    "hooks",
    "dependencies",
    "git_growth",
    "growth",
    "deliveries",
)


def main() -> int:
    """Print the figures; the exit status is 1 when a promise is broken."""
    description = "Run benchmarks, and fail if a limit of one is exceeded."
    parser = argparse.ArgumentParser(prog="python -m bench", description=description)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which (default: all of them): {', '.join(BENCHMARKS)}"
    )
    names = parser.parse_args().names
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark is named {', '.join(unknown)}")
    core = "compiled" if backup.COMPILED else "interpreted"
    print(f"{platform.machine()}, Python {platform.python_version()}, core {core}")
    broken: list[Figure] = []
    for name in names or BENCHMARKS:
        print(name)
        for figure in import_module(f"bench.{name}").figures():
            print(figure.line(), flush=True)
            if not figure.kept:
                broken.append(figure)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
