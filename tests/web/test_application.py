"""The web application: sessions, security headers, compression, redirects and missing pages."""

import httpx
import pytest

from holdfast.web.pages import NOTICE_COOKIE, local_path, redirect_to
from tests.conftest import ADMIN_PASSWORD, Service
from tests.hosting.api_clients import ServiceClients
from tests.web.browser import visitor

LOOKING = {"Accept": "text/html"}


def test_a_link_from_another_site_keeps_the_session(service: Service) -> None:
    """A browser that follows a link to a private repository shows it; a script of another site learns nothing."""
    with httpx.Client(base_url=f"{service.url}/api/v1", auth=("admin", ADMIN_PASSWORD)) as api:
        api.post("/user/repos", json={"name": "plans", "private": True, "auto_init": True})
    following = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    with service.logged_in() as client:
        page = "/admin/plans/src/branch/main/README.md"
        assert client.get(page, headers=LOOKING | following).status_code == 200
        following["Sec-Fetch-Mode"] = "cors"
        assert client.get(page, headers=LOOKING | following).status_code == 404


def test_a_missing_page_is_a_404_with_the_menu(service: Service) -> None:
    """A logged-in user has the menu on the page; an unsupported method has status 405."""
    with service.logged_in() as client:
        response = client.get("/nobody/nothing/at/all", headers=LOOKING)
        assert response.status_code == 404
        assert "Log out" in response.text
        assert client.post("/", headers=LOOKING).status_code == 405


def test_a_missing_page_of_a_repository_links_to_it(clients: ServiceClients) -> None:
    """Whoever may not read the repository gets the page of one that does not exist."""
    clients.user("ada").post("/user/repos", json={"name": "ship", "auto_init": True, "private": True})
    reader, stranger = visitor(clients, "ada"), visitor(clients)
    for path in ("/ada/ship/src/branch/gone/a.txt", "/ada/ship/issues/99", "/ada/ship/commit/abcdef123"):
        response = reader.get(path)
        assert response.status_code == 404
        assert '<a href="/ada/ship">Go to the repository</a>' in response.text
        hidden, none = stranger.get(path), stranger.get(path.replace("ship", "boat"))
        assert hidden.status_code == none.status_code == 404
        assert "/ada/ship" not in hidden.text.partition("<main")[2]
        assert hidden.text.replace("ship", "boat") == none.text


def test_a_page_that_is_not_allowed_says_why_in_the_words_of_the_site(clients: ServiceClients) -> None:
    """A reader who opens the form for a new file is told which access it needs, not the message of the API."""
    ada, eve = clients.user("ada"), clients.user("eve")
    ada.post("/user/repos", json={"name": "ship", "auto_init": True, "default_branch": "main"})
    path = "/ada/ship/_new/main"
    response = visitor(clients, "eve").get(path)
    assert response.status_code == 403
    assert "You need write access to this repository." in response.text
    assert "permission to write to a repo" not in response.text
    body = {"content": "", "message": "Edit"}
    refused = eve.post("/repos/ada/ship/contents/new.txt", json=body)
    assert refused.json()["message"] == "user should have a permission to write to the target branch"


def test_pages_have_security_headers(service: Service) -> None:
    """Pages allow only own scripts, no framing, no shared cache and no access by other origins."""
    with service.client() as client:
        response = client.get("/", headers=LOOKING | {"Origin": "https://elsewhere.example"})
    policy = response.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "private" in response.headers["cache-control"]
    assert "access-control-allow-origin" not in response.headers


def test_long_pages_are_compressed(service: Service) -> None:
    """A page has gzip encoding only for a client that accepts it."""
    with service.logged_in() as client:
        assert client.get("/", headers=LOOKING).headers["content-encoding"] == "gzip"
        plain = client.get("/", headers={**LOOKING, "Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers


@pytest.mark.parametrize(
    "wanted",
    [
        *("https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", "javascript:alert(1)", "x"),
        *("/\t/elsewhere.example", "/\n", "", None, "/" + "x" * 3000, "\\\\elsewhere.example", "/a\\b"),
    ],
)
def test_redirects_stay_on_the_site(wanted: str | None) -> None:
    """A target on another site and a malformed one are replaced by the home page."""
    assert local_path(wanted) == "/"


def test_users_return_to_the_requested_page(service: Service) -> None:
    """The login form keeps the requested page after a wrong password, and redirects to it."""
    wanted = "/admin/tides/issues?state=closed&q=a+b"
    assert local_path(wanted) == wanted
    with service.client() as client:
        wrong = client.post("/login", data={"name": "admin", "password": "wrong", "next": wanted})
        assert "state=closed&amp;q=a+b" in wrong.text
        right = client.post(
            "/login", data={"name": "admin", "password": ADMIN_PASSWORD, "next": wanted}, follow_redirects=False
        )
    assert right.headers["location"] == wanted


def test_a_notice_is_shown_once(service: Service) -> None:
    """The cookie holds the key of a message and its subject; any other value is ignored, and HTML is escaped."""
    assert (
        f"{NOTICE_COOKIE}=label-created:a%3Bb;" in redirect_to("/", "label-created", "a;b").headers["Set-Cookie"]
    )
    with pytest.raises(LookupError):
        redirect_to("/", "<b>")
    with service.client() as client:
        response = client.get("/", headers=LOOKING | {"Cookie": f"{NOTICE_COOKIE}=label-created:a%3Bb%3Ci%3E"})
        assert "Label a;b&lt;i&gt; created." in response.text
        assert "Max-Age=0" in response.headers["set-cookie"]
        response = client.get("/", headers=LOOKING | {"Cookie": f"{NOTICE_COOKIE}=<b>hello</b>"})
        assert "hello" not in response.text
