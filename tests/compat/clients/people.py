"""Users with accounts, repositories and a git client of their own."""

from pathlib import Path
from urllib.parse import urlsplit

import httpx

from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret
from tests.compat.clients.runtimes import program, run
from tests.conftest import Service
from tests.tls import PLAIN

__all__ = ["PASSWORD", "Person"]

PASSWORD = "a-password-for-git"


class Person:
    """A user with an account, a token and a working folder."""

    def __init__(self, service: Service, folder: Path, name: str) -> None:
        self.name = name
        self.service = service
        self.folder = folder / name
        self.folder.mkdir()
        self.account = accounts.create_user(service.database, name, Secret(PASSWORD), email=f"{name}@example.org")
        self.token = self.new_token("all")
        headers = {"Authorization": f"token {self.token}"}
        self.api = httpx.Client(base_url=f"{service.url}/api/v1", headers=headers, timeout=30, verify=PLAIN)
        # Found before HOME is another, so that the distribution's program is the one that runs.
        self.program = program("git", "git")
        self.git("config", "--global", "user.name", name.title())
        self.git("config", "--global", "user.email", f"{name}@example.org")
        self.git("config", "--global", "init.defaultBranch", "main")

    def new_token(self, *scopes: str) -> str:
        """Create a token with some scopes."""
        account: Account = self.account
        _, value = tokens.create_token(self.service.database, account, "+".join(scopes), scopes)
        return value.reveal()

    def url(self, path: str, secret: str | None = None) -> str:
        """Return the URL of a repository with the user's name and token, or another secret, in it."""
        host = urlsplit(self.service.url).netloc
        return f"http://{self.name}:{secret or self.token}@{host}/{path}.git"

    def make(self, name: str, **settings: object) -> None:
        """Create a repository with a first commit on `main`."""
        body = {"name": name, "auto_init": True, "default_branch": "main", **settings}
        response = self.api.post("/user/repos", json=body)
        assert response.status_code == 201, response.text

    def share(self, repository: str, other: "Person", permission: str) -> None:
        """Add another user as a collaborator."""
        path = f"/repos/{self.name}/{repository}/collaborators/{other.name}"
        assert self.api.put(path, json={"permission": permission}).status_code == 204

    def git(self, *arguments: str, inside: str = ".", fails: bool = False) -> str:
        """Run git in the user's folder, or in one inside it, and return its output."""
        home = {"HOME": str(self.folder)}
        return run([self.program, *arguments], folder=self.folder / inside, fails=fails, **home)

    def clone(self, path: str, into: str, *options: str, secret: str | None = None) -> Path:
        """Clone a repository."""
        self.git("clone", "--quiet", *options, self.url(path, secret), into)
        return self.folder / into

    def commit(self, inside: str, name: str, content: str | bytes) -> str:
        """Commit one file and return the commit's id."""
        data = content.encode() if isinstance(content, str) else content
        target = self.folder / inside / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        self.git("add", "--all", inside=inside)
        self.git("commit", "--quiet", "--message", f"Write {name}", inside=inside)
        return self.git("rev-parse", "HEAD", inside=inside).strip()
