"""The stylesheet and its parts."""

import re
from importlib import resources

from holdfast.web import stylesheet
from tests.conftest import Service


def test_the_parts_are_one_cacheable_response(service: Service) -> None:
    """The URL changes with the content, so the response is immutable."""
    with service.client() as client:
        response = client.get(stylesheet.ADDRESS)
    assert response.content == stylesheet.CONTENT
    assert "immutable" in response.headers["cache-control"]


def test_the_first_part_comes_first_and_no_undefined_property_is_used() -> None:
    """Other parts override the first one, and each custom property that is used is defined in one of the parts."""
    text = stylesheet.CONTENT.decode()
    assert text.startswith((resources.files("holdfast.web") / "style" / stylesheet.FIRST).read_text())
    used = set(re.findall(r"var\((--[a-z-]+)", text))
    assert used
    assert used <= set(re.findall(r"(--[a-z-]+)\s*:", text))


def test_no_class_is_styled_by_two_parts() -> None:
    """All parts are one stylesheet: a class of one page that another part styles too changes both pages."""
    styled_in: dict[str, set[str]] = {}
    for part in (resources.files("holdfast.web") / "style").iterdir():
        rules = re.sub(r"/\*.*?\*/", "", part.read_text(), flags=re.DOTALL)
        selectors = [item.strip() for group in re.findall(r"([^{}]+)\{", rules) for item in group.split(",")]
        for selector in selectors:
            if part.name != stylesheet.FIRST and re.fullmatch(r"\.[\w-]+", selector):
                styled_in.setdefault(selector, set()).add(part.name)
    assert len(styled_in) > 50
    assert {name: parts for name, parts in styled_in.items() if len(parts) > 1} == {}


def test_no_external_resource_is_loaded() -> None:
    """The stylesheet has no `@import` and no `url()`."""
    assert not re.search(rb"@import|url\(", stylesheet.CONTENT)
