"""Checks of files that git reads, such as `.gitmodules` and `.gitattributes`.

Clients that check fetched objects (`git fsck`) refuse a repository with an invalid one, so it cannot be committed.
The pattern matcher of git and libgit2 backtracks: a pattern of many stars takes exponential time, and a library
call cannot be interrupted. So the matching cost of `.gitattributes` is computed first.
"""

import re
from collections import Counter
from math import comb
from typing import Final
from urllib.parse import unquote_to_bytes

from holdfast.hosting.errors import GitFailed
from holdfast.hosting.git.paths import IGNORED
from holdfast.hosting.git.program import run

__all__ = ["LARGEST", "MAX_MATCHING_COST", "is_special", "matching_cost", "problem_with"]

LARGEST: Final = 1024 * 1024
LONGEST_LINE: Final = 2048
# About a second in the worst case: real patterns have two or three stars and need a thousandth of it.
MAX_MATCHING_COST: Final = 10**8
STARS: Final = re.compile(rb"\*+")
MODULES: Final = re.compile(r"(?:\.gitmodules|gitmod~[1-4]|gi7eb[^~]*~[0-9]+)[. ]*(?::.*)?", re.IGNORECASE)
ATTRIBUTES: Final = re.compile(r"(?:\.gitattributes|gitatt~[1-4]|gi7d29[^~]*~[0-9]+)[. ]*(?::.*)?", re.IGNORECASE)


def last_name(path: str) -> str:
    """Return the last part of a path, normalized as the most lenient file system does."""
    return path.rpartition("/")[2].translate(IGNORED)


def is_special(path: str) -> bool:
    """Return whether git itself reads the file at that path."""
    name = last_name(path)
    return MODULES.fullmatch(name) is not None or ATTRIBUTES.fullmatch(name) is not None


def problem_with(path: str, content: bytes) -> str | None:
    """Return the problem with a file that git reads; None if it is valid."""
    if len(content) > LARGEST:
        return f"it has more than {LARGEST} bytes"
    if ATTRIBUTES.fullmatch(last_name(path)) is not None:
        long = any(len(line) >= LONGEST_LINE for line in content.split(b"\n"))
        return f"it has a line of {LONGEST_LINE} bytes or more" if long else None
    return problem_with_modules(content)


def problem_with_modules(content: bytes) -> str | None:
    """Return the problem with a `.gitmodules` file; None if it is valid."""
    try:
        answer = run(None, "config", "--file", "-", "--null", "--list", input=content)
    except GitFailed:
        # Invalid syntax is harmless: git rejects it too.
        return None
    for pair in answer.split(b"\0")[:-1]:
        key, _, value = pair.partition(b"\n")
        section, _, rest = key.partition(b".")
        name, dot, field = rest.rpartition(b".")
        if section != b"submodule" or not dot:
            continue
        if b".." in re.split(rb"[/\\]", name):
            return "the name of a submodule leads out of its folder"
        if field in {b"url", b"path"} and value.startswith(b"-"):
            return f"the {field.decode()} of a submodule looks like an option"
        if field == b"url" and b"\n" in unquote_to_bytes(value):
            return "the url of a submodule has a line end in it"
        if field == b"update" and value.startswith(b"!"):
            return "the update of a submodule is a command"
    return None


def matching_cost(content: bytes, path: bytes) -> int:
    """Return the maximum number of ways to match the patterns of a file against a path."""
    lines = Counter(len(STARS.findall(line)) for line in content.split(b"\n") if b"*" in line)
    length = len(path)
    # Beyond 64 stars the exact number does not matter.
    return sum(count * comb(length + min(stars, 64), min(stars, 64)) for stars, count in lines.items())
