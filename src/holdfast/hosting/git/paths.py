"""Path normalization, and the checks of `git fsck` for paths on all platforms.

A name that any file system treats as `.git` is dangerous to clones on it, so it is refused: in any case, with code
points that HFS+ ignores, as an NTFS short name, and with a suffix that NTFS drops.
"""

import re
from functools import lru_cache
from typing import Final

from holdfast.hosting.errors import PathRefused
from holdfast.hosting.git.encoding import raw

__all__ = ["LONGEST_PATH", "clean", "may_hold_file", "may_hold_link", "requested_path"]

LONGEST_PATH: Final = 4096
# Code points that HFS+ ignores in comparisons.
IGNORED: Final = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
# NTFS drops trailing dots and spaces, and treats the part after a colon as a stream.
DOT_GIT: Final = re.compile(r"(?:\.git|git~1)[. ]*(?::.*)?", re.IGNORECASE | re.ASCII | re.DOTALL)
# Files that git reads, which must be regular files; NTFS has short names for them too.
READ_BY_GIT: Final = re.compile(
    r"(?:\.git(?:modules|attributes)|git(?:mod|att)~[1-4]|(?=.{8}(?:[. :]|$))(?:g|gi|gi7[0-9a-f]{0,3})?~[0-9]+)"
    r"[. ]*(?::.*)?",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)


def clean(path: str) -> str:
    """Return a path without empty parts and dots, with `..` resolved up to the root; it may be empty."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


@lru_cache(maxsize=1024)
def requested_path(path: str) -> str:
    """Return the normalized path of a request; raise `PathRefused` if it contains `.git` or is empty."""
    normalized = clean(path)
    if (path and not normalized) or any(raw(part).lower() == b".git" for part in normalized.split("/")):
        raise PathRefused(f"path contains a malformed path component [path: {path}]")
    return normalized


def is_git(name: str) -> bool:
    """Return whether any file system treats a name as `.git`."""
    return any(map(DOT_GIT.fullmatch, name.split("\\"))) or (
        not name.isascii() and any(map(DOT_GIT.fullmatch, name.translate(IGNORED).split("\\")))
    )


def is_read_by_git(name: str) -> bool:
    """Return whether any file system treats a name as a file that git reads, such as `.gitmodules`."""
    return any(map(READ_BY_GIT.fullmatch, name.translate(IGNORED).split("\\")))


def may_hold_file(path: str) -> bool:
    """Return whether a file may exist at a normalized path: as in git, any byte but NUL is allowed."""
    if not path or "\0" in path:
        return False
    try:
        encoded = path.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    *folders, _ = names = path.split("/")
    return len(encoded) <= LONGEST_PATH and not (any(map(is_git, names)) or any(map(is_read_by_git, folders)))


def may_hold_link(path: str) -> bool:
    """Return whether a symbolic link may exist at a path: not in place of a file that git reads."""
    return not is_read_by_git(path.rpartition("/")[2])
