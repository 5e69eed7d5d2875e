"""Concurrency and rate limits for imports of chat backups."""

import fcntl
import hashlib
import ipaddress
import os
import time
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from holdfast.errors import HoldfastError

__all__ = [
    "ImportClient",
    "ImportInProgress",
    "ImportQueueFull",
    "ImportRateLimited",
    "ImportRefused",
    "acquire_slot",
    "record_start",
]

HOUR_S: Final = 3600
# The maximum number of recorded starts per hour; the oldest are dropped.
MOST_STARTS: Final = 20_000
# The prefix length of the IPv6 network that a household usually has.
IPV6_PREFIX: Final = 64
SOON_S: Final = 10


class ImportRefused(HoldfastError):
    """An import is refused by a limit; retry after `seconds`."""

    status = 429

    def __init__(self, message: str, seconds: int = SOON_S) -> None:
        super().__init__(message)
        self.seconds = seconds


class ImportInProgress(ImportRefused):
    """The same file is being imported, or the viewer has too many imports running."""


class ImportRateLimited(ImportRefused):
    """The viewer has used up the imports of an hour."""


class ImportQueueFull(ImportRefused):
    """The import queue is full."""

    status = 503


class ImportClient(msgspec.Struct, frozen=True):
    """The viewer of a conversation, as rate limits count it."""

    account: int | None = None
    address: str = ""
    session: str = ""
    """The hash of the session token, as stored in the database."""
    may_write: bool = False
    may_start: bool = True

    @property
    def kind(self) -> str:
        """The class of the viewer: writer, reader or visitor."""
        return "visitor" if self.account is None else "writer" if self.may_write else "reader"

    @property
    def name(self) -> str:
        """The rate limit key: the account, or the network of a visitor."""
        return hash_name(
            f"address {rate_limit_network(self.address)}" if self.account is None else f"account {self.account}"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The rate limit keys that an import counts against: the account and the network."""
        return tuple(dict.fromkeys((self.name, hash_name(f"address {rate_limit_network(self.address)}"))))


class ImportStarts(msgspec.Struct):
    """The start times of imports within the last hour, by rate-limit name."""

    begun: list[tuple[float, str]] = msgspec.field(default_factory=list)


def hash_name(name: str) -> str:
    """Hash a name, so that no IP address is stored."""
    return hashlib.sha256(name.encode()).hexdigest()[:24]


def rate_limit_network(address: str) -> str:
    """Return the network that counts as one client: an IPv4 address, or the /64 of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, IPV6_PREFIX), strict=False))
    return str(parsed)


def acquire_slot(folder: Path, most: int, name: str = "queued") -> BinaryIO:
    """Acquire one of `most` slots, a file lock; it is released by closing it, or when the process ends."""
    for number in range(most):
        slot = os.fdopen(os.open(folder / f"{name}{number}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b")
        try:
            fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            slot.close()
        else:
            return slot
    raise ImportQueueFull("too many backups are being read or exported at the moment")


def record_start(folder: Path, viewer: ImportClient, per_hour: int, *, now: float | None = None) -> None:
    """Record the start of an import, or raise `ImportRateLimited`; the caller holds the mutex of the cache."""
    moment = time.time() if now is None else now
    place = folder / "starts"
    try:
        starts = msgspec.json.decode(place.read_bytes(), type=ImportStarts).begun
    except (OSError, msgspec.DecodeError):
        starts = []
    recent = [start for start in starts if moment - HOUR_S < start[0] <= moment][-MOST_STARTS:]
    for name in viewer.names:
        moments = [at for at, who in recent if who == name]
        if len(moments) >= per_hour:
            seconds = max(1, int(moments[-per_hour] + HOUR_S - moment) + 1)
            raise ImportRateLimited(f"{per_hour} backups were read for you within an hour", seconds)
    recent += [(moment, name) for name in viewer.names]
    beside = place.with_name("starts.part")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(msgspec.json.encode(ImportStarts(recent)))
    beside.replace(place)
