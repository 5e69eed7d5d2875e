"""Validation of webhook options, and the secrets stored for a webhook."""

import json
import re
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from holdfast.hosting.app import App
from holdfast.hosting.store.encryption import KEY_FILE, SecretCipher
from holdfast.hosting.store.tables import hooks
from tests.hosting.api.hook_helpers import CONFIG, create_hook
from tests.hosting.api_clients import ServiceClients

PATH = "/user/hooks"
GITEA = {"type": "gitea", "config": CONFIG}
SLACK = {**CONFIG, "channel": "#a"}


def gitea(**config: object) -> dict[str, object]:
    """Return the body of a hook with these values in its config."""
    return {"type": "gitea", "config": {**CONFIG, **config}}


REFUSED: list[tuple[object, int, str]] = [
    ({}, 422, "[Type]: Required"),
    ({"type": ""}, 422, "[Type]: Required"),
    ({"type": "gitea"}, 422, "[Config]: Required"),
    ({"type": "gitea", "config": None}, 422, "[Config]: Required"),
    ({"type": 7, "config": {}}, 422, "[Type]: Expected `str`, got `int`"),
    ({"type": "gitea", "config": []}, 422, "[Config]: Expected `object`, got `array`"),
    ({"type": "gitea", "config": {"url": 1}}, 422, "[Config]: Expected `str`, got `int`"),
    ({"type": "nonsense", "config": {}}, 422, "Invalid hook type: nonsense"),
    ({"type": "Gitea", "config": CONFIG}, 422, "Invalid hook type: Gitea"),
    ({"type": "gitea", "config": {}}, 422, "Missing config option: url"),
    ({"type": "gitea", "config": {"url": "x"}}, 422, "Missing config option: content_type"),
    ({"type": "gitea", "config": {"url": "x", "content_type": "xml"}}, 422, "Invalid content type"),
    (gitea(content_type=""), 422, "Invalid content type"),
    (gitea(content_type="JSON"), 422, "Invalid content type"),
    (gitea(url="x", is_system_webhook="maybe"), 422, "Invalid url"),
    (gitea(is_system_webhook="maybe"), 422, "Invalid is_system_webhook value"),
    ({"type": "slack", "config": CONFIG}, 422, "Missing config option: channel"),
    ({"type": "slack", "config": {**CONFIG, "channel": "  "}}, 400, "Invalid slack channel name"),
    ({**GITEA, "name": "x" * 256}, 422, "[Name]: MaxSize"),
    ({**GITEA, "name": "a\0b"}, 422, "[Name]: the character NUL is not allowed"),
    (gitea(secret="a\0b"), 422, "[Config]: the character NUL is not allowed"),
    (gitea(secret="x" * 2049), 422, "[Config]: secret must have at most 2048 characters"),
    ({**GITEA, "active": "yes"}, 422, "[Active]: Expected `bool`, got `str`"),
    ({**GITEA, "events": "push"}, 422, "[Events]: Expected `array`, got `str`"),
    ({**GITEA, "events": [1]}, 422, "[Events]: Expected `str`, got `int`"),
    ({**GITEA, "branch_filter": "[a"}, 422, "[BranchFilter]: the pattern [a has an unclosed ["),
    ({**GITEA, "branch_filter": "x" * 256}, 422, "[BranchFilter]: MaxSize"),
    (
        {**GITEA, "branch_filter": "{" * 11 + "}" * 11},
        422,
        "[BranchFilter]: the pattern {{{{{{{{{{{}}}}}}}}}}} nests braces more than 10 deep",
    ),
    ({**GITEA, "authorization_header": "x" * 4097}, 422, "[AuthorizationHeader]: MaxSize"),
    (
        {**GITEA, "authorization_header": "a\r\nX-Admin: yes"},
        422,
        "[AuthorizationHeader]: must be one line of text that a header can hold",
    ),
    ([], 422, "[]: the body must be a JSON object"),
]


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_hook_that_breaks_a_rule_is_refused(clients: ServiceClients) -> None:
    """The message names the first error, and no hook is created."""
    for body, status, message in REFUSED:
        response = clients.admin.post(PATH, json=body)
        assert (response.status_code, response.json()["message"]) == (status, message), body
        assert clients.admin.get(PATH).json() == [], body


# URLs nothing can be sent to, and the message for each.
UNREACHABLE = [
    *((url, "Invalid url") for url in ("", "ci.example/h", "//ci.example/h", "ftp://ci.example", "http://")),
    *((url, "Invalid url") for url in ("http:///h", "javascript:alert(1)", "http://ci.example:port/h")),
    *((url, "Invalid url") for url in ("http://ci.example/a b", "http://ci.example\n/h", " http://ci.example")),
    *((url, "Invalid url") for url in ("http://[::1", "http://ci.example\\@evil", "http://a:80:80/")),
    ("http://ci.example:0/h", "Invalid url: the address has the port 0, which is invalid"),
    ("http://ci.example:99999/h", "Invalid url: the address is invalid: Port out of range 0-65535"),
    ("http://[::zz]/", "Invalid url"),
    ("http://user@/h", "Invalid url"),
    ("https://ci.example/" + "x" * 2048, "Invalid url: it must have at most 2048 characters"),
]


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_url_nothing_can_be_sent_to_is_refused(clients: ServiceClients) -> None:
    """Creating and changing a hook are both refused if the URL is unusable."""
    hook = create_hook(clients.admin, PATH)
    for url, said in UNREACHABLE:
        response = clients.admin.post(PATH, json=gitea(url=url))
        assert (response.status_code, response.json()["message"]) == (422, said), url
        changed = clients.admin.patch(f"{PATH}/{hook['id']}", json={"config": {"url": url}})
        assert (changed.status_code, changed.json()["message"]) == (422, said), url
        assert clients.admin.get(PATH).json() == [hook], url


@pytest.mark.parametrize(
    "url",
    [
        *("http://localhost:3000/", "https://10.0.0.1/x?y=z#w", "http://[::1]:8080/h", "HTTPS://CI.example"),
        *("https://bücher.example/größe", "https://api.telegram.org/botX/sendMessage?chat_id=1", "http://a_b/"),
    ],
)
@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_url_is_stored_as_it_was_given(clients: ServiceClients, url: str) -> None:
    """A local address is stored too, because the allowed hosts are checked at delivery."""
    hook = create_hook(clients.admin, PATH, config={**CONFIG, "url": url})
    assert hook["config"]["url"] == url  # type: ignore[index]  # decoded JSON


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
@pytest.mark.parametrize("kind", ["gogs", "discord", "dingtalk", "telegram", "msteams", "feishu", "matrix"])
def test_every_type_of_hook_can_be_created(clients: ServiceClients, kind: str) -> None:
    """A hook of every type needs only a URL."""
    assert create_hook(clients.admin, PATH, type=kind)["type"] == kind


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"config": {"content_type": "xml"}}, 422, "Invalid content type"),
        ({"config": {"channel": " "}}, 400, "Invalid slack channel name"),
        ({"config": {"url": 1}}, 422, "[Config]: Expected `str`, got `int`"),
        ({"branch_filter": "{a"}, 422, "[BranchFilter]: the pattern {a has an unclosed {"),
        ({"name": "x" * 256}, 422, "[Name]: MaxSize"),
        ({"active": 1}, 422, "[Active]: Expected `bool`, got `int`"),
        (
            {"authorization_header": "a\nb"},
            422,
            "[AuthorizationHeader]: must be one line of text that a header can hold",
        ),
    ],
)
@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_change_that_breaks_a_rule_changes_nothing(
    clients: ServiceClients, body: dict[str, object], status: int, message: str
) -> None:
    """A patch with one invalid field is refused, and the other fields keep their values."""
    hook = create_hook(clients.admin, PATH, type="slack", config=SLACK)
    response = clients.admin.patch(f"{PATH}/{hook['id']}", json={"name": "new", **body})
    assert (response.status_code, response.json()["message"]) == (status, message)
    assert clients.admin.get(f"{PATH}/{hook['id']}").json() == hook


@pytest.mark.parametrize("events", [["pushes"], ["nonsense", ""], ["pull_request_review_rejected"]])
def test_unknown_events_alone_are_refused_with_those_that_are_known(
    clients: ServiceClients, events: list[str]
) -> None:
    """Creating and changing a hook are refused if no event is known, and the message lists the known ones."""
    hook = create_hook(clients.admin, PATH)
    for response in (
        clients.admin.post(PATH, json={**GITEA, "events": events}),
        clients.admin.patch(f"{PATH}/{hook['id']}", json={"events": events}),
    ):
        message = response.json()["message"]
        assert (response.status_code, message.startswith("[Events]: ")) == (422, True)
        assert "issue_unblocked" in message
        assert "Warning" not in response.headers


def test_unknown_events_beside_known_ones_are_dropped_and_named(clients: ServiceClients) -> None:
    """For all kinds of hooks the known events are stored, and a `Warning` header names the unknown ones."""
    assert clients.admin.post("/orgs", json={"username": "band"}).status_code == 201
    assert clients.admin.post("/orgs/band/repos", json={"name": "songs"}).status_code == 201
    message = "unknown event 'pushes'; ignored, the other events are used"
    for path in (PATH, "/orgs/band/hooks", "/repos/band/songs/hooks", "/admin/hooks"):
        response = clients.admin.post(path, json={**GITEA, "events": ["pushes", "create"]})
        assert (response.status_code, response.json()["events"]) == (201, ["create"]), path
        assert response.headers["Warning"] == f'299 - "{message}"'
        one = f"{path}/{response.json()['id']}"
        response = clients.admin.patch(one, json={"events": ["Issues_Only", "pushes", "push"]})
        assert (response.status_code, response.json()["events"]) == (200, ["push", "issues_only"]), path
        assert response.headers["Warning"] == f'299 - "{message}"'
        for fine in ({"events": ["push"]}, {"active": True}):
            assert "Warning" not in clients.admin.patch(one, json=fine).headers


def test_no_name_of_an_event_breaks_out_of_the_warning(clients: ServiceClients) -> None:
    """The warning is one short header of printable ASCII, for any number of names with any characters."""
    names = ['"\r\nSet-Cookie: a=b', "\\", "\u202e", "é" * 4000, *(f"e{number}" for number in range(5000))]
    response = clients.admin.post(PATH, json={**GITEA, "events": ["push", *names]})
    assert (response.status_code, response.json()["events"]) == (201, ["push"])
    warning = response.headers["Warning"]
    assert "Set-Cookie" not in response.headers
    assert warning.isascii()
    assert warning.isprintable()
    assert re.fullmatch(r'299 - "(?:[^"\\]|\\.)*"', warning)
    assert "4994 more" in warning
    assert len(warning) < 2000


def events_of(clients: ServiceClients, number: Any) -> str:
    """Return the events that the hook receives according to the database."""
    with clients.database.read() as connection:
        repository: str = connection.execute(select(hooks.c.events).where(hooks.c.id == number)).scalar_one()
    return repository


@pytest.mark.parametrize(
    "events", [["issues_only"], ["pull_request_only", "push"], ["issues"], ["issues_only", "issue_label"], ["*"]]
)
def test_a_hook_that_is_read_and_written_back_listens_to_the_same(
    clients: ServiceClients, events: list[str]
) -> None:
    """The events of a response, sent back by PATCH or POST, select the same events again."""
    hook = create_hook(clients.admin, PATH, events=events)
    before = events_of(clients, hook["id"])
    again = clients.admin.patch(f"{PATH}/{hook['id']}", json={"events": hook["events"]}).json()
    assert (again["events"], events_of(clients, hook["id"])) == (hook["events"], before)
    copy = clients.admin.post(PATH, json={**hook, "config": CONFIG}).json()
    assert events_of(clients, copy["id"]) == before


def test_events_are_answered_by_their_own_names(clients: ServiceClients) -> None:
    """A group of events is returned as its members, and no events mean `push`."""
    hook = create_hook(clients.admin, PATH, events=["Issues", "pull_request_only"])
    assert hook["events"] == [
        *("issues", "issue_assign", "issue_label", "issue_milestone", "issue_comment"),
        "pull_request_only",
    ]
    assert create_hook(clients.admin, PATH, events=[])["events"] == ["push"]


class TestSecrets:
    """Tests of the secrets that the database stores of a hook."""

    @pytest.fixture
    def stored_hook(self, clients: ServiceClients) -> "StoredHook":
        """Return access to a hook and to its row in the database."""
        return StoredHook(clients)

    def test_the_secret_and_the_header_can_be_used(self, stored_hook: "StoredHook") -> None:
        """The stored secret and header can be decrypted with the key."""
        stored_hook.make(config={**CONFIG, "secret": "hünter2"}, authorization_header="Bearer x")
        assert stored_hook.opened() == ("hünter2", "Bearer x")

    def test_a_patch_keeps_replaces_and_removes_secret_and_header(self, stored_hook: "StoredHook") -> None:
        """An absent value keeps the secret or the header, and an empty one removes it."""
        stored_hook.make(config={**CONFIG, "secret": "one"}, authorization_header="Bearer x")
        stored_hook.patch({"name": "new", "config": {"url": "https://other.example/"}})
        assert stored_hook.opened() == ("one", "Bearer x")
        stored_hook.patch({"config": {"secret": "two"}, "authorization_header": "Bearer y"})
        assert stored_hook.opened() == ("two", "Bearer y")
        stored_hook.patch({"config": {"secret": ""}, "authorization_header": ""})
        assert stored_hook.opened() == ("", "")

    def test_credentials_in_a_url_are_encrypted(self, stored_hook: "StoredHook") -> None:
        """Credentials in a URL are stored as an Authorization header, unless another header is given."""
        stored_hook.make(config={**CONFIG, "url": "https://joe:p%40ss@ci.example/h"})
        assert stored_hook.opened() == ("", "Basic am9lOnBAc3M=")
        stored_hook.patch({"config": {"url": "https://ann:x@ci.example/h"}})
        assert stored_hook.opened() == ("", "Basic YW5uOng=")
        stored_hook.patch({"config": {"url": "https://joe:x@ci.example/h"}, "authorization_header": "Bearer x"})
        assert stored_hook.opened() == ("", "Bearer x")


class StoredHook:
    """A hook, and the secrets of its row in the database."""

    def __init__(self, clients: ServiceClients) -> None:
        self.client: httpx.Client = clients.admin
        self.database = clients.database
        self.cipher = SecretCipher(clients.service.settings.data / KEY_FILE)

    def make(self, **body: object) -> None:
        """Create the hook."""
        self.path = f"{PATH}/{create_hook(self.client, PATH, **body)['id']}"

    def patch(self, body: dict[str, object]) -> None:
        """Change the hook."""
        response = self.client.patch(self.path, json=body)
        assert response.status_code == 200, response.text
        assert "hunter" not in response.text

    def opened(self) -> tuple[str, str]:
        """Return the decrypted secret and the decrypted header of the hook."""
        with self.database.read() as connection:
            row = connection.execute(select(hooks)).one()
        assert "@" not in row.url
        return self.cipher.decrypt(row.secret), self.cipher.decrypt(row.authorization)


def test_no_secret_is_stored_without_a_usable_key(clients: ServiceClients) -> None:
    """Without a usable key a hook with a secret gives 503 and is not stored."""
    path = App.open(clients.service.settings).settings.data / KEY_FILE
    path.write_text("short")
    client = clients.open("/api/v1")
    client.headers = clients.admin.headers
    answer = client.post(PATH, json=gitea(secret="hunter2"))
    assert (answer.status_code, answer.json()["message"]) == (503, "the server cannot use the key of its secrets")
    assert "hunter2" not in answer.text
    assert json.loads(clients.admin.get(PATH).text) == []
