"""What is counted while the service runs, in the form Prometheus reads.

With several worker processes each counts for itself, in a file of its own, and whichever is asked adds them up.
The library decides which way it works when it is first imported, from `PROMETHEUS_MULTIPROC_DIR`: hence nothing
here imports it before something is counted.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from prometheus_client import Histogram

__all__ = ["CONTENT_TYPE", "count_git_command", "count_lfs_bytes", "count_request", "exposition"]

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0)
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

# One per route, method and kind of answer: looking it up here costs a third of asking the library for it.
known: "dict[tuple[str, str, int], Histogram]" = {}


class Instruments:
    """Everything that is counted."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram  # noqa: PLC0415  # see above

        self.registry: CollectorRegistry = CollectorRegistry()
        self.requests: Histogram = Histogram(
            "holdfast_request_seconds",
            "Requests, by how long they took",
            ["method", "route", "status"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.git: Counter = Counter(
            "holdfast_git_commands", "Runs of the git program", ["command"], registry=self.registry
        )
        self.lfs: Counter = Counter(
            "holdfast_lfs_bytes", "Bytes of large files", ["direction"], registry=self.registry
        )


@lru_cache(maxsize=1)
def instruments() -> Instruments:
    """Return what is counted, made when first needed."""
    return Instruments()


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count a request; `route` is the pattern it matched, never the path, of which there are endlessly many."""
    key = (method, route, status // 100)
    histogram = known.get(key)
    if histogram is None:
        spelled = method if method in METHODS else "other"
        histogram = instruments().requests.labels(spelled, route, f"{status // 100}xx")
        # What a client made up as a method is counted, but not remembered.
        if spelled == method:
            known[key] = histogram
    histogram.observe(seconds)


def count_git_command(command: str) -> None:
    """Count a run of the git program."""
    instruments().git.labels(command).inc()


def count_lfs_bytes(direction: Literal["up", "down"], size: int) -> None:
    """Count bytes of large files that people sent or fetched."""
    instruments().lfs.labels(direction).inc(size)


def exposition() -> bytes:
    """Write everything that was counted, in all worker processes of this service."""
    from prometheus_client import CollectorRegistry, generate_latest, values  # noqa: PLC0415  # see above
    from prometheus_client.multiprocess import MultiProcessCollector  # noqa: PLC0415

    own = instruments().registry
    # The library asks itself the same.
    if not values.ValueClass._multiprocess:  # noqa: SLF001
        return generate_latest(own)
    everything = CollectorRegistry()
    MultiProcessCollector(everything)  # type: ignore[no-untyped-call]
    return generate_latest(everything)
