"""Figures of two programs for the same work."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

__all__ = ["Comparison", "print_table"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How often a second each program did a piece of work, in each round."""

    name: str
    peer: list[float]
    ours: list[float]

    @property
    def ratio(self) -> float:
        """How many times as fast Holdfast is; the median over the rounds, in which both took turns."""
        return median(our / peer for our, peer in zip(self.ours, self.peer, strict=True))


def span(values: list[float]) -> str:
    """Write the smallest and the largest value."""
    first, last = (f"{value:,.0f}" if value >= 20 else f"{value:.2g}" for value in (min(values), max(values)))
    return first if first == last else f"{first} to {last}"


def print_table(peer: str, comparisons: Iterable[Comparison]) -> None:
    """Print a table as its rows are measured."""
    print(f"| work, a second | {peer} | Holdfast | times |\n|---|---|---|---|")
    for one in comparisons:
        print(f"| {one.name} | {span(one.peer)} | {span(one.ours)} | {one.ratio:.1f} |", flush=True)
    print()
