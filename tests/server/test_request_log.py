"""The id and the log line of every request."""

import io
import json

import pytest
import structlog

from holdfast import logs
from tests.conftest import Service, wait_for


@pytest.mark.parametrize("given", ["abc-123", "x" * 64])
def test_a_valid_request_id_is_kept(service: Service, given: str) -> None:
    """A proxy's id links its log with ours."""
    with service.client() as client:
        assert client.get("/", headers={"X-Request-Id": given}).headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, "<script>"])
def test_any_other_request_id_is_replaced(service: Service, given: str) -> None:
    """An empty, long or invalid request id of a client is replaced by a new one."""
    with service.client() as client:
        ids = [client.get("/", headers={"X-Request-Id": given}).headers["x-request-id"] for _ in range(2)]
    assert len({*ids, given, ""}) == len({given, ""}) + 2


def test_a_request_is_one_line_without_its_query(service: Service) -> None:
    """Queries may hold tokens, so a log has only the path."""
    stream = io.StringIO()
    logs.configure(style="json", level="info", stream=stream)
    with service.client() as client:
        client.get(
            "/api/v1/version?token=hunter2", headers={"X-Request-Id": "mine", "Authorization": "token hunter2"}
        )
    wait_for(lambda: "\n" in stream.getvalue())  # the line follows the response
    structlog.reset_defaults()
    (line,) = [json.loads(line) for line in stream.getvalue().splitlines() if '"request"' in line]
    assert (line["method"], line["path"], line["status"], line["request"]) == (
        "GET",
        "/api/v1/version",
        401,
        "mine",
    )
    assert "hunter2" not in stream.getvalue()
