"""Run every benchmark, or those named on the command line: `python -m bench info`."""

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
    "hooks",
    "dependencies",
    "git_growth",
    "growth",
    "deliveries",
)


def main() -> int:
    """Print the figures; the exit status is 1 when a promise is broken."""
    core = "compiled" if backup.COMPILED else "interpreted"
    print(f"{platform.machine()}, Python {platform.python_version()}, core {core}")
    broken: list[Figure] = []
    for name in sys.argv[1:] or BENCHMARKS:
        print(name)
        for figure in import_module(f"bench.{name}").figures():
            print(figure.line(), flush=True)
            if not figure.kept:
                broken.append(figure)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
