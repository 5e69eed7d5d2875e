"""Metrics for Prometheus.

Each worker process counts in its own file, and the process that is scraped adds them up (multiprocess mode). The
library enables this mode at import time by `PROMETHEUS_MULTIPROC_DIR`, so it is imported on first use.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from prometheus_client import Histogram
    from prometheus_client.core import GaugeMetricFamily

__all__ = [
    "CONTENT_TYPE",
    "Gauge",
    "count_delivery",
    "count_git_command",
    "count_lfs_bytes",
    "count_request",
    "exposition",
]

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0)
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "SSH"})

# Cache of labelled children by route, method and status class: a lookup takes a third of the library's time.
histograms: "dict[tuple[str, str, int], Histogram]" = {}


class Instruments:
    """All instruments."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram  # noqa: PLC0415  # see above

        # The library has just read this variable, and does not read it again.
        self.is_shared = "PROMETHEUS_MULTIPROC_DIR" in os.environ
        self.registry: CollectorRegistry = CollectorRegistry()
        self.requests: Histogram = Histogram(
            "holdfast_request_seconds",
            "Duration of requests",
            ["method", "route", "status"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.git: Counter = Counter(
            "holdfast_git_commands", "Runs of the git program", ["command"], registry=self.registry
        )
        self.lfs: Counter = Counter(
            "holdfast_lfs_bytes", "Bytes of large files (LFS)", ["direction"], registry=self.registry
        )
        self.deliveries: Histogram = Histogram(
            "holdfast_delivery_seconds",
            "Duration of webhook delivery attempts",
            ["outcome"],
            buckets=SECONDS,
            registry=self.registry,
        )


@dataclass(frozen=True, slots=True)
class Gauge:
    """A value that is read at scrape time."""

    name: str
    description: str
    value: float


class GaugeCollector:
    """Collector of gauges that are not shared between processes.

    A gauge of the library is stored in the file of its process, and every later scrape of another process has its
    old value too.
    """

    def __init__(self, gauges: Sequence[Gauge]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator["GaugeMetricFamily"]:
        """Return a family for each gauge."""
        from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415  # see above

        for gauge in self._gauges:
            yield GaugeMetricFamily(gauge.name, gauge.description, gauge.value)


@lru_cache(maxsize=1)
def instruments() -> Instruments:
    """Return the instruments, created on first use."""
    return Instruments()


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count a request; `route` is the matched pattern, never the path, which would be unbounded."""
    key = (method, route, status // 100)
    histogram = histograms.get(key)
    if histogram is None:
        spelled = method if method in METHODS else "other"
        histogram = instruments().requests.labels(spelled, route, f"{status // 100}xx")
        # An unknown method is counted but not cached.
        if spelled == method:
            histograms[key] = histogram
    histogram.observe(seconds)


def count_git_command(command: str) -> None:
    """Count a run of git."""
    instruments().git.labels(command).inc()


def count_lfs_bytes(direction: Literal["up", "down"], size: int) -> None:
    """Count bytes of LFS transfers."""
    instruments().lfs.labels(direction).inc(size)


def count_delivery(outcome: str, seconds: float) -> None:
    """Count a delivery attempt; `outcome` is `delivered`, `retried`, `failed` or `cancelled`."""
    delivery_histogram(outcome).observe(seconds)


@lru_cache(maxsize=8)
def delivery_histogram(outcome: str) -> "Histogram":
    """Return the histogram of one outcome; cached, as the lookup takes as long as counting."""
    return instruments().deliveries.labels(outcome)


def exposition(gauges: Sequence[Gauge] = ()) -> bytes:
    """Return the metrics of all processes of the service, and the gauges, in the text format of Prometheus."""
    from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415  # see above
    from prometheus_client.multiprocess import MultiProcessCollector  # noqa: PLC0415  # see above

    everything = CollectorRegistry()
    if instruments().is_shared:
        MultiProcessCollector(everything)  # type: ignore[no-untyped-call]  # the library does not type it
    else:
        everything.register(instruments().registry)
    everything.register(GaugeCollector(gauges))
    return generate_latest(everything)
