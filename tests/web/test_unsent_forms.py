"""Forms submitted after the session ended: the answer keeps what was typed."""

import re
from html.parser import HTMLParser
from typing import Final

import httpx
import pytest

from holdfast.hosting.http.endpoints import Endpoint
from holdfast.web.routes import endpoints
from tests.hosting.api_clients import ServiceClients
from tests.web.browser import visitor

# Markup, quotes, a bidirectional control character, and an empty line at the start, which HTML would drop.
TEXT: Final = '\r\nSee <b>this</b></textarea>"\u202e\r\nand that &amp; more'
KEEPING: Final = [page for page in endpoints() if page.keeps_form]
PARAMETERS: Final = {
    "owner": "ada",
    "repo": "ship",
    "index": "1",
    "id": "1",
    "range": "main",
    "filepath": "main/a",
}


class FormFields(HTMLParser):
    """Reads the fields of the form that submits to the address of its page, as a browser does."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: list[tuple[str, str]] = []
        self._in_form = self._in_text = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin the form or a field."""
        given = dict(attrs)
        if tag == "form":
            self._in_form = "action" not in given
        elif self._in_form and tag in {"input", "textarea"}:
            self.fields.append((given["name"] or "", given.get("value") or ""))
            self._in_text = tag == "textarea"

    def handle_data(self, data: str) -> None:
        """Add the text of a field."""
        if self._in_text:
            name, value = self.fields[-1]
            self.fields[-1] = (name, value + data)

    def handle_endtag(self, tag: str) -> None:
        """End a field; a newline after its start tag does not belong to its text."""
        if tag == "textarea" and self._in_text:
            name, value = self.fields[-1]
            self.fields[-1] = (name, value.removeprefix("\n"))
            self._in_text = False


def fields_of(response: httpx.Response) -> list[tuple[str, str]]:
    """Return the fields of the form of a page; browsers send line breaks as CR LF."""
    reader = FormFields()
    reader.feed(response.text.replace("\r\n", "\n"))
    return [(name, value.replace("\n", "\r\n")) for name, value in reader.fields]


def test_a_comment_sent_without_a_session_can_be_sent_after_logging_in(clients: ServiceClients) -> None:
    """The page has all fields, and sends them again unchanged; the log-in page leads back to the issue."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship", "auto_init": True})
    ada.post("/repos/ada/ship/issues", json={"title": "Hull"})
    form = {"body": TEXT, "then": "close", "empty": ""}
    path = "/ada/ship/issues/1/comments"
    stranger = visitor(clients)
    page = f"{clients.service.url}/ada/ship/issues/1?page=2"
    response = stranger.post(path, data=form, headers={"Referer": page})
    assert response.status_code == 401
    assert "www-authenticate" not in response.headers
    assert "You are not logged in any more" in response.text
    assert 'href="/login?next=%2Fada%2Fship%2Fissues%2F1%3Fpage%3D2" target="_blank"' in response.text
    assert "<b>this" not in response.text
    assert '<input type="hidden" name="then" value="close">' in response.text
    assert fields_of(response) == list(form.items())
    sent = visitor(clients, "ada").post(path, data=dict(fields_of(response)))
    assert sent.status_code == 303
    assert ada.get("/repos/ada/ship/issues/1").json()["state"] == "closed"
    assert ada.get("/repos/ada/ship/issues/1/comments").json()[0]["body"].strip() == TEXT.strip()


def test_a_text_of_one_word_is_shown(clients: ServiceClients) -> None:
    """What the user typed is to be seen and copied, whatever it looks like; empty fields are not shown."""
    clients.user("ada").post("/user/repos", json={"name": "ship"})
    response = visitor(clients).post("/ada/ship/issues/new", data={"title": "Leak", "body": ""})
    assert re.search(r"<textarea[^>]* readonly>\nLeak</textarea>", response.text)
    assert '<input type="hidden" name="body" value="">' in response.text


@pytest.mark.parametrize("private", [False, True])
def test_every_form_with_text_is_kept(clients: ServiceClients, *, private: bool) -> None:
    """Also that of a private repository, which a visitor cannot tell from a missing one."""
    ada, stranger = clients.user("ada"), visitor(clients)
    ada.post("/user/repos", json={"name": "ship", "auto_init": True, "private": private})
    for page in KEEPING:
        response = stranger.post(path_of(page), data={"body": TEXT, "label": ["1", "2"]})
        assert response.status_code == 401, page.name
        assert fields_of(response) == [("body", TEXT), ("label", "1"), ("label", "2")], page.name
    missing = stranger.post("/ada/boat/issues/new", data={"body": TEXT})
    hidden = stranger.post("/ada/ship/issues/new", data={"body": TEXT})
    assert hidden.text == missing.text


def path_of(page: Endpoint) -> str:
    """Return an address of an endpoint."""
    return re.sub(r"\{(\w+)[.]*\}", lambda match: PARAMETERS[match[1]], page.path)


def test_forms_with_text_are_kept_and_those_with_secrets_are_not() -> None:
    """A form is kept if it has a field for a longer text."""
    longer = {"body", "content", "description", "message", "note"}
    for page in endpoints():
        if page.keeps_form:
            assert page.body is not None
            assert longer & set(page.body.__struct_fields__), page.name
            assert not {"password", "secret", "token", "authorization_header"} & set(page.body.__struct_fields__)


def test_any_other_form_leads_back_to_its_page(clients: ServiceClients) -> None:
    """After logging in, the user is on the page with the form again; a page of another site is not returned to."""
    clients.user("ada").post("/user/repos", json={"name": "ship", "auto_init": True})
    stranger, site = visitor(clients), clients.service.url
    for referer, wanted in (
        (f"{site}/ada/ship?tab=a%20b", "%2Fada%2Fship%3Ftab%3Da%2520b"),
        ("https://elsewhere.example/ada", "%2F"),
        (f"{site}.elsewhere.example/ada", "%2F"),
        ("", "%2F"),
    ):
        response = stranger.post("/ada/ship/star", data={}, headers={"Referer": referer})
        assert response.status_code == 303
        assert response.headers["location"] == f"/login?next={wanted}"


def test_a_form_that_cannot_be_read_leads_to_the_log_in_page(clients: ServiceClients) -> None:
    """One that is too large, or of another content type; nothing of it is shown."""
    clients.user("ada").post("/user/repos", json={"name": "ship", "auto_init": True})
    stranger = visitor(clients)
    large = stranger.post("/ada/ship/issues/new", data={"body": "x" * 2**22})
    other = stranger.post("/ada/ship/issues/new", json={"body": "x"})
    assert {large.status_code, other.status_code} == {303}
    assert large.headers["location"] == other.headers["location"] == "/login?next=%2F"
