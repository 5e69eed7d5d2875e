"""Uploading an avatar, and the contributors of a repository, in a browser."""

import struct
import zlib
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import log_in
from tests.conftest import ADMIN_PASSWORD, Service


def green_square() -> bytes:
    """Return a picture of eight by eight pixels (PNG)."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = b"".join(b"\0" + b"\x20\x80\x40" * 8 for _ in range(8))
    header = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(("scheme", "page"), [("light", "desktop"), ("dark", "phone")], indirect=True)
def test_a_user_uploads_an_avatar(site: Service, page: Page, keep: Callable[[Page, str], None]) -> None:
    """A user uploads an avatar for the account and for a repository, whose home page lists contributors."""
    with httpx.Client(base_url=f"{site.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as admin:
        admin.post("/user/repos", json={"name": "harbour", "auto_init": True})
        for number in range(3):
            author = {"name": f"Helper {number}", "email": f"helper{number}@example.org"}
            body = {"content": "", "message": "x", "author": author}
            assert admin.post(f"/repos/admin/harbour/contents/{number}.txt", json=body).status_code == 201
    log_in(page, f"{site.url}/login?next=/-/account/avatar")
    picture = {"name": "me.png", "mimeType": "image/png", "buffer": green_square()}
    page.get_by_label("New picture").set_input_files(picture)  # type: ignore[arg-type]  # a dictionary of this form
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("status")).to_have_text("Avatar saved.")
    expect(page.get_by_role("img", name="Current avatar")).to_be_visible()
    keep(page, "avatar")
    page.wait_for_load_state("networkidle")
    page.goto(f"{site.url}/admin/harbour/settings/avatar")
    page.get_by_label("New picture").set_input_files(picture)  # type: ignore[arg-type]  # as above
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("button", name="Remove avatar")).to_be_visible()
    page.wait_for_load_state("networkidle")
    page.goto(f"{site.url}/admin/harbour")
    expect(page.get_by_role("heading", name="Contributors")).to_be_visible()
    expect(page.locator(".contributors").get_by_text("Helper 2")).to_be_visible()
    keep(page, "contributors")
