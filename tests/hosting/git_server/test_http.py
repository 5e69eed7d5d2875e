"""Git over HTTP: authentication, permissions, and the checks and events of pushes."""

import hashlib
import shutil
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from httpx import RemoteProtocolError

from holdfast.hosting.app import App
from holdfast.hosting.git.program import run
from holdfast.hosting.git.quarantine import Push
from holdfast.hosting.services import maintenance
from holdfast.hosting.services import repositories as making
from holdfast.hosting.services.pushes import RepositoryPush
from holdfast.hosting.store import accounts, lfs, repositories, repository_log
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address


@pytest.fixture
def work(clients: ServiceClients, tmp_path: Path) -> Git:
    """Make a user with a private repository, and a working copy with one commit."""
    clients.account("ada")
    clients.account("eve")
    response = clients.anonymous.post(
        "/user/repos", json={"name": "notes", "private": True}, auth=("ada", PASSWORD)
    )
    assert response.status_code == 201
    git = Git(tmp_path / "work")
    git("init", "-q", "-b", "trunk")
    git.commit("a.txt", "one\n")
    git("remote", "add", "origin", address(clients.service.url, "ada", PASSWORD, "ada/notes"))
    return git


def events(clients: ServiceClients) -> list[str]:
    """Return the kinds of the recorded events, in order."""
    with clients.database.read() as connection:
        return [row[0] for row in connection.exec_driver_sql("SELECT kind FROM events ORDER BY id")]


def test_the_first_push_fills_a_repository(clients: ServiceClients, work: Git, tmp_path: Path) -> None:
    """The pushed branch becomes the default, events are recorded, and a clone has the same commit."""
    work("push", "-q", "origin", "trunk")
    shown = clients.anonymous.get("/repos/ada/notes", auth=("ada", PASSWORD)).json()
    assert (shown["default_branch"], shown["empty"], shown["branch_count"]) == ("trunk", False, 1)
    assert events(clients) == ["repository", "create", "push"]
    clone = Git(tmp_path / "clone")
    clone("clone", "-q", address(clients.service.url, "ada", PASSWORD, "ada/notes"), ".")
    assert clone("rev-parse", "HEAD") == work("rev-parse", "HEAD")


def test_a_clone_that_fails_because_of_a_damaged_copy_leads_to_a_new_copy(
    clients: ServiceClients, work: Git, tmp_path: Path
) -> None:
    """Git reports the damage after it has begun to respond, so the client has to clone again."""
    work("push", "-q", "origin", "trunk")
    work("ls-remote", "origin")
    (folder,) = (clients.service.settings.data / "repositories").glob("??/*.git")
    (pack,) = (folder / "objects" / "pack").glob("*.pack")
    content = pack.read_bytes()
    shutil.rmtree(pack.parent)
    run(folder, "unpack-objects", "-q", input=content)
    blob = work("rev-parse", "HEAD:a.txt")
    (folder / "objects" / blob[:2] / blob[2:]).unlink()
    clone = Git(tmp_path / "clone")
    source = address(clients.service.url, "ada", PASSWORD, "ada/notes")
    assert clone.try_to("clone", "-q", source, ".").returncode == 128
    clone("clone", "-q", source, ".")
    assert (clone.folder / "a.txt").read_text() == "one\n"


@pytest.fixture
def corrupt_pack(clients: ServiceClients, work: Git) -> Path:
    """Push a file and flip a bit of it in the pack of the local copy, which is not linked to the object store."""
    text = "\n".join(f"{number * 7919:x}" for number in range(3000))
    work.commit("big.txt", text)
    work("push", "-q", "origin", "trunk")
    clients.anonymous.patch("/repos/ada/notes", json={"private": False}, auth=("ada", PASSWORD))
    (folder,) = (clients.service.settings.data / "repositories").glob("??/*.git")
    (pack,) = (folder / "objects" / "pack").glob("*.pack")
    content = bytearray(pack.read_bytes())
    content[len(content) // 2] ^= 1
    pack.chmod(0o600)
    pack.write_bytes(content)
    return folder


def test_corruption_that_only_clients_notice_is_found_by_verification(
    clients: ServiceClients, work: Git, corrupt_pack: Path, tmp_path: Path
) -> None:
    """Git sends objects of a pack as they are, and the response is cached; the next clone after it gets others."""
    clone = Git(tmp_path / "clone")
    source = address(clients.service.url, "ada", PASSWORD, "ada/notes")
    for _ in range(2):
        assert "inflate" in clone.try_to("clone", "-q", source, ".").stderr
    opened = App.open(clients.service.settings)
    maintenance.verify_copies(opened)
    opened.close()
    assert not corrupt_pack.exists()
    clone("clone", "-q", source, ".")
    assert clone("rev-parse", "HEAD") == work("rev-parse", "HEAD")


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/repos/ada/notes/contents/big.txt",
        "/api/v1/repos/ada/notes/git/commits/{}.diff",
        "/ada/notes/raw/branch/trunk/big.txt",
        "/ada/notes/commit/{}",
        "/ada/notes/blame/branch/trunk/big.txt",
        "/ada/notes/archive/trunk.zip",
        "/ada/notes/archive/trunk.tar.gz",
    ],
)
def test_corruption_that_a_reader_notices_leads_to_a_new_copy(
    clients: ServiceClients, work: Git, corrupt_pack: Path, path: str
) -> None:
    """The request fails, also in the middle of its response, and the next one is answered from a new copy."""
    built = (corrupt_pack / "config").stat().st_ino
    address_of_page = path.format(work("rev-parse", "HEAD"))
    with clients.service.client() as client:
        with suppress(RemoteProtocolError):
            assert client.get(address_of_page).status_code == 503
        response = client.get(address_of_page)
    assert response.status_code == 200
    assert response.content
    assert (corrupt_pack / "config").stat().st_ino != built


def test_a_branch_that_a_copy_lost_is_cloned(clients: ServiceClients, work: Git, tmp_path: Path) -> None:
    """What is left of the refs is listed, and cached, until they are compared; then the whole list is sent."""
    work("push", "-q", "origin", "trunk", "trunk:other")
    opened = App.open(clients.service.settings)
    repository = repositories.find_repository(opened.database, "ada", "notes")
    run(opened.copies.open(repository).folder, "update-ref", "-d", "refs/heads/other")
    assert "refs/heads/other" not in work("ls-remote", "origin")
    opened.copies.path(repository)
    opened.close()
    clone = Git(tmp_path / "clone")
    clone("clone", "-q", address(clients.service.url, "ada", PASSWORD, "ada/notes"), ".")
    assert "origin/other" in clone("branch", "-r")


def test_a_private_repository_requires_credentials_and_read_access(clients: ServiceClients, work: Git) -> None:
    """A private repository gives the same responses as a missing one, and a wrong password is refused."""
    work("push", "-q", "origin", "trunk")
    for name in ("ada/notes", "ada/nothing"):
        asked = work.try_to("ls-remote", f"{clients.service.url}/{name}.git")
        assert "could not read Username" in asked.stderr
        refused = work.try_to("ls-remote", address(clients.service.url, "eve", PASSWORD, name))
        assert "not found" in refused.stderr
    wrong = work.try_to("ls-remote", address(clients.service.url, "ada", "wrong", "ada/notes"))
    assert "Authentication failed" in wrong.stderr


def test_a_public_repository_is_cloned_and_not_pushed_anonymously(
    clients: ServiceClients, work: Git, tmp_path: Path
) -> None:
    """Anonymous clones may be shallow, blobless or of protocol 0 or 2; a user without write access gets 403."""
    work.commit("b.txt", "two\n")
    work("push", "-q", "origin", "trunk")
    clients.anonymous.patch("/repos/ada/notes", json={"private": False}, auth=("ada", PASSWORD))
    ways = [["--depth=1"], ["--filter=blob:none"], ["-c", "protocol.version=0"], ["-c", "protocol.version=2"]]
    for number, how in enumerate(ways):
        clone = Git(tmp_path / f"clone{number}")
        clone("clone", "-q", *how, f"{clients.service.url}/ada/notes", ".")
        assert (clone.folder / "b.txt").read_text() == "two\n"
    refused = work.try_to("push", address(clients.service.url, "eve", PASSWORD, "ada/notes"), "trunk:x")
    assert "403" in refused.stderr
    assert work.try_to("push", f"{clients.service.url}/ada/notes.git", "trunk:x").returncode != 0
    assert "refs/heads/x" not in work("ls-remote", "origin")


def test_a_push_requires_the_scope_of_a_token(clients: ServiceClients, work: Git) -> None:
    """A token needs `write:repository` to push; reading and other scopes are not enough."""
    ada = repositories.find_repository(clients.database, "ada", "notes").owner
    for scope, succeeds in (("read:repository", False), ("write:issue", False), ("write:repository", True)):
        token = clients.with_token(ada, scope).headers["authorization"].removeprefix("token ")
        pushed = work.try_to("push", "-q", address(clients.service.url, "ada", token, "ada/notes"), "trunk")
        assert (pushed.returncode == 0) is succeeds, pushed.stderr


def test_an_archived_repository_is_read_only(clients: ServiceClients, work: Git) -> None:
    """An archived repository can be fetched, and a push gets 403."""
    work("push", "-q", "origin", "trunk")
    clients.anonymous.patch("/repos/ada/notes", json={"archived": True}, auth=("ada", PASSWORD))
    work("fetch", "-q", "origin")
    work.commit("b.txt", "two\n")
    assert "403" in work.try_to("push", "origin", "trunk").stderr


def test_branch_protection_is_checked_before_a_branch_moves(clients: ServiceClients, work: Git) -> None:
    """Force pushes, deletions, protected files and unlisted users are refused, with all refs of the push."""
    first = work("rev-parse", "HEAD")
    work("push", "-q", "origin", "trunk")
    rule = {"rule_name": "trunk", "enable_push": True, "protected_file_patterns": "secret/*;*.lock"}
    response = clients.anonymous.post("/repos/ada/notes/branch_protections", json=rule, auth=("ada", PASSWORD))
    assert response.status_code == 201

    work.commit("b.txt", "fine\n")
    work("push", "-q", "origin", "trunk")
    work.commit("secret/key", "no\n")
    work("branch", "other")
    refused = work.try_to("push", "origin", "trunk", "other")
    assert "Branch trunk is protected from changing file secret/key" in refused.stderr
    assert "other" not in work("ls-remote", "origin")
    work("reset", "-q", "--hard", first)
    work.commit("c.txt", "sideways\n")
    assert "Branch trunk is protected from force push" in work.try_to("push", "-f", "origin", "trunk").stderr
    work.commit("e.txt", "elsewhere\n")
    work("push", "-q", "origin", "HEAD:refs/heads/release")
    rule = {"rule_name": "release", "enable_push": True}
    clients.anonymous.post("/repos/ada/notes/branch_protections", json=rule, auth=("ada", PASSWORD))
    assert "Branch release is protected from deletion" in work.try_to("push", "origin", ":release").stderr

    lists = {"enable_push_whitelist": True, "push_whitelist_usernames": ["eve"], "protected_file_patterns": ""}
    clients.anonymous.patch("/repos/ada/notes/branch_protections/trunk", json=lists, auth=("ada", PASSWORD))
    work("fetch", "-q", "origin")
    work("reset", "-q", "--hard", "origin/trunk")
    work.commit("d.txt", "by nobody listed\n")
    assert "Not allowed to push to protected branch trunk" in work.try_to("push", "origin", "trunk").stderr


def test_the_default_branch_is_not_deleted(clients: ServiceClients, work: Git) -> None:
    """The default branch cannot be deleted; other branches and tags can, with an event for each."""
    work("push", "-q", "origin", "trunk", "trunk:other")
    work("tag", "v1")
    work("push", "-q", "origin", "v1")
    assert "default branch" in work.try_to("push", "origin", ":trunk").stderr
    work("push", "-q", "origin", ":other", ":refs/tags/v1")
    expected = ["repository", "create", "push", "create", "push", "push", "create", "delete", "push", "delete"]
    assert sorted(events(clients)) == sorted(expected)
    assert work("ls-remote", "origin", "refs/*").split()[1:] == ["refs/heads/trunk"]


def test_a_renamed_repository_is_found_by_its_old_name(clients: ServiceClients, work: Git) -> None:
    """A push to the old URL works after a rename."""
    work("push", "-q", "origin", "trunk")
    clients.anonymous.patch("/repos/ada/notes", json={"name": "journal"}, auth=("ada", PASSWORD))
    work.commit("b.txt", "two\n")
    work("push", "-q", "origin", "trunk")


def test_a_repository_is_found_by_the_old_names_of_its_owner(
    clients: ServiceClients, work: Git, tmp_path: Path
) -> None:
    """Clones, pushes and LFS work under former names of owner and repository until a name is taken again."""
    work("push", "-q", "origin", "trunk")
    for old, new in (("ada", "countess"), ("countess", "lovelace")):
        accounts.rename_account(clients.database, accounts.find_user(clients.database, old), new)
    repository = repositories.find_repository(clients.database, "lovelace", "notes")
    with clients.database.write() as connection:
        repositories.rename_repository(connection, repository, "journal")
    accounts.rename_account(clients.database, repository.owner, "lady")
    for number, (owner, name) in enumerate([("ada", "notes"), ("countess", "journal"), ("lady", "notes")]):
        url = address(clients.service.url, "lady", PASSWORD, f"{owner}/{name}")
        commit_id = work.commit(f"{number}.txt", "new\n")
        work("push", "-q", url, "trunk")
        clone = Git(tmp_path / f"clone{number}")
        clone("clone", "-q", url, ".")
        assert clone("rev-parse", "HEAD") == commit_id
        wanted = {"operation": "upload", "objects": [{"oid": "1" * 64, "size": 3}]}
        with clients.service.client() as client:
            response = client.post(
                f"/{owner}/{name}.git/info/lfs/objects/batch",
                json=wanted,
                auth=("lady", PASSWORD),
                headers={"Accept": "application/vnd.git-lfs+json"},
            )
        assert response.status_code == 200
        href = response.json()["objects"][0]["actions"]["upload"]["href"]
        assert href.startswith(f"{clients.service.url}/lady/journal.git/")
    clients.account("ada")
    gone = work.try_to("ls-remote", address(clients.service.url, "ada", PASSWORD, "ada/notes"))
    assert "not found" in gone.stderr, "somebody else has the name now"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/info/refs", 403),
        ("GET", "/info/refs?service=git-evil", 403),
        ("GET", "/git-upload-pack", 405),
        ("POST", "/git-upload-pack", 415),
        ("POST", "/info/refs", 405),
    ],
)
def test_other_requests_are_refused(
    clients: ServiceClients, work: Git, method: str, path: str, status: int
) -> None:
    """Requests with a wrong service, method or content type are refused in plain text."""
    with clients.service.client() as client:
        response = client.request(method, f"/ada/notes.git{path}", auth=("ada", PASSWORD))
    assert response.status_code == status
    assert response.headers["content-type"].startswith("text/plain")


EMPTY = b"PACK\0\0\0\2\0\0\0\0"
EMPTY_PACK = EMPTY + hashlib.sha1(EMPTY).digest()


def push_raw(clients: ServiceClients, *commands: str, pack: bytes = b"") -> bytes:
    """Push commands that git would not send, and return the response."""
    lines = [f"{command}\0report-status" if at == 0 else command for at, command in enumerate(commands)]
    body = b"".join(b"%04x" % (len(line) + 4) + line.encode() for line in lines) + b"0000" + pack
    headers = {"Content-Type": "application/x-git-receive-pack-request"}
    with clients.service.client() as client:
        response = client.post(
            "/ada/notes.git/git-receive-pack", content=body, headers=headers, auth=("ada", PASSWORD)
        )
    assert response.status_code == 200
    return response.content


def test_an_update_without_a_change_records_no_event(clients: ServiceClients, work: Git) -> None:
    """Deleting a missing ref or updating a ref to its value adds no event and no version of the log."""
    work("push", "-q", "origin", "trunk", "trunk:other")
    repository = repositories.find_repository(clients.database, "ada", "notes")
    before, version = events(clients), repository_log.current_version(clients.database, repository.id)
    none, head = "0" * 40, work("rev-parse", "HEAD")
    for ref in ("refs/heads/nope", "refs/tags/nope"):
        assert f"ok {ref}".encode() in push_raw(clients, f"{none} {none} {ref}")
    assert b"ok refs/heads/other" in push_raw(clients, f"{head} {head} refs/heads/other", pack=EMPTY_PACK)
    assert events(clients) == before
    assert repository_log.current_version(clients.database, repository.id) == version
    response = push_raw(clients, f"{none} {none} refs/heads/nope", f"{head} {none} refs/heads/other")
    assert b"ok refs/heads/other" in response
    assert events(clients) == [*before, "delete"]
    assert repository_log.current_version(clients.database, repository.id) == version + 1


@pytest.mark.parametrize("atomic", [True, False])
def test_a_branch_that_conflicts_with_another_is_refused(
    clients: ServiceClients, work: Git, *, atomic: bool
) -> None:
    """A branch below an existing one is refused with the reason; others are pushed unless it is atomic."""
    work("push", "-q", "origin", "trunk", "trunk:refs/stash")
    options = ["--atomic"] if atomic else []
    refused = work.try_to("push", *options, "origin", "trunk:trunk/below", "trunk:refs/stash/x", "trunk:fine")
    assert "cannot be there beside refs/heads/trunk" in refused.stderr
    assert "cannot be there beside refs/stash" in refused.stderr
    listed = {line.split()[1] for line in work("ls-remote", "origin").splitlines()}
    assert listed == {"HEAD", "refs/heads/trunk", "refs/stash"} | (set() if atomic else {"refs/heads/fine"})
    work("push", "-q", "origin", "trunk:a")
    work("push", "-q", "origin", ":a", "trunk:a/b")


@pytest.mark.parametrize("name", ["HEAD:a.txt", "HEAD^{tree}", "v1"])
def test_a_branch_must_point_to_a_commit(clients: ServiceClients, work: Git, name: str) -> None:
    """A blob, tree or tag as a branch is refused; other refs are pushed unless the push is atomic."""
    work("tag", "--annotate", "--message", "one", "v1")
    work("push", "-q", "origin", "trunk")
    refused = work.try_to("push", "origin", f"{name}:refs/heads/odd", "trunk:fine").stderr
    assert "a branch points at a commit, not at a " in refused
    work.try_to("push", "--atomic", "origin", f"{name}:refs/heads/odd", "trunk:never")
    listed = {line.split()[1] for line in work("ls-remote", "origin", "refs/heads/*").splitlines()}
    assert listed == {"refs/heads/trunk", "refs/heads/fine"}
    work.commit("b.txt", "two\n")
    work("push", "-q", "origin", "trunk")
    assert work("ls-remote", "origin", "refs/heads/trunk").split()[0] == work("rev-parse", "HEAD")


def test_a_damaged_pack_is_refused_and_leaves_no_files(clients: ServiceClients, work: Git) -> None:
    """A push with a damaged pack creates no ref and no file, and the next push works."""
    work("push", "-q", "origin", "trunk")
    data = clients.service.settings.data / "repositories"
    before = sorted(data.rglob("objects/**/*"))
    assert before
    command = b"0" * 40 + b" " + b"1" * 40 + b" refs/heads/x\0report-status\n"
    body = b"%04x" % (len(command) + 4) + command + b"0000" + b"PACK\0\0\0\2\0\0\0\1garbage"
    headers = {"Content-Type": "application/x-git-receive-pack-request"}
    with clients.service.client() as client:
        response = client.post(
            "/ada/notes.git/git-receive-pack", content=body, headers=headers, auth=("ada", PASSWORD)
        )
    assert response.status_code in {200, 400}
    assert b"unpack ok" not in response.content
    assert sorted(data.rglob("objects/**/*")) == before
    work.commit("b.txt", "two\n")
    work("push", "-q", "origin", "trunk")
    assert work("ls-remote", "origin", "refs/heads/x") == ""


def pointer(oid: str, size: int = 12) -> str:
    """Return the pointer file that git-lfs commits in place of a large file."""
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n"


def test_a_push_without_its_lfs_objects_is_refused(clients: ServiceClients, work: Git) -> None:
    """The message has the missing files and `git lfs push --all`; the push succeeds with the objects."""
    work("push", "-q", "origin", "trunk")
    work.commit("film.bin", pointer("a" * 64))
    refused = work.try_to("push", "origin", "trunk").stderr
    assert "film.bin" in refused
    assert "git lfs push --all" in refused
    for number in range(150):
        (work.folder / f"{number}.bin").write_text(pointer(f"{number:064x}"))
    work("add", ".")
    work("commit", "-q", "-m", "many")
    assert "and others" in work.try_to("push", "origin", "trunk", "trunk:side").stderr
    assert "side" not in work("ls-remote", "origin")
    repository = repositories.find_repository(clients.database, "ada", "notes")
    lfs.link(clients.database, repository, "a" * 64, 12)
    for number in range(150):
        lfs.link(clients.database, repository, f"{number:064x}", 12)
    work("push", "-q", "origin", "trunk")


def test_a_file_similar_to_an_lfs_pointer_is_pushed(clients: ServiceClients, work: Git) -> None:
    """Text that contains a pointer, an empty LFS file and known commits need no LFS object."""
    work.commit("docs.txt", "about:\n" + pointer("b" * 64))
    work.commit("empty.bin", pointer("c" * 64, 0))
    work.commit("long.txt", pointer("d" * 64) + "x" * 2000)
    work("push", "-q", "origin", "trunk")
    work("push", "-q", "origin", "trunk:again")


def test_missing_lfs_objects_can_be_allowed(app: App, tmp_path: Path) -> None:
    """The setting `allow_missing_lfs_objects` skips the check, so that no objects are read for it."""
    admin = accounts.find_user(app.database, "admin")
    repository = making.create(app, admin, admin, making.NewRepository(name="notes"))
    app.settings = msgspec.structs.replace(app.settings, allow_missing_lfs_objects=True)
    push = Push(tmp_path, (), {"GIT_OBJECT_DIRECTORY": "/nowhere"})
    assert RepositoryPush(app, repository, admin).missing_large_files(push) == []
