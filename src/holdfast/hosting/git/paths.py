"""Path normalization, and the checks of `git fsck` for paths on all platforms.

A name that one file system takes for `.git` is dangerous to whoever clones on it, so it is refused on all of them:
in any case, with code points that HFS ignores, as NTFS shortens it, and with what NTFS drops from the end.
"""

import re
from typing import Final

__all__ = ["LONGEST_PATH", "clean", "may_hold_file", "may_hold_link"]

LONGEST_PATH: Final = 4096
# What HFS passes over when it compares names.
IGNORED: Final = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
# NTFS drops dots and spaces at the end, and takes what follows a colon for a stream of the file before it.
DOT_GIT: Final = re.compile(r"(?:\.git|git~1)[. ]*(?::.*)?", re.IGNORECASE | re.ASCII | re.DOTALL)
# git reads these and takes nothing but a plain file for them; NTFS knows them by shortened names as well.
READ_BY_GIT: Final = re.compile(
    r"(?:\.git(?:modules|attributes)|git(?:mod|att)~[1-4]|(?=.{8}(?:[. :]|$))(?:g|gi|gi7[0-9a-f]{0,3})?~[0-9]+)"
    r"[. ]*(?::.*)?",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)


def clean(path: str) -> str:
    """Return a path without empty parts and dots, and with `..` followed as far as the root; it may be empty."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def is_git(name: str) -> bool:
    """Tell whether some file system takes a name for `.git`."""
    return any(map(DOT_GIT.fullmatch, name.split("\\"))) or (
        not name.isascii() and any(map(DOT_GIT.fullmatch, name.translate(IGNORED).split("\\")))
    )


def is_read_by_git(name: str) -> bool:
    """Tell whether some file system takes a name for that of a file git reads, such as `.gitmodules`."""
    return any(map(READ_BY_GIT.fullmatch, name.translate(IGNORED).split("\\")))


def may_hold_file(path: str) -> bool:
    """Tell whether a file may lie at a path that was cleaned: as in git, any byte but NUL may stand in it."""
    if not path or "\0" in path:
        return False
    try:
        encoded = path.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    *folders, _ = names = path.split("/")
    return len(encoded) <= LONGEST_PATH and not (any(map(is_git, names)) or any(map(is_read_by_git, folders)))


def may_hold_link(path: str) -> bool:
    """Tell whether a symbolic link may lie at a path where a file may: not in place of a file that git reads."""
    return not is_read_by_git(path.rpartition("/")[2])
