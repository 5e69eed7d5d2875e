"""A repository whose names and texts contain attacks."""

import os
from pathlib import Path

from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address

__all__ = ["BRANCH", "EVIL", "MESSAGE", "NAMES", "make_hostile"]

EVIL = '<script>alert("x")</script>'
BRANCH = "a'b\"<img>&c%2Fd"
MESSAGE = f"{EVIL} \u202egnp.exe\n\n</pre>{EVIL}"
NAMES = (
    b"<b>\"quotes'.html",
    b"100% ?#&.txt",
    b"line\nbreak.txt",
    b"a%2Fb.txt",
    "right\u202eleft.txt".encode(),
    b"not-\xff\xfe-text.txt",
    b"javascript:alert(1)",
    b"-rf",
    b"x" * 200,
)


def make_hostile(clients: ServiceClients, folder: Path) -> Git:
    """Create Ada's repository `hostile`; every file is in the root and in a directory with an unusual name."""
    clients.account("ada")
    body = {"name": "hostile", "description": EVIL}
    assert clients.anonymous.post("/user/repos", json=body, auth=("ada", PASSWORD)).status_code == 201
    git = Git(folder / "work")
    git("init", "-q", "-b", "main")
    inside = git.folder / "<i>dir\n"
    inside.mkdir()
    for name in NAMES:
        for place in (git.folder, inside):
            (place / os.fsdecode(name)).write_bytes(f"{EVIL}\n".encode())
    (git.folder / "README.md").write_text(f"{EVIL}\n\n[x](javascript:alert(1))\n")
    git.environment |= {"GIT_AUTHOR_NAME": f"Ada {EVIL}"}
    git("add", "-A")
    git("commit", "-q", "-m", MESSAGE)
    git("tag", "-a", "-m", f"{EVIL}\nmore", 't"<b>')
    git("branch", BRANCH)
    git("remote", "add", "origin", address(clients.service.url, "ada", PASSWORD, "ada/hostile"))
    git("push", "-q", "origin", "--all")
    git("push", "-q", "origin", "--tags")
    return git
