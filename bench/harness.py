"""How things are measured: cases take turns in one run, and what counts is the ratio of their medians.

The machines are shared and noisy, so an absolute time says little; a ratio of things measured side by side does.
"""

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["Figure", "medians"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a benchmark; `least` is the promise it must keep, None when there is none."""

    name: str
    value: float
    unit: str
    least: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the promise is kept."""
        return self.least is None or self.value >= self.least

    def line(self) -> str:
        """Write it for people."""
        promise = "" if self.least is None else f"promised {self.least:g}: {'kept' if self.kept else 'BROKEN'}"
        return f"  {self.name:<58} {self.value:>12,.2f} {self.unit:<14} {promise}"


def medians(cases: Mapping[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Run the cases in turn, `rounds` times, and return the median seconds of each."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, case in cases.items():
            gc.collect()
            gc.disable()
            started = time.perf_counter()
            case()
            times[name].append(time.perf_counter() - started)
            gc.enable()
    return {name: statistics.median(taken) for name, taken in times.items()}
