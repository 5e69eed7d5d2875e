"""Looking into a backup, and making one up."""

from bench.harness import Figure, medians
from bench.streams import MESSAGES, sample_lines, sample_stream
from holdfast import backup
from holdfast_demo.sample import sample_records

FEW = 50_000


def figures() -> list[Figure]:
    """Measure."""
    path, lines = sample_stream(), sample_lines()

    def iterate() -> None:
        with backup.open(path) as source:
            for _frame in source:
                pass

    def make_up() -> None:
        for _record in sample_records(FEW):
            pass

    taken = medians(
        {
            "info": lambda: backup.info(path),
            "lines": lambda: backup.info(lines),
            "iterate": iterate,
            "make up": make_up,
        },
        rounds=3,
    )
    return [
        Figure("info, messages a second", MESSAGES / taken["info"], "messages/s"),
        Figure("info of JSON Lines, times that of frames", taken["lines"] / taken["info"], "times", most=2),
        Figure("iterating frames, messages a second", MESSAGES / taken["iterate"], "messages/s"),
        Figure("making up a history, seconds for a million messages", taken["make up"] * 1e6 / FEW, "s", most=60),
    ]
