"""Git LFS over SSH: the tokens of `git-lfs-authenticate`, and real git-lfs transfers."""

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.git_server import lfs_tokens
from holdfast.hosting.git_server.key_session import KeySession, open_key_session
from holdfast.hosting.store import accounts
from holdfast.hosting.store import ssh_keys as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.ssh_keys import SshKey
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import READ, add_commit, let_in, make_people, make_repository
from tests.hosting.ssh_server import SshService, add_deploy_key, add_user_key, serve_ssh

TYPE = "application/vnd.git-lfs+json"
CONTENT = b"a large file" * 1000
OBJECT = {"oid": hashlib.sha256(CONTENT).hexdigest(), "size": len(CONTENT)}


@pytest.fixture
def ssh(app: App, clients: ServiceClients, tmp_path: Path) -> Iterator[SshService]:
    """Serve HTTP and SSH."""
    app.settings = msgspec.structs.replace(app.settings, root_url=clients.service.url)
    with serve_ssh(app, tmp_path / "ssh") as running:
        yield running


@pytest.fixture
def ada(app: App) -> Account:
    """Return a user."""
    return make_people(app.database, "ada")[0]


@pytest.fixture
def media(app: App, ada: Account) -> Repository:
    """Return a private repository."""
    repository = make_repository(app.database, ada, "media", is_private=True)
    add_commit(app.database, repository, "main")
    return repository


def user_key(app: App, user: Account) -> SshKey:
    """Give a user a key, and return it as it is stored."""
    add_user_key(app, user)
    return store.keys_of(app.database, user, skip=0, limit=1)[0][0]


def session_of(app: App, key: SshKey, repository: Repository) -> KeySession:
    """Return the session of a key in a repository."""
    return open_key_session(app, key.id, key.fingerprint, repository.owner.name, repository.name, writing=False)


def batch(clients: ServiceClients, token: str, operation: str, repository: str = "ada/media") -> httpx.Response:
    """Send a batch request for an object."""
    return clients.open(f"/{repository}.git/info/lfs").post(
        "/objects/batch",
        json={"operation": operation, "objects": [OBJECT]},
        headers={"Accept": TYPE, "Content-Type": TYPE, "Authorization": f"Bearer {token}"},
    )


def test_git_lfs_works_over_ssh(ssh: SshService, ada: Account, media: Repository) -> None:
    """A file is pushed from one clone and pulled into another, and git itself has only a pointer."""
    del media
    client = ssh.client(add_user_key(ssh.app, ada))
    work = client.git()
    work.environment["GIT_CLONE_PROTECTION_ACTIVE"] = "false"
    work("clone", "-q", f"{client.address}/ada/media.git", ".")
    work("lfs", "install", "--local")
    work("lfs", "track", "*.bin")
    (work.folder / "film.bin").write_bytes(CONTENT)
    work("add", ".")
    work("commit", "-q", "-m", "a film")
    work("push", "-q", "origin", "HEAD:main")
    other = client.git("other")
    other("clone", "-q", f"{client.address}/ada/media.git", ".")
    assert (other.folder / "film.bin").read_bytes().startswith(b"version https://git-lfs")
    other("lfs", "install", "--local")
    other("lfs", "pull")
    assert (other.folder / "film.bin").read_bytes() == CONTENT


def test_a_token_is_for_one_operation(
    ssh: SshService, clients: ServiceClients, ada: Account, media: Repository
) -> None:
    """A download token cannot upload, and an upload token can do both; the response has the API URL."""
    del media
    client = ssh.client(add_user_key(ssh.app, ada))

    def authenticate(operation: str) -> dict[str, Any]:
        done = client.ssh("git-lfs-authenticate", "ada/media.git", operation)
        assert done.returncode == 0
        response: dict[str, Any] = json.loads(done.stdout)
        return response

    response = authenticate("download")
    assert response["href"] == f"{clients.service.url}/ada/media.git/info/lfs"
    assert response["expires_in"] == 3600
    token = response["header"]["Authorization"].removeprefix("Bearer ")
    assert batch(clients, token, "download").status_code == 200
    refused = batch(clients, token, "upload")
    assert (refused.status_code, refused.json()["message"]) == (403, "this token is for downloads")
    token = authenticate("upload")["header"]["Authorization"].removeprefix("Bearer ")
    assert batch(clients, token, "download").status_code == 200
    offered = batch(clients, token, "upload").json()["objects"][0]["actions"]["upload"]
    assert offered["header"]["Authorization"] == f"Bearer {token}"
    assert httpx.put(offered["href"], content=CONTENT, headers=offered["header"]).status_code == 200


def test_a_reader_gets_no_token_for_uploads(ssh: SshService, media: Repository) -> None:
    """`git-lfs-authenticate` checks permissions as a push or a fetch does."""
    bob, eve = make_people(ssh.app.database, "bob", "eve")
    let_in(ssh.app.database, media, bob, READ)
    reader = ssh.client(add_user_key(ssh.app, bob))
    assert reader.ssh("git-lfs-authenticate", "ada/media.git", "download").returncode == 0
    refused = reader.ssh("git-lfs-authenticate", "ada/media.git", "upload")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "you may not write to this repository" in refused.stderr
    stranger = ssh.client(add_user_key(ssh.app, eve), "eve")
    assert "repository not found" in stranger.ssh("git-lfs-authenticate", "ada/media.git", "download").stderr


def test_a_token_is_checked_again_at_each_use(
    app: App, clients: ServiceClients, ada: Account, media: Repository
) -> None:
    """A token is invalid once it has expired, its key was deleted or its user may not sign in."""
    key = user_key(app, ada)
    session = session_of(app, key, media)
    token = lfs_tokens.create(app, session, uploads=True)
    assert batch(clients, token, "upload").status_code == 200
    old = lfs_tokens.create(app, session, uploads=True, now=time.time() - lfs_tokens.ACCEPTED_SECONDS - 5)
    assert batch(clients, old, "upload").status_code == 401
    accounts.change_account(app.database, ada, may_not_log_in=True)
    assert batch(clients, token, "upload").status_code == 403
    accounts.change_account(app.database, ada, may_not_log_in=False)
    assert batch(clients, token, "upload").status_code == 200
    store.delete_key(app.database, key)
    assert batch(clients, token, "upload").status_code == 401
    store.create_key(app.database, ada, title="again", content=key.content, fingerprint=key.fingerprint)
    assert batch(clients, token, "upload").status_code == 401


def test_a_token_is_for_one_repository(app: App, clients: ServiceClients, ada: Account, media: Repository) -> None:
    """A token gives no access to other repositories that its key can use, and none to the API."""
    make_repository(app.database, ada, "other")
    token = lfs_tokens.create(app, session_of(app, user_key(app, ada), media), uploads=True)
    assert batch(clients, token, "download", "ada/other").status_code == 404
    assert clients.anonymous.get("/user", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_a_deploy_key_gets_tokens_too(app: App, clients: ServiceClients, media: Repository) -> None:
    """A token of a read-only deploy key cannot upload, even if it was created for uploads."""
    _, key = add_deploy_key(app, media, is_read_only=True)
    token = lfs_tokens.create(app, session_of(app, key, media), uploads=True)
    assert batch(clients, token, "download").status_code == 200
    refused = batch(clients, token, "upload")
    assert (refused.status_code, refused.json()["message"]) == (403, "this deploy key may only read")


def test_a_forged_token_is_refused(app: App, clients: ServiceClients, ada: Account, media: Repository) -> None:
    """A token that is changed, truncated or signed for another purpose gets 401."""
    token = lfs_tokens.create(app, session_of(app, user_key(app, ada), media), uploads=False)
    content, _, signature = token.removeprefix("lfs-").partition(".")
    claims = json.loads(base64.urlsafe_b64decode(content))
    claims[3] = True
    changed = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode()
    other = base64.urlsafe_b64encode(
        app.cipher.sign(b"another purpose", base64.urlsafe_b64decode(content))
    ).decode()
    for wrong in (
        f"lfs-{changed}.{signature}",
        f"lfs-{content}.{other}",
        f"lfs-{content}",
        f"lfs-{content}.",
        "lfs-",
        "lfs-.",
        "lfs-!.!",
        "lfs-" + "A" * 5000,
        token[:-4],
    ):
        response = batch(clients, wrong, "download")
        assert (response.status_code, response.json()["message"]) == (401, "the token is invalid")
