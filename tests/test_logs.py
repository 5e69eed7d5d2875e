"""Log output: one line for each event, as text or JSON, without private data."""

import io
import json
import logging

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from holdfast import logs
from holdfast.logs import PRIVATE, mask_secrets
from holdfast.secret import MASK, Secret


def configure_stream(*, style: str = "json") -> io.StringIO:
    """Configure logging to write to the stream this returns."""
    stream = io.StringIO()
    logs.configure(style="json" if style == "json" else "text", level="info", stream=stream)
    return stream


def test_json_is_one_object_a_line() -> None:
    """Every event is one line that a program can read, newlines in values included."""
    stream = configure_stream()
    structlog.get_logger().info("first", count=1)
    structlog.get_logger().warning("second\nline", path="/a\nb")
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (first["event"], first["count"], first["level"]) == ("first", 1, "info")
    assert second["path"] == "/a\nb"


def test_text_is_one_line_without_colours_in_a_pipe() -> None:
    """Text output to something other than a terminal has no escape codes."""
    stream = configure_stream(style="text")
    structlog.get_logger().info("started", port=3000)
    assert "\x1b" not in stream.getvalue()
    assert stream.getvalue().count("\n") == 1
    assert "port=3000" in stream.getvalue()


def test_less_important_events_are_left_out() -> None:
    """The log level applies to events of Holdfast and of libraries."""
    stream = configure_stream()
    structlog.get_logger().debug("detail")
    logging.getLogger("library").debug("detail")
    assert stream.getvalue() == ""


def test_libraries_log_through_the_same_chain() -> None:
    """An event of the standard logging module is written as JSON with event, logger and level."""
    stream = configure_stream()
    logging.getLogger("library").warning("look: %s", "here")
    line = json.loads(stream.getvalue())
    assert (line["event"], line["logger"], line["level"]) == ("look: here", "library", "warning")


@pytest.mark.parametrize("fact", [*sorted(PRIVATE), "api_token", "backup_key", "Message_Text"])
def test_facts_with_private_names_are_masked(fact: str) -> None:
    """A value is masked if its key is private, whatever the value is."""
    assert mask_secrets(None, "info", {"event": "x", fact: "hunter2"}) == {"event": "x", fact: MASK}


@given(st.binary(min_size=5))
def test_bytes_are_only_counted(value: bytes) -> None:
    """Raw bytes may be a message or a key, so a log says only how many there were."""
    event = mask_secrets(None, "info", {"event": "x", "frame": value, "password_of": Secret("hunter2")})
    assert event == {"event": "x", "frame": f"<{len(value)} bytes>", "password_of": MASK}


def test_an_exception_is_logged_by_type_and_place_without_its_text() -> None:
    """An exception is logged with type and location, and without its message, which may quote the input."""
    stream = configure_stream()
    try:
        int("the private text")
    except ValueError:
        structlog.get_logger().exception("failed")
        logging.getLogger("library").exception("failed too")
    lines = stream.getvalue().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["failed", "failed too"]
    for line in lines:
        assert "private" not in line
        assert json.loads(line)["error"] == "ValueError"
        assert "tests.test_logs:" in json.loads(line)["at"]
