"""LFS pointer files."""

import re
from dataclasses import dataclass
from typing import Final, Self

__all__ = ["MOST_BYTES", "LfsPointer", "is_oid"]

MOST_BYTES: Final = 1024
VERSION: Final = b"version https://git-lfs.github.com/spec/v1"
OID: Final = re.compile(r"[0-9a-f]{64}")
OID_LINE: Final = re.compile(rb"oid sha256:([0-9a-f]{64})")
SIZE_LINE: Final = re.compile(rb"size ([0-9]{1,19})")


def is_oid(name: str) -> bool:
    """Return whether a name is an object id: 64 lowercase hexadecimal digits."""
    return OID.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class LfsPointer:
    """An LFS pointer: the id and size of an object."""

    oid: str
    size: int

    @classmethod
    def parse(cls, content: bytes) -> Self | None:
        """Parse a pointer; None if the content is not a pointer."""
        if len(content) > MOST_BYTES or not content.startswith(VERSION):
            return None
        lines = content.split(b"\n")
        if len(lines) < 3:
            return None
        oid, size = OID_LINE.fullmatch(lines[1]), SIZE_LINE.fullmatch(lines[2])
        if oid is None or size is None or int(size[1]) >= 2**63:
            return None
        return cls(oid[1].decode(), int(size[1]))

    def format(self) -> bytes:
        """Format it as git-lfs does."""
        return b"%s\noid sha256:%s\nsize %d\n" % (VERSION, self.oid.encode(), self.size)
