"""Resolve the dependencies of pyproject.toml into requirements/: versions and hashes, no registry host.

Everything is resolved together first (dev.txt), and each smaller file is then held to those versions, so the
files can be installed side by side. Only clients.txt is resolved by itself: what others write lives apart.
`--universal` makes one lock serve every platform and Python 3.11 and later.
"""

import subprocess
import sys
from pathlib import Path

# Every extra but `demo`, which is built from this repository.
EXTRAS = ("--extra", "postgres", "--extra", "s3", "--extra", "parquet")
FILES: dict[str, list[str]] = {
    "dev": ["--group", "build", "--group", "dev", *EXTRAS],
    "build": [],
    "runtime": [],
    "postgres": ["--extra", "postgres"],
    "s3": ["--extra", "s3"],
    "parquet": ["--extra", "parquet"],
    "fuzz": [],
    "clients": [],
}
GROUPS = ("build", "fuzz", "clients")


def lock(folder: Path, name: str, choice: list[str]) -> None:
    """Write one lock file."""
    target = folder / f"{name}.txt"
    source = ["--group", f"pyproject.toml:{name}"] if name in GROUPS else ["pyproject.toml", *choice]
    constraint = [] if name in {"dev", "clients"} else ["--constraint", str(folder / "dev.txt")]
    subprocess.run(
        [
            *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"),
            *("--python-version", "3.11", "--generate-hashes", "--no-annotate", "--upgrade"),
            *("--custom-compile-command", "make lock"),
            *source,
            *constraint,
            *("--output-file", str(target)),
        ],
        check=True,
    )


def main() -> None:
    """Write every lock file."""
    folder = Path("requirements")
    for name, choice in FILES.items():
        lock(folder, name, choice)
        print(f"requirements/{name}.txt")


if __name__ == "__main__":
    main()
