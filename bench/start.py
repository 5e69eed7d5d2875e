"""Starting the command, in CPU time and as a ratio to starting Python.

The modules are compiled to bytecode, as those of an installed package are.
"""

import os
import resource
import subprocess
import sys

from bench.harness import Figure
from bench.streams import folder
from holdfast.backup.conversion import OutputFormat
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample

ROUNDS = 7


def cpu_seconds(*words: str) -> float:
    """Run Python several times, and return the least CPU time one run took."""
    taken = []
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder() / "bytecode")}
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environ)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def figures() -> list[Figure]:
    """Measure."""
    small = folder() / "small.binproto"
    write_sample(sample_records(200, 1), small, OutputFormat.STREAM, seed=1, replace=True)
    python = cpu_seconds("-c", "pass")
    cases = {
        "--version": ("-m", "holdfast", "--version"),
        "--help": ("-m", "holdfast", "--help"),
        "backup --help": ("-m", "holdfast", "backup", "--help"),
        "completion bash": ("-m", "holdfast", "completion", "bash"),
        "backup info of a small file": ("-m", "holdfast", "backup", "info", str(small)),
        "import holdfast.backup": ("-c", "import holdfast.backup"),
    }
    found = []
    for name, words in cases.items():
        seconds = cpu_seconds(*words)
        found.append(Figure(f"{name}, CPU seconds", seconds, "s"))
        found.append(Figure(f"{name}, times starting Python", seconds / python, "times"))
    return found
