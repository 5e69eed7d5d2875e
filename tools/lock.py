"""Resolve the dependencies of pyproject.toml into requirements/: versions and hashes, no registry host.

Everything is resolved together first (dev.txt), and each smaller file is then held to those versions, so the
files can be installed side by side. clients.txt and audit.txt are installed apart,
and resolved by themselves.
`--universal` makes one lock serve every platform and Python 3.11 and later.

    python -m tools.lock           take the newest versions
    python -m tools.lock --keep    keep every locked version that still fits, after a dependency was added
"""

import argparse
import subprocess
import sys
from pathlib import Path

# Every extra but `demo`, which is built from this repository.
EXTRAS = tuple(
    word
    for extra in ("server", "postgres", "parquet", "dataset", "ray", "s3", "keyring", "otel", "encryption")
    for word in ("--extra", extra)
)
FILES: dict[str, list[str]] = {
    "dev": ["--group", "build", "--group", "dev", *EXTRAS],
    "build": [],
    "runtime": [],
    "server": ["--extra", "server"],
    "postgres": ["--extra", "postgres"],
    "parquet": ["--extra", "parquet"],
    "dataset": ["--extra", "dataset"],
    "ray": ["--extra", "ray"],
    "keyring": ["--extra", "keyring"],
    "encryption": ["--extra", "encryption"],
    "s3": ["--extra", "s3"],
    "otel": ["--extra", "otel"],
    "fuzz": [],
    "wheels": [],
    "audit": [],
    "clients": [],
}
# Resolved by themselves: `dev` first, and what is installed into environments of its own.
APART = {"dev", "audit", "clients"}
GROUPS = ("build", "fuzz", "wheels", "audit", "clients")


def lock(folder: Path, name: str, choice: list[str], *, upgrade: bool) -> None:
    """Write one lock file; without `upgrade`, versions it has already are kept where they fit."""
    target = folder / f"{name}.txt"
    source = ["--group", f"pyproject.toml:{name}"] if name in GROUPS else ["pyproject.toml", *choice]
    constraint = [] if name in APART else ["--constraint", str(folder / "dev.txt")]
    subprocess.run(
        [
            *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"),
            *("--python-version", "3.11", "--generate-hashes", "--no-annotate"),
            *(["--upgrade"] if upgrade else []),
            *("--custom-compile-command", "make lock"),
            *source,
            *constraint,
            *("--output-file", str(target)),
        ],
        check=True,
    )


def main() -> None:
    """Write every lock file."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.lock", description="Resolve the dependencies into requirements/."
    )
    parser.add_argument("--keep", action="store_true", help="keep the locked versions that still fit")
    upgrade = not parser.parse_args().keep
    folder = Path("requirements")
    for name, choice in FILES.items():
        lock(folder, name, choice, upgrade=upgrade)
        print(f"requirements/{name}.txt")


if __name__ == "__main__":
    main()
