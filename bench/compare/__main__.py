"""Run the comparisons that are asked for, and print each as a table."""

import argparse
import platform
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from bench.compare.gitea import compare_hosts
from bench.compare.libsignal import compare_libraries
from bench.compare.tables import print_table


def main() -> int:
    """Print the tables in Markdown, with the raw figures of both sides."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.compare", description="Measure Holdfast against Gitea or libsignal."
    )
    parser.add_argument("--gitea", type=Path, help="the program of Gitea")
    parser.add_argument(
        "--libsignal", type=Path, help="a folder in which npm installed @signalapp/libsignal-client"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each host is asked in each round")
    options = parser.parse_args()
    if options.gitea is None and options.libsignal is None:
        parser.error("name something to compare with: --gitea or --libsignal")
    client = "wrk" if shutil.which("wrk") else "a client in Python"
    print(f"{datetime.now(UTC):%Y-%m-%d}, {platform.machine()}, Python {platform.python_version()}, by {client}\n")
    if options.gitea is not None:
        print_table("Gitea", compare_hosts(options.gitea.resolve(), options.rounds, options.seconds))
    if options.libsignal is not None:
        print_table("libsignal", compare_libraries(options.libsignal.resolve(), options.rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
