"""Logs are one line per event, and nothing private reaches them."""

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
    """What is not a terminal gets no escape codes."""
    stream = configure_stream(style="text")
    structlog.get_logger().info("started", port=3000)
    assert "\x1b" not in stream.getvalue()
    assert stream.getvalue().count("\n") == 1
    assert "port=3000" in stream.getvalue()


def test_less_important_events_are_left_out() -> None:
    """The level holds for our events and for those of libraries."""
    stream = configure_stream()
    structlog.get_logger().debug("detail")
    logging.getLogger("library").debug("detail")
    assert stream.getvalue() == ""


def test_libraries_log_through_the_same_chain() -> None:
    """A library's event is as structured as ours."""
    stream = configure_stream()
    logging.getLogger("library").warning("look: %s", "here")
    line = json.loads(stream.getvalue())
    assert (line["event"], line["logger"], line["level"]) == ("look: here", "library", "warning")


@pytest.mark.parametrize("fact", [*sorted(PRIVATE), "api_token", "backup_key", "Message_Text"])
def test_facts_with_private_names_are_masked(fact: str) -> None:
    """A fact is masked by its name, whatever it holds."""
    assert mask_secrets(None, "info", {"event": "x", fact: "hunter2"}) == {"event": "x", fact: MASK}


@given(st.binary(min_size=5))
def test_bytes_are_only_counted(value: bytes) -> None:
    """Raw bytes may be a message or a key, so a log says only how many there were."""
    event = mask_secrets(None, "info", {"event": "x", "frame": value, "password_of": Secret("hunter2")})
    assert event == {"event": "x", "frame": f"<{len(value)} bytes>", "password_of": MASK}


def test_an_exception_is_logged_by_type_and_place_without_its_text() -> None:
    """An exception's text may quote the input; its type and lines are what helps."""
    stream = configure_stream()
    try:
        int("the private text")
    except ValueError:
        structlog.get_logger().exception("failed")
        logging.getLogger("library").exception("failed too")
    for line in stream.getvalue().splitlines():
        assert "private" not in line
        assert json.loads(line)["error"] == "ValueError"
        assert "tests.test_logs:" in json.loads(line)["at"]
