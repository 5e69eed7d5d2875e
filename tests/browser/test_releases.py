"""Releases in a browser: drafted, and published with a file."""

import base64
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import log_in
from tests.conftest import ADMIN_PASSWORD, Service

Keep = Callable[[Page, str], None]


def prepare(site: Service) -> None:
    """Make a repository with a description, topics and two languages."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=60) as api:
        created = {"name": "tides", "description": "Tide tables for small harbours", "auto_init": True}
        assert api.post("/user/repos", json=created).status_code == 201
        api.put("/repos/admin/tides/topics", json={"topics": ["sea", "charts"]})
        for path, text in (("tide.py", "x = 1\n" * 9), ("wind.c", "int x;\n" * 4)):
            body = {"content": base64.b64encode(text.encode()).decode(), "message": f"Add {path}"}
            assert api.post(f"/repos/admin/tides/contents/{path}", json=body).status_code == 201


@pytest.mark.parametrize(("page", "scheme"), [("desktop", "light"), ("phone", "dark")], indirect=True)
def test_a_user_publishes_a_release(site: Service, page: Page, keep: Keep) -> None:
    """A release is created from the repository page, gets a file, and is listed in the side column."""
    prepare(site)
    log_in(page, f"{site.url}/login?next=%2Fadmin%2Ftides")
    page.get_by_role("link", name="Create a new release").click()
    page.get_by_label("Tag", exact=True).fill("v1.0")
    page.get_by_label("Release title").fill("Spring tide")
    page.get_by_label("Describe this release").fill("The **first** one.\n\n- tables\n- charts")
    keep(page, "release-new")
    page.get_by_role("button", name="Publish release").click()
    expect(page.get_by_text("Release Spring tide published.")).to_be_visible()
    page.get_by_label("Attach a file").set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": b"x"})
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("link", name="a.txt")).to_be_visible()
    keep(page, "release")
    page.get_by_role("link", name="Releases").first.click()
    expect(page.get_by_role("heading", name="Spring tide")).to_be_visible()
    keep(page, "releases")
    page.goto(f"{site.url}/admin/tides")
    expect(page.get_by_role("link", name="Spring tide")).to_be_visible()
    keep(page, "repository-side-column")
