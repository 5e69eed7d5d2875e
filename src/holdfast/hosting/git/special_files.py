"""The `git fsck` checks of files that git reads, such as `.gitmodules`.

A repository with such a file is refused by everybody whose git checks what it fetches, so it is not made here.
"""

import re
from typing import Final
from urllib.parse import unquote_to_bytes

from holdfast.hosting.errors import GitFailed
from holdfast.hosting.git.paths import IGNORED
from holdfast.hosting.git.program import run

__all__ = ["LARGEST", "is_special", "problem_with"]

LARGEST: Final = 1024 * 1024
LONGEST_LINE: Final = 2048
MODULES: Final = re.compile(r"(?:\.gitmodules|gitmod~[1-4]|gi7eb[^~]*~[0-9]+)[. ]*(?::.*)?", re.IGNORECASE)
ATTRIBUTES: Final = re.compile(r"(?:\.gitattributes|gitatt~[1-4]|gi7d29[^~]*~[0-9]+)[. ]*(?::.*)?", re.IGNORECASE)


def last_name(path: str) -> str:
    """Return the last part of a path as the most careless file system compares it."""
    return path.rpartition("/")[2].translate(IGNORED)


def is_special(path: str) -> bool:
    """Tell whether git reads a file at that path for itself."""
    name = last_name(path)
    return MODULES.fullmatch(name) is not None or ATTRIBUTES.fullmatch(name) is not None


def problem_with(path: str, content: bytes) -> str | None:
    """Return what is wrong with a file that git reads; None when nothing is."""
    if len(content) > LARGEST:
        return f"it has more than {LARGEST} bytes"
    if ATTRIBUTES.fullmatch(last_name(path)) is not None:
        long = any(len(line) >= LONGEST_LINE for line in content.split(b"\n"))
        return f"it has a line of {LONGEST_LINE} bytes or more" if long else None
    return problem_with_modules(content)


def problem_with_modules(content: bytes) -> str | None:
    """Return what is wrong with a list of submodules."""
    try:
        answer = run(None, "config", "--file", "-", "--null", "--list", input=content)
    except GitFailed:
        # What cannot be understood is no danger: git does not understand it either.
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
