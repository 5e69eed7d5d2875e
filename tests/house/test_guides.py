"""What the guides show as a program to run does what they say."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from holdfast.hosting.data import connect, prepare
from holdfast.hosting.store import accounts, tokens
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import ADMIN_PASSWORD, ROOT, Service, run_service


def programs(guide: str, language: str) -> list[str]:
    """Return the programs in a language that a guide shows."""
    text = (ROOT / "docs" / "guides" / guide).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@contextmanager
def serving(folder: Path) -> Iterator[tuple[Service, str]]:
    """Run a service with a data folder of its own, and make a token of its administrator."""
    settings = Settings(data=folder, admin_password=Secret(ADMIN_PASSWORD))
    database = connect(settings)
    prepare(database, settings)
    user = accounts.find_user(database, "admin")
    _, token = tokens.create_token(database, user, "move", ("all",))
    yield from ((service, token.reveal()) for service in run_service(settings, database))
    database.close()


def issues_of(service: Service) -> list[tuple[int, str, str, list[str]]]:
    """Return the issues of the repository: number, title, state and comments."""
    auth = ("admin", ADMIN_PASSWORD)
    with httpx.Client(base_url=f"{service.url}/api/v1/repos/admin/boats", auth=auth) as api:
        found = api.get("/issues", params={"state": "all", "type": "issues", "sort": "oldest"}).json()
        return [
            (
                issue["number"],
                issue["title"],
                issue["state"],
                [comment["body"] for comment in api.get(f"/issues/{issue['number']}/comments").json()],
            )
            for issue in sorted(found, key=lambda issue: int(issue["number"]))
        ]


def test_the_script_of_the_guide_moves_issues(tmp_path: Path) -> None:
    """Titles, texts, states, comments and numbers, from one service that speaks the API to another."""
    (program,) = programs("moving.md", "python")
    script = tmp_path / "move_issues.py"
    script.write_text(program)
    with ExitStack() as stack:
        (old, old_token), (new, new_token) = (
            stack.enter_context(serving(tmp_path / name)) for name in ("old", "new")
        )
        for service in (old, new):
            auth = ("admin", ADMIN_PASSWORD)
            with httpx.Client(base_url=f"{service.url}/api/v1", auth=auth) as api:
                assert api.post("/user/repos", json={"name": "boats"}).status_code == 201
                if service is old:
                    for title in ("Leak", "Rope", "Sail"):
                        assert api.post("/repos/admin/boats/issues", json={"title": title}).status_code == 201
                    for text in ("first", "second"):
                        api.post("/repos/admin/boats/issues/1/comments", json={"body": text})
                    api.patch("/repos/admin/boats/issues/1", json={"state": "closed"})
                    assert api.delete("/repos/admin/boats/issues/2").status_code == 204
        environment = {
            **os.environ,
            "OLD": f"{old.url}/api/v1",
            "OLD_TOKEN": old_token,
            "NEW": f"{new.url}/api/v1",
            "NEW_TOKEN": new_token,
            "REPOSITORY": "admin/boats",
        }
        subprocess.run([sys.executable, str(script)], env=environment, check=True, timeout=60)
        moved = issues_of(new)
    assert [(number, title, state) for number, title, state, _ in moved] == [
        (1, "Leak", "closed"),
        (2, "(was no issue: 2)", "closed"),
        (3, "Sail", "open"),
    ]
    assert [text.rpartition("\n")[2] for text in moved[0][3]] == ["first", "second"]
    assert moved[0][3][0].startswith("*admin, ")
