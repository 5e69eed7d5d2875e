"""Makes a repository with a long history, the same one every time, for benchmarks of git."""

import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["deep", "make_history", "wide"]

WORDS = (
    "anchor",
    "beacon",
    "cable",
    "dock",
    "ebb",
    "fathom",
    "gale",
    "harbour",
    "island",
    "jetty",
    "keel",
    "lantern",
)


def deep(file: int) -> str:
    """Put files into four hundred directories."""
    return f"src/{file % 40:02}/{file // 40 % 10}/{WORDS[file % len(WORDS)]}_{file}.txt"


def wide(file: int) -> str:
    """Put files into fifty directories, of a hundred each when there are five thousand."""
    return f"src/{file % 50:02}/{WORDS[file % len(WORDS)]}_{file}.txt"


def make_history(
    folder: Path, *, files: int = 5_000, commits: int = 10_000, place: Callable[[int], str] = deep
) -> None:
    """Fill an empty bare repository with that many files, changed by that many commits."""
    with subprocess.Popen(
        ["git", "-C", str(folder), "fast-import", "--quiet"], stdin=subprocess.PIPE, bufsize=1 << 20
    ) as process:
        assert process.stdin is not None
        for part in commands(files, commits, place):
            process.stdin.write(part)
        process.stdin.close()
    assert process.returncode == 0, "git fast-import failed"
    subprocess.run(["git", "-C", str(folder), "gc", "--quiet"], check=True)


def commands(files: int, commits: int, place: Callable[[int], str]) -> Iterator[bytes]:
    """Write the history for `git fast-import`: all files in the first commit, then one or two at a time."""
    dice = random.Random(4)
    for number in range(commits):
        person = f"Ada <ada@example.org> {1_700_000_000 + number * 60} +0000"
        message = f"Change number {number}\n".encode()
        yield f"commit refs/heads/main\ncommitter {person}\ndata {len(message)}\n".encode() + message
        changed = range(files) if number == 0 else dice.sample(range(files), 2)
        for file in changed:
            content = text(dice, file, number)
            yield f"M 100644 inline {place(file)}\ndata {len(content)}\n".encode() + content + b"\n"


def text(dice: random.Random, file: int, number: int) -> bytes:
    """Write a file of some forty lines, a few of them new each time."""
    steady = random.Random(file)
    lines = [" ".join(steady.choices(WORDS, k=8)) for _ in range(40)]
    for _ in range(3):
        lines[dice.randrange(40)] = f"{number} " + " ".join(dice.choices(WORDS, k=7))
    return "\n".join(lines).encode() + b"\n"
