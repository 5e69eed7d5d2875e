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
    """One number of a benchmark; `least` and `most` are the promises it must keep, where there are any."""

    name: str
    value: float
    unit: str
    least: float | None = None
    most: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the promises are kept."""
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    def line(self) -> str:
        """Write it for people."""
        bounds = [
            f"{word} {bound:g}" for word, bound in (("at least", self.least), ("at most", self.most)) if bound
        ]
        promise = f"promised {' and '.join(bounds)}: {'kept' if self.kept else 'BROKEN'}" if bounds else ""
        return f"  {self.name:<58} {self.value:>12,.2f} {self.unit:<10} {promise}"


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
