"""Settings in a browser: an organization, a webhook with its deliveries, and a token."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from holdfast import logs
from holdfast.hosting.data_folder import connect, prepare
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.browser.conftest import log_in
from tests.conftest import ADMIN_PASSWORD, Service, run_service, wait_for


class Receiver(BaseHTTPRequestHandler):
    """A webhook receiver that answers 500 with a body that contains a script."""

    def do_POST(self) -> None:
        """Answer with 500 and a body that contains HTML."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        said = json.dumps({"sorry": "<script>alert(1)</script>", "long": "x" * 300}).encode()
        self.send_response(500)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_arguments: object) -> None:
        """Log nothing."""


@pytest.fixture
def receiver() -> Iterator[str]:
    """Run a receiver of webhooks on loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/hook"
        server.shutdown()


@pytest.fixture
def delivering(tmp_path: Path) -> Iterator[Service]:
    """Serve a small data folder, and send its webhooks to this machine."""
    logs.configure(level="error")
    settings = Settings(
        data=tmp_path / "data", admin_password=Secret(ADMIN_PASSWORD), webhook_allowed_hosts="loopback"
    )
    database = connect(settings)
    prepare(database, settings)
    yield from run_service(settings, database, delivers=True)
    database.close()


def leave_for(page: Page, address: str) -> None:
    """Go somewhere once the page has all its pictures: one that is left unloaded counts as a failure."""
    page.wait_for_load_state("networkidle")
    page.goto(address)


def found_tidewater(delivering: Service, page: Page) -> None:
    """Log in, and make an organization."""
    log_in(page, f"{delivering.url}/login?next=/-/new-organization")
    expect(page.get_by_role("heading", level=1, name="New organization")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("tidewater")
    page.get_by_label("Full name").fill("Tidewater Harbour")
    page.get_by_role("button", name="Create organization").click()
    expect(page.get_by_role("heading", level=1, name="Tidewater Harbour")).to_be_visible()


def make_token(delivering: Service, page: Page) -> None:
    """Create an access token, with the password."""
    leave_for(page, f"{delivering.url}/-/account/tokens")
    page.get_by_label("Name").fill("builds")
    page.get_by_label("Your password").fill(ADMIN_PASSWORD)
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("status")).to_contain_text("it is not shown again")


@pytest.mark.parametrize(("scheme", "page"), [("light", "desktop"), ("dark", "phone")], indirect=True)
def test_a_user_creates_an_organization_a_webhook_and_a_token(
    delivering: Service,
    receiver: str,
    page: Page,
    keep: Callable[[Page, str], None],
    accessible: Callable[[Page], None],
) -> None:
    """The user sees the request and the response of a test delivery of the webhook."""
    found_tidewater(delivering, page)
    page.get_by_role("link", name="Create a repository").click()
    expect(page.get_by_label("Owner")).to_have_value("tidewater")
    keep(page, "new-repository")
    page.get_by_label("Name").fill("tides")
    page.get_by_role("button", name="Create repository").click()
    expect(page.get_by_role("link", name="README.md").first).to_be_visible()
    leave_for(page, f"{delivering.url}/tidewater")
    keep(page, "organization")
    accessible(page)

    leave_for(page, f"{delivering.url}/tidewater/tides/settings")
    page.get_by_label("Description").fill("What the gauge says")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Settings of tidewater/tides saved.")
    keep(page, "repository-settings")

    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Webhooks").click()
    page.get_by_role("link", name="Create a webhook").click()
    page.get_by_role("link", name="Gitea").click()
    page.get_by_label("Target URL").fill(receiver)
    page.get_by_label("Secret").fill("a long random text")
    page.get_by_role("button", name="Create webhook").click()
    expect(page.get_by_text("A secret is set")).to_be_visible()
    keep(page, "webhook")
    accessible(page)
    page.get_by_role("button", name="Send test delivery").click()
    page.wait_for_url("**/deliveries")

    with httpx.Client(base_url=f"{delivering.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as api:
        path = "/repos/tidewater/tides/hooks/1/deliveries"
        wait_for(lambda: api.get(path).json()[0]["response_status"] == 500, seconds=60)
    leave_for(page, page.url)
    expect(page.get_by_text("retrying")).to_be_visible()
    keep(page, "deliveries")
    page.locator(".history a").click()
    expect(page.get_by_role("region", name="Response", exact=True)).to_contain_text("<script>alert(1)</script>")
    expect(page.get_by_role("region", name="Request", exact=True)).to_contain_text('"refs/heads/main"')
    keep(page, "delivery")
    accessible(page)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("status")).to_contain_text("Delivery cancelled.")
    page.get_by_role("button", name="Redeliver").click()
    expect(page.get_by_role("status")).to_contain_text("Redelivery queued.")

    make_token(delivering, page)
    keep(page, "token")
    accessible(page)
    leave_for(page, f"{delivering.url}/-/admin")
    expect(page.get_by_text("Not well")).to_have_count(0)
    keep(page, "health")
