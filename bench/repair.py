"""Redacting and repairing whole backups: how many frames a second, and that memory does not grow with them."""

import time
from pathlib import Path

from bench.harness import Figure
from bench.memory import peak
from bench.streams import folder
from bench.validate import repeated_messages
from holdfast import backup
from holdfast.backup import RepairOptions

FEW = 100_000
TIMES = 10
# Changed records are held in memory, so their number must not grow with that of all others.
FAULTS = 100
WORK = {
    "redact": "backup.redact(path, path + '.redacted')",
    "repair": "backup.repair(path, path + '.repaired', options=backup.RepairOptions(drop=True))",
}


def faulty(times: int) -> Path:
    """Write a valid backup with its messages repeated, and some that nothing can import behind them."""
    path = folder() / f"faulty-x{times}.binproto"
    path.write_bytes(repeated_messages(times, FEW).read_bytes() + b"\x02\x22\x00" * FAULTS)
    return path


def seconds(work: str, path: Path) -> float:
    """Do something once, and time it."""
    started = time.perf_counter()
    if work == "redact":
        backup.redact(path, f"{path}.redacted")
    else:
        done = backup.repair(path, f"{path}.repaired", options=RepairOptions(drop=True))
        assert done.passes
        assert len(done.steps) == FAULTS
    return time.perf_counter() - started


def figures() -> list[Figure]:
    """Measure."""
    few, many = faulty(1), faulty(TIMES)
    with backup.open(many) as source:
        count = sum(block.count for block in source.blocks())
    found = []
    for work, program in WORK.items():
        found.append(Figure(f"{work}, {count:,} frames", count / seconds(work, many), "frames/s"))
        small, large = peak(program, str(few)), peak(program, str(many))
        found.append(Figure(f"{work}, memory for a tenth of them", small, "MB"))
        found.append(Figure(f"{work}, memory for all, against that", large / small, "x", most=1.2))
    return found
