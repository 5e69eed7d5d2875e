"""Memory does not grow with the number of messages."""

import subprocess
import sys

from bench.harness import Figure
from bench.streams import MESSAGES, repeated

WORK = {
    "iterate": "sum(1 for _ in backup.open(path))",
    "info": "backup.info(path)",
    "to JSON Lines": "convert(backup.open(path), open('/dev/null', 'wb'), to=To.JSONL)",
}
PROGRAM = """
import sys
from holdfast import backup
from holdfast.backup.conversion import To, convert
path = sys.argv[1]
{work}
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def peak(work: str, path: str) -> float:
    """Run something in a process of its own and return its peak memory in megabytes.

    The kernel's own mark is read: what `getrusage` says still holds the memory of the process that started it.
    """
    program = PROGRAM.format(work=work)
    done = subprocess.run([sys.executable, "-c", program, path], check=True, capture_output=True, text=True)
    return int(done.stdout) / 1024


def figures() -> list[Figure]:
    """Measure."""
    small, large = str(repeated(1)), str(repeated(10))
    found = []
    for name, work in WORK.items():
        few, many = peak(work, small), peak(work, large)
        found.append(Figure(f"{name}, {MESSAGES:,} messages", few, "MB"))
        found.append(Figure(f"{name}, ten times as many, against that", many / few, "x", most=1.2))
    return found
