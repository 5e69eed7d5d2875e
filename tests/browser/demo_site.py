"""A service with the demo content and an example of every other page."""

import base64
import io
import time
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from holdfast.backup.conversion import OutputFormat
from holdfast.hosting.store import accounts
from holdfast.secret import Secret
from holdfast_demo.conversation import add_conversation
from holdfast_demo.fill import fill
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from holdfast_demo.service_login import ServiceLogin
from tests.backup.archives.histories import copies, items, write
from tests.backup.streams import KEYS
from tests.conftest import ADMIN_PASSWORD, Service, wait_for
from tests.hosting.two_factor_helpers import give_second_factor
from tests.web.chats.upload_helpers import files_below, upload_all

__all__ = ["ARCHIVE", "SECOND_FACTOR_USER", "fill_site", "find_messages"]

ARCHIVE = "/-/archives/demo-with-pictures.db"
HARBOUR = "/repos/tidewater/harbour"
# Their password is the administrator's.
SECOND_FACTOR_USER = "eve"


def fill_site(service: Service, folder: Path) -> dict[str, str]:
    """Fill a service; return the ids, by name, that URLs of pages contain."""
    add_conversation(service.settings)
    url = httpx.URL(service.url)
    order = ServiceLogin(host=url.host, port=url.port or 0, name="admin", password=ADMIN_PASSWORD)
    fill(order, now=int(time.time()))
    write_sample(
        sample_records(60, 1), service.settings.data / "backups" / "phone", OutputFormat.FOLDER, seed=1, keys=KEYS
    )
    eve = accounts.create_user(service.database, SECOND_FACTOR_USER, Secret(ADMIN_PASSWORD))
    give_second_factor(service.settings, eve)
    with httpx.Client(base_url=f"{service.url}/api/v1", auth=("admin", ADMIN_PASSWORD), timeout=60) as api:
        ids = add_work(api) | add_hooks(api)
        ids["team"] = str(ask(api, "GET", "/orgs/tidewater/teams")[0]["id"])
        ids["sha"] = ask(api, "GET", f"{HARBOUR}/commits?limit=1")[0]["sha"]
    with service.logged_in() as client:
        return ids | add_uploads(client, folder) | find_messages(client)


def ask(api: httpx.Client, method: str, path: str, body: dict[str, Any] | None = None, sudo: str = "admin") -> Any:
    """Send a request to the API as a user; return the body of the response."""
    response = api.request(method, path, json=body, headers={"Sudo": sudo})
    assert response.is_success, f"{method} {path}: {response.text}"
    return response.json() if response.content else None


def add_work(api: httpx.Client) -> dict[str, str]:
    """Add a reviewed pull request, a release, a protected branch, a token, a mention and an empty repository."""
    wanted = {
        "head": "feature/lanterns",
        "base": "main",
        "title": "Show which lantern shines when",
        "body": "Closes #3. The characters of the lights are those of the chart.\n\n- [x] flashes\n- [ ] colours",
        "reviewers": ["tomas", "admin"],
    }
    pull = ask(api, "POST", f"{HARBOUR}/pulls", wanted, "ife")
    line = {"path": "harbour/lanterns.py", "new_position": 9, "body": "Why not an `enum`?"}
    review = {"event": "REQUEST_CHANGES", "body": "Nearly there.", "comments": [line]}
    ask(api, "POST", f"{HARBOUR}/pulls/{pull['number']}/reviews", review, "tomas")
    for state, context in (("success", "ci/lint"), ("failure", "ci/test")):
        status = {"state": state, "context": context, "description": "3 of 120 tests failed"}
        ask(api, "POST", f"{HARBOUR}/statuses/{pull['head']['sha']}", status, "maren")
    release = {"tag_name": "v1.1.1", "name": "Twelve rows again", "body": "What changed:\n\n- the **board**"}
    created = ask(api, "POST", f"{HARBOUR}/releases", release, "maren")
    api.post(
        f"{HARBOUR}/releases/{created['id']}/assets", files={"attachment": ("board.txt", io.BytesIO(b"tide"))}
    )
    rule = {"rule_name": "release/*", "required_approvals": 1}
    ask(api, "POST", f"{HARBOUR}/branch_protections", rule, "maren")
    ask(api, "PUT", f"{HARBOUR}/collaborators/jonah", {"permission": "read"}, "maren")
    comment = ask(api, "POST", f"{HARBOUR}/issues/1/comments", {"body": "What do you think, @admin?"}, "maren")
    ask(api, "PATCH", f"{HARBOUR}/issues/1", {"assignees": ["admin"]}, "maren")
    ask(api, "POST", "/users/admin/tokens", {"name": "laptop", "scopes": ["all"]})
    for name in ("empty", "notes"):
        ask(api, "POST", "/user/repos", {"name": name, "auto_init": name == "notes"})
    notebook = (
        b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "metadata": {}, '
        b'"execution_count": 1, "source": ["1 + 1"], "outputs": []}]}'
    )
    formula = b"# Tides\n\nLevel $h_0 + 1$ at noon.\n\n```mermaid\ngraph LR\n  A[Harbour] --> B[Sea]\n```\n"
    for path, content in (("table.ipynb", notebook), ("tides.md", formula)):
        body = {"content": base64.b64encode(content).decode(), "message": f"Add {path}"}
        ask(api, "POST", f"/repos/admin/notes/contents/{path}", body)
    return {"pull": str(pull["number"]), "comment": str(comment["id"])}


def add_hooks(api: httpx.Client) -> dict[str, str]:
    """Add a webhook of each kind of owner, and wait until each has tried to deliver something."""
    ids = {}
    homes = {"org": "/orgs/tidewater", "repo": HARBOUR, "user": "/user", "admin": "/admin"}
    for kind, home in homes.items():
        config = {"url": "http://127.0.0.1:9/", "content_type": "json", "is_system_webhook": "true"}
        hook = {"type": "gitea", "config": config, "events": ["push", "issues"], "active": True}
        created = ask(api, "POST", f"{home}/hooks", hook)
        ids[f"{kind}_hook"] = str(created["id"])
    ask(api, "POST", f"{HARBOUR}/issues", {"title": "The lantern at berth 4 is out", "body": "Since Tuesday."})
    ask(api, "POST", "/repos/admin/notes/issues", {"title": "Copy the tables", "assignees": ["admin"]})
    for kind, home in homes.items():
        path = f"{home}/hooks/{ids[f'{kind}_hook']}/deliveries"
        wait_for(partial(has_deliveries, api, path))
        ids[f"{kind}_delivery"] = str(ask(api, "GET", path)[0]["id"])
    return ids


def has_deliveries(api: httpx.Client, path: str) -> bool:
    """Return whether a webhook has something to deliver."""
    return bool(ask(api, "GET", path))


def is_imported(client: httpx.Client, path: str) -> bool:
    """Return whether a conversation lists its chats; the request starts its import."""
    return '<ul class="box entries">' in client.get(path).text


def add_uploads(client: httpx.Client, folder: Path) -> dict[str, str]:
    """Upload a backup with faults, which is imported at once, and a folder that waits for its key."""
    write_sample(sample_records(60, 1), folder / "SignalBackups", OutputFormat.FOLDER, seed=1, keys=KEYS)
    sealed = upload_all(client, "SignalBackups", files_below(folder / "SignalBackups"), is_folder=True)
    header, frames = copies(60)
    for item in list(items(frames))[::10]:
        item.authorId = 999_999
    content = write(folder / "phone.binproto", header, frames).read_bytes()
    plain = upload_all(client, "phone.binproto", {"phone.binproto": content})
    client.headers["accept"] = "text/html"
    for path in (f"{plain}/", "/maren/conversations/chats/branch/main/phone.binproto/"):
        wait_for(partial(is_imported, client, path))
    findings = client.get(f"{plain}/findings").text
    frame = findings.partition(f'href="{plain}/frame/')[2].partition('"')[0]
    return {"sealed": sealed.rpartition("/")[2], "plain": plain.rpartition("/")[2], "frame": frame}


def find_messages(client: httpx.Client) -> dict[str, str]:
    """Find a chat, and a message with a picture, in the archive of the demo."""
    client.headers["accept"] = "text/html"
    pictures = client.get(f"{ARCHIVE}/media?kind=photo").text
    message = pictures.partition(f'href="{ARCHIVE}/to/')[2].partition('"')[0]
    place = client.get(f"{ARCHIVE}/to/{message}").headers["location"]
    chat = place.partition("/chat/")[2].partition("?")[0].partition("#")[0]
    assert message.isdigit(), pictures[:200]
    assert chat.isdigit(), place
    return {"chat": chat, "message": message}
