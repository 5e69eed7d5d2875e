"""The metrics: each counter and its line in the output."""

from collections.abc import Callable

import pytest

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
