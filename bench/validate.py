"""Holding every frame to every rule, against protobuf's bare parsing of the same frames, and how it grows."""

import time
from pathlib import Path

from bench.harness import Figure, medians
from bench.memory import peak
from bench.streams import MESSAGES, folder, sample_stream
from holdfast import backup
from holdfast.backup.rules import ValidationRun
from holdfast.backup.schema import Frame

# So many times the messages of the sample are five million frames.
TIMES = 10


def repeated_messages(times: int, count: int = MESSAGES) -> Path:
    """Write a sample of so many messages with its messages repeated, which leaves it valid."""
    path = folder() / f"messages-{count}x{times}.binproto"
    sample = sample_stream(count)
    with backup.open(sample) as source, path.open("wb") as target:
        data = sample.read_bytes()
        first = next(frame.offset for frame in source if frame.kind == 4)
        target.write(data[:first])
        messages = bytearray()
        with backup.open(sample) as again:
            for frame in again:
                whole = data[frame.offset : frame.body + len(frame.raw)]
                if frame.kind == 4:
                    messages += whole
                elif frame.offset > first:
                    target.write(whole)
        for _ in range(times):
            target.write(messages)
    return path


def validate(path: Path, threads: int) -> int:
    """Validate a file that must be valid, and count its frames."""
    with backup.open(path) as source:
        validation = ValidationRun(source, threads=threads)
        assert list(validation) == []
        return validation.frames


def side_by_side(path: Path) -> tuple[dict[str, float], int]:
    """Parse and validate the same frames in turn; return the seconds each took, and how many frames there are."""
    with backup.open(path) as source:
        raws = [frame.raw for frame in source]

    def parse_all() -> None:
        for raw in raws:
            Frame.FromString(raw)

    cases = {"parse": parse_all, "one": lambda: validate(path, 1), "two": lambda: validate(path, 2)}
    return medians(cases), len(raws)


def figures() -> list[Figure]:
    """Measure."""
    path = repeated_messages(1)
    taken, count = side_by_side(path)
    long = repeated_messages(TIMES)
    started = time.perf_counter()
    frames = validate(long, 1)
    per_frame = (time.perf_counter() - started) / frames
    work = "list(backup.validate(path))"
    few, many = peak(work, str(path)), peak(work, str(long))
    return [
        Figure("validate with every rule, frames a second", count / taken["one"], "frames/s"),
        Figure("validate, times protobuf's bare parsing", taken["parse"] / taken["one"], "x", least=1),
        Figure("validate in two threads, times protobuf's parsing", taken["parse"] / taken["two"], "x", least=1.6),
        Figure(
            f"{frames:,} frames, time for each against {MESSAGES:,}",
            per_frame * count / taken["one"],
            "x",
            most=1.3,
        ),
        Figure(f"memory for {count:,} frames", few, "MB"),
        Figure("memory for ten times as many, against that", many / few, "x", most=1.2),
    ]
