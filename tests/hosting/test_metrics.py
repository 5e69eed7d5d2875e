"""The metrics: each counter and its line in the output."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from holdfast.hosting import metrics


def value(line: str) -> float:
    """Return the value of one line, 0 when it is not there."""
    for sent_line in metrics.exposition().decode().splitlines():
        if sent_line.startswith(line + " "):
            return float(sent_line.rpartition(" ")[2])
    return 0.0


@pytest.mark.parametrize(
    ("count", "line", "more"),
    [
        (
            lambda: metrics.count_request("GET", "/a/{b}", 204, 0.02),
            'holdfast_request_seconds_count{method="GET",route="/a/{b}",status="2xx"}',
            1,
        ),
        (
            lambda: metrics.count_request("GET", "/a/{b}", 204, 0.02),
            'holdfast_request_seconds_bucket{le="0.025",method="GET",route="/a/{b}",status="2xx"}',
            1,
        ),
        (
            lambda: metrics.count_request("GET", "/a/{b}", 204, 0.02),
            'holdfast_request_seconds_bucket{le="0.01",method="GET",route="/a/{b}",status="2xx"}',
            0,
        ),
        (
            lambda: metrics.count_git_command("upload-pack"),
            'holdfast_git_commands_total{command="upload-pack"}',
            1,
        ),
        (
            lambda: metrics.count_delivery("delivered", 0.02),
            'holdfast_delivery_seconds_count{outcome="delivered"}',
            1,
        ),
        (lambda: metrics.count_lfs_bytes("up", 1234), 'holdfast_lfs_bytes_total{direction="up"}', 1234),
    ],
)
def test_events_are_counted(count: Callable[[], None], line: str, more: int) -> None:
    """Each call increases its line in the metrics by the expected value."""
    before = value(line)
    count()
    assert value(line) == before + more


SCRAPED_BY_TWO_PROCESSES = """
import subprocess, sys
from holdfast.hosting import metrics

metrics.count_git_command("upload-pack")
sys.stdout.buffer.write(metrics.exposition([metrics.Gauge("holdfast_example", "An example", float(sys.argv[1]))]))
"""


def test_gauges_have_only_the_value_of_this_scrape(tmp_path: Path) -> None:
    """Processes share counts, not gauges: one that was scraped earlier has an old value."""
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    _first, scraped = (
        subprocess.run(
            [sys.executable, "-c", SCRAPED_BY_TWO_PROCESSES, number],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for number in ("7", "3")
    )
    families = list(text_string_to_metric_families(scraped))
    assert len({family.name for family in families}) == len(families)
    samples = {sample.name: (sample.labels, sample.value) for family in families for sample in family.samples}
    assert samples["holdfast_example"] == ({}, 3.0)
    assert samples["holdfast_git_commands_total"] == ({"command": "upload-pack"}, 2.0)
    assert scraped.count("# TYPE holdfast_example gauge") == 1
