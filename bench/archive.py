"""Bringing a history into an archive, and searching a million messages."""

import random
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bench.harness import Figure
from bench.streams import folder, sample_lines, sample_stream
from holdfast.backup import archives

FEW, MANY, MOST = 100_000, 1_000_000, 3_000_000
SEARCHES = 400

# A process of its own: its peak of memory is not that of the benchmarks before it. The kernel's own mark is read:
# what `getrusage` says still holds the memory of the process that started it.
IMPORT = """
import sys, time
from holdfast import backup
from holdfast.backup import archives
place, stream, passphrase = sys.argv[1:]
with archives.open(place, create=True, passphrase=passphrase or None) as opened, backup.open(stream) as found:
    started, used = time.perf_counter(), time.process_time()
    opened.add(found)
    took, used = time.perf_counter() - started, time.process_time() - used
highest = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(took, used, highest)
"""


class Import(NamedTuple):
    """What an import took: seconds, seconds of one core, and the most memory in MB."""

    took: float
    used: float
    memory: float


def imported(messages: int) -> tuple[Path, Import]:
    """Import a history, and return the archive and what it took."""
    place = folder() / f"{messages}.db"
    place.unlink(missing_ok=True)
    return place, imported_into(place, sample_stream(messages))


def imported_into(place: Path, stream: Path, passphrase: str = "") -> Import:
    """Import a stream into an archive."""
    words = [sys.executable, "-c", IMPORT, str(place), str(stream), passphrase]
    took, used, memory = subprocess.run(words, capture_output=True, check=True, text=True).stdout.split()
    return Import(float(took), float(used), int(memory) / 1024)


def searches(place: Path, passphrase: str | None = None) -> list[float]:
    """Search for words, phrases and beginnings, with and without filters, and return the times in order."""
    dice = random.Random(1)
    times: list[float] = []
    with archives.open(place, passphrase=passphrase) as opened:
        rows = opened.connection.execute(
            "SELECT text FROM message WHERE kind = 'message' ORDER BY id DESC LIMIT 5000"
        )
        words = [word for (text,) in rows for word in (text or "").split() if any(map(str.isalnum, word))]
        chats = [chat.id for chat in opened.chats()[:50]]
        people = [person.id for person in opened.people()[:50]]
        for _ in range(SEARCHES):
            word, other = dice.choice(words), dice.choice(words)
            query = dice.choice(
                (
                    word,
                    f"{word} {other}",
                    f'"{word} {other}"',
                    f"{word[:4]}*",
                    f"{word} chat:{dice.choice(chats)}",
                    f"{word} from:{dice.choice(people)}",
                    f"{word} has:media",
                    f"{word} is:in since:2024 until:2024-06",
                )
            )
            order = dice.choice(("date", "rank"))
            started = time.perf_counter()
            opened.search(query, order="date" if order == "date" else "rank", limit=20, context=1)
            times.append(time.perf_counter() - started)
    return sorted(times)


def figures() -> list[Figure]:
    """Measure."""
    _small, few = imported(FEW)
    place, many = imported(MANY)
    times = searches(place)
    _large, most = imported(MOST)
    lines = imported_into(folder() / "lines.db", sample_lines(FEW))
    stored = place.stat().st_size / sample_stream(MANY).stat().st_size
    return [
        Figure("importing, messages a second", MANY / many.took, "messages/s", least=60_000),
        Figure("importing, messages a second of one core", MANY / many.used, "messages/s"),
        Figure("a message among a million against one of 100,000", many.used / few.used / 10, "times", most=1.25),
        Figure("a message among three million", most.used / few.used / 30, "times", most=1.25),
        Figure("importing JSON Lines, times frames", lines.used / few.used, "times", most=2),
        Figure("memory for a million against 100,000", many.memory / few.memory, "times", most=1.5),
        Figure("memory for three million against a million", most.memory / many.memory, "times", most=1.2),
        Figure("most memory while importing", most.memory, "MB"),
        Figure("size of the archive against the frames", stored, "times", most=2),
        Figure("search in a million, 95th percentile", times[SEARCHES * 95 // 100] * 1000, "ms", most=50),
        Figure("search in a million, median", times[SEARCHES // 2] * 1000, "ms"),
    ]
