"""What the encryption of an archive costs: importing, searching, a page of a chat, and opening it."""

import shutil
import statistics
import time
from pathlib import Path

from bench.archive import imported_into, searches
from bench.harness import Figure, medians
from bench.streams import folder, sample_stream
from holdfast.backup import archives, encrypt_archive

MESSAGES = 200_000
PAGES = 200
PASSPHRASE = "correct horse battery staple"


def pages(place: Path, passphrase: str | None) -> float:
    """Read pages of the largest chats with a new connection, and return the median seconds of one."""
    times: list[float] = []
    with archives.open(place, passphrase=passphrase) as opened:
        chats = sorted(opened.chats(), key=lambda chat: -chat.messages)[:20]
        for n in range(PAGES):
            started = time.process_time()
            opened.page(chats[n % len(chats)].id, around_ms=chats[n % len(chats)].latest_ms or 0, limit=50)
            times.append(time.process_time() - started)
    return statistics.median(times)


def figures() -> list[Figure]:
    """Measure."""
    plain, encrypted, changed = (folder() / name for name in ("plain.db", "encrypted.db", "changed.db"))
    stream = sample_stream(MESSAGES)
    seconds = imported_into(plain, stream).used
    _took, encrypted_seconds, memory = imported_into(encrypted, stream, PASSPHRASE)
    found, encrypted_found = searches(plain), searches(encrypted, PASSPHRASE)
    page, encrypted_page = pages(plain, None), pages(encrypted, PASSPHRASE)
    opening = medians(
        {
            "plain": lambda: archives.open(plain).close(),
            "encrypted": lambda: archives.open(encrypted, passphrase=PASSPHRASE).close(),
        }
    )
    shutil.copy(plain, changed)
    started = time.process_time()
    encrypt_archive(changed, PASSPHRASE)
    size = changed.stat().st_size / 1e6
    rate = size / (time.process_time() - started)
    middle = len(found) // 2
    return [
        Figure("importing, messages a second of one core", MESSAGES / seconds, "messages/s"),
        Figure("importing into an encrypted one", MESSAGES / encrypted_seconds, "messages/s"),
        Figure("importing, encrypted against plain", encrypted_seconds / seconds, "times", most=1.6),
        Figure("most memory while importing, encrypted", memory, "MB"),
        Figure("search, median", found[middle] * 1000, "ms"),
        Figure("search, median, encrypted", encrypted_found[middle] * 1000, "ms"),
        Figure("a page of a chat", page * 1000, "ms"),
        Figure("a page of a chat, encrypted", encrypted_page * 1000, "ms"),
        Figure("opening", opening["plain"] * 1000, "ms"),
        Figure("opening, encrypted", opening["encrypted"] * 1000, "ms", most=1500),
        Figure("encrypting an archive", rate, "MB/s"),
    ]
