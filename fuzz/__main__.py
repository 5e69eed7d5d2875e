"""Feeds targets mutated input until the time is up; anything but an answer or an expected error is a find.

    make fuzz                               every target, two minutes each
    make fuzz TARGET=reader SECONDS=3600    one target for an hour

The fuzzer follows the branches of the Python around the core; inside the compiled core it searches blindly, and
the differential tests are what holds that to protobuf. An input that is a find is written to
build/fuzz/.
"""

import argparse
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

try:
    import atheris
except ModuleNotFoundError:  # it comes as a binary for some platforms only
    atheris = None

with atheris.instrument_imports(include=["holdfast"]) if atheris else nullcontext():
    from fuzz.targets import TARGETS

FINDS = Path("build", "fuzz")


def fuzz(name: str, seconds: int) -> None:
    """Fuzz one target; the process ends with it."""
    target = TARGETS[name]
    FINDS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(target.seeds()):
            Path(folder, f"seed-{number}").write_bytes(seed)
        options = [f"-max_total_time={seconds}", f"-max_len={target.longest}", "-rss_limit_mb=2048"]
        atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={FINDS}/{name}-", folder], target.run)
        atheris.Fuzz()


def main() -> int:
    """Fuzz the target that is named, or each in a process of its own."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz", description="Search for input that breaks what reads it."
    )
    parser.add_argument("--target", choices=[*TARGETS, "all"], default="all")
    parser.add_argument("--seconds", type=int, default=120, help="how long each target is fuzzed")
    options = parser.parse_args()
    if atheris is None:
        parser.error("the fuzzer, atheris, is not installed; `make fuzz` installs it where it is available")
    if options.target != "all":
        fuzz(options.target, options.seconds)
        return 0
    failed = []
    for name in TARGETS:
        print(f"== {name}", flush=True)
        command = [sys.executable, "-m", "fuzz", "--target", name, "--seconds", str(options.seconds)]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    if failed:
        print("finds in:", *failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
