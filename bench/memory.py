"""Memory does not grow with the number of messages, and a whole command has a limit."""

import subprocess
import sys

from bench.harness import Figure
from bench.streams import MESSAGES, folder, repeated, sample_lines, sample_stream

WORK = {
    "iterate": "sum(1 for _ in backup.open(path))",
    "info": "backup.info(path)",
    "to JSON Lines": "convert(backup.open(path), open('/dev/null', 'wb'), to=OutputFormat.JSONL)",
}
MILLION = 1_000_000
# The whole command in a process of its own; what it prints goes elsewhere.
COMMAND = """
import contextlib, io, sys
from holdfast.__main__ import main
with contextlib.redirect_stdout(io.StringIO()):
    status = main(sys.argv[1:])
assert status == 0, status
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""
PROGRAM = """
import sys
from holdfast import backup
from holdfast.backup.conversion import OutputFormat, convert
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


def peak_of_command(*words: str) -> float:
    """Run a command line in a process of its own and return its peak memory in megabytes."""
    done = subprocess.run([sys.executable, "-c", COMMAND, *words], check=True, capture_output=True, text=True)
    return int(done.stdout) / 1024


def figures() -> list[Figure]:
    """Measure."""
    small, large = str(repeated(1)), str(repeated(10))
    found = []
    for name, work in WORK.items():
        few, many = peak(work, small), peak(work, large)
        found.append(Figure(f"{name}, {MESSAGES:,} messages", few, "MB"))
        found.append(Figure(f"{name}, ten times as many, against that", many / few, "x", most=1.2))
    stream, lines = str(sample_stream()), str(sample_lines())
    for command in ("info", "validate"):
        for name, path in (("frames", stream), ("JSON Lines", lines)):
            memory = peak_of_command("backup", command, path)
            found.append(Figure(f"the command backup {command}, {name}", memory, "MB", most=60))
    memory = peak_of_command("archive", "import", str(folder() / "memory.db"), str(sample_stream(MILLION)))
    found.append(Figure("the command archive import, a million messages", memory, "MB", most=150))
    return found
