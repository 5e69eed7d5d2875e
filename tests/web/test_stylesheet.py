"""One stylesheet of several parts."""

import re

from holdfast.web import stylesheet
from tests.conftest import Service


def test_the_parts_come_in_one_request_that_browsers_keep(service: Service) -> None:
    """The address tells the content, so it can be kept for good."""
    with service.client() as client:
        answer = client.get(stylesheet.ADDRESS)
    assert answer.content == stylesheet.CONTENT
    assert "immutable" in answer.headers["cache-control"]


def test_colours_are_named_before_they_are_used() -> None:
    """The first part names them, and no part uses a name that none defines."""
    text = stylesheet.CONTENT.decode()
    assert text.index(":root {") < text.index("/* The page of the API. */")
    defined = set(re.findall(r"(--[a-z-]+)\s*:", text))
    assert set(re.findall(r"var\((--[a-z-]+)", text)) <= defined


def test_nothing_is_loaded_from_elsewhere() -> None:
    """No import and no address in it."""
    assert not re.search(rb"@import|url\(", stylesheet.CONTENT)
