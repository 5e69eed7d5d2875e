"""Requests at full speed, by the program `wrk` where it is installed.

The client shares the machine with the server. One in Python takes as much of the processors as a response from
memory does, and then both are measured; `wrk` takes a tenth of that.
"""

import re
import shutil
import subprocess

from bench.compare.hosts import Host
from bench.load import Load, load

__all__ = ["send_requests"]

RATE = re.compile(r"Requests/sec:\s+([\d.]+)")
SLOWEST = re.compile(r"99%\s+([\d.]+)(us|ms|s)\b")
FAILED = re.compile(r"Non-2xx|Socket errors")
IN_MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0}


def send_requests(host: Host, path: str, *, seconds: float, connections: int) -> Load:
    """Send the same request for a while on some connections; all must succeed."""
    program = shutil.which("wrk")
    if program is None:
        return load(host.port, path, host.headers, seconds=seconds, connections=connections)
    command = [program, "--threads", "1", "--connections", str(connections), "--latency", "--timeout", "30s"]
    command += ["--duration", f"{max(round(seconds), 1)}s"]
    for name, value in host.headers.items():
        command += ["--header", f"{name}: {value}"]
    done = subprocess.run(
        [*command, f"http://127.0.0.1:{host.port}{path}"], check=True, capture_output=True, text=True
    )
    rate, slowest = RATE.search(done.stdout), SLOWEST.search(done.stdout)
    if rate is None or slowest is None or FAILED.search(done.stdout):
        raise RuntimeError(f"{path}: {done.stdout}")
    return Load(float(rate[1]), float(slowest[1]) * IN_MILLISECONDS[slowest[2]])
