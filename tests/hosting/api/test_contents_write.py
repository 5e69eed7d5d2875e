"""The contents endpoints for writing: commits of files, their options and errors."""

import base64
import json
import socket
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest

from holdfast.hosting.store.repositories import Repository, find_repository
from tests.hosting.api.repository_folders import (
    assert_refused,
    folder_of,
    git_in,
    make_files_repository,
    object_at,
)
from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import READ, WRITE, let_in, recorded_events

SHIP = "/repos/ada/ship/contents"
ZERO = "0" * 40


def encoded(content: bytes | str) -> str:
    """Encode the content of a file in base64."""
    return base64.b64encode(content.encode() if isinstance(content, str) else content).decode()


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Return a client of Ada."""
    return clients.user("ada", full_name="Ada Lovelace")


@pytest.fixture
def ship(clients: ServiceClients, ada: httpx.Client) -> Repository:
    """Give Ada a repository with some files."""
    files = {
        "README.md": b"# ship\n",
        "src/hull.txt": b"wood\n",
        "src/sail.txt": b"cloth\n",
        "run.sh": b"#!/bin/sh\n",
    }
    return make_files_repository(clients, files)


def test_a_file_is_created_and_the_response_describes_it(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """The response has the file and its commit, the branch has moved, and a push is recorded."""
    before = git_in(folder_of(clients, ship), "rev-parse", "main").strip()
    response = ada.post(f"{SHIP}/docs/log.txt", json={"content": encoded("day 1\n"), "message": "Begin the log"})
    assert response.status_code == 201
    repository_folder = folder_of(clients, ship)
    commit = git_in(repository_folder, "rev-parse", "main").strip()
    body: dict[str, Any] = response.json()
    api, page = f"{clients.service.url}/api/v1/repos/ada/ship", f"{clients.service.url}/ada/ship"
    assert list(body) == ["content", "commit", "verification"]
    content = body["content"]
    assert content["name"] == "log.txt"
    assert content["path"] == "docs/log.txt"
    assert content["sha"] == object_at(repository_folder, "docs/log.txt")
    assert content["last_commit_sha"] == commit
    assert (content["type"], content["mode"], content["size"]) == ("file", "100644", 6)
    assert (content["encoding"], base64.b64decode(content["content"])) == ("base64", b"day 1\n")
    assert content["url"] == f"{api}/contents/docs/log.txt?ref=main"
    assert content["html_url"] == f"{page}/src/branch/main/docs/log.txt"
    told_of = body["commit"]
    assert list(told_of) == [
        *("url", "sha", "created", "html_url", "author", "committer", "parents", "message", "tree")
    ]
    assert told_of["url"] == f"{api}/git/commits/{commit}"
    assert told_of["sha"] == commit
    assert told_of["created"] == "0001-01-01T00:00:00Z"
    assert told_of["html_url"] == f"{page}/commit/{commit}"
    assert told_of["author"]["name"] == "Ada Lovelace"
    assert told_of["author"]["email"] == "ada@example.org"
    assert told_of["author"]["date"].endswith("Z")
    assert told_of["parents"] == [
        {"url": f"{api}/git/commits/{before}", "sha": before, "created": "0001-01-01T00:00:00Z"}
    ]
    assert told_of["message"] == "Begin the log\n"
    assert told_of["tree"]["sha"] == git_in(repository_folder, "rev-parse", "main^{tree}").strip()
    assert body["verification"] == {
        "verified": False,
        "reason": "gpg.error.not_signed_commit",
        "signature": "",
        "signer": None,
        "payload": "",
    }
    assert git_in(repository_folder, "show", "main:docs/log.txt") == "day 1\n"
    assert git_in(repository_folder, "fsck", "--strict") == ""
    kind, details = recorded_events(clients.database)[-1]
    assert (kind, details) == (
        "push",
        {"ref": "refs/heads/main", "before": before, "after": commit, "ref_type": "branch"},
    )


def test_a_file_is_updated_moved_and_deleted(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """PUT with a sha updates a file, with `from_path` it moves the file, and DELETE returns no content."""
    repository_folder = folder_of(clients, ship)
    hull = object_at(repository_folder, "src/hull.txt")
    response = ada.put(f"{SHIP}/src/hull.txt", json={"content": encoded("iron\n"), "sha": hull})
    assert response.status_code == 200
    assert response.json()["commit"]["message"] == "Update src/hull.txt\n"
    iron = response.json()["content"]["sha"]
    moved = ada.put(
        f"{SHIP}/parts/hull.txt", json={"content": encoded("steel\n"), "sha": iron, "from_path": "src/hull.txt"}
    )
    assert moved.status_code == 200
    assert git_in(repository_folder, "ls-tree", "-r", "--name-only", "main").split() == [
        *("README.md", "parts/hull.txt", "run.sh", "src/sail.txt")
    ]
    sail = object_at(repository_folder, "src/sail.txt")
    gone = ada.request("DELETE", f"{SHIP}/src/sail.txt", json={"sha": sail})
    assert gone.status_code == 200
    assert gone.json()["content"] is None
    assert gone.json()["commit"]["message"] == "Delete src/sail.txt\n"
    assert "src" not in git_in(repository_folder, "ls-tree", "--name-only", "main")
    again = ada.delete(f"{SHIP}/README.md", params={"sha": object_at(repository_folder, "README.md")})
    assert again.status_code == 200
    new = ada.put(f"{SHIP}/new.txt", json={"content": encoded("new")})
    assert (new.status_code, new.json()["commit"]["message"]) == (201, "Add new.txt\n")
    assert git_in(repository_folder, "fsck", "--strict") == ""


def test_many_files_change_in_one_commit(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """All operations of one request are one commit with one result each, which is null for a deletion."""
    place = folder_of(clients, ship)
    git_in(place, "rev-parse", "main")
    response = ada.post(
        SHIP,
        json={
            "files": [
                {"operation": "create", "path": "a.txt", "content": encoded("a")},
                {"operation": "update", "path": "README.md", "content": "", "sha": object_at(place, "README.md")},
                {"operation": "upload", "path": "b.txt", "content": encoded("b")},
                {
                    "operation": "rename",
                    "path": "lib/hull.txt",
                    "from_path": "src/hull.txt",
                    "content": encoded("ignored"),
                    "sha": object_at(place, "src/hull.txt"),
                },
                {"operation": "delete", "path": "src/sail.txt", "sha": object_at(place, "src/sail.txt")},
            ]
        },
    )
    assert response.status_code == 201
    files = response.json()["files"]
    assert [None if file is None else file["path"] for file in files] == [
        *("a.txt", "README.md", "b.txt", "lib/hull.txt", None)
    ]
    assert files[1]["content"] == ""
    wanted = "Add a.txt\nUpdate README.md, b.txt, lib/hull.txt\nDelete src/sail.txt\n"
    assert response.json()["commit"]["message"] == wanted
    assert git_in(place, "show", "main:lib/hull.txt") == "wood\n"
    assert git_in(place, "rev-list", "--count", "main").strip() == "2"


def test_modes_are_kept_and_can_be_given(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """An executable file stays executable when it is updated or moved; a mode can be given, also for a link."""
    place = folder_of(clients, ship)
    entry = {"operation": "upload", "path": "run.sh", "content": encoded("#!/bin/sh\n"), "mode": "100755"}
    assert ada.post(SHIP, json={"files": [entry]}).json()["files"][0]["mode"] == "100755"
    body = {"content": encoded("#!/bin/bash\n"), "sha": object_at(place, "run.sh")}
    assert ada.put(f"{SHIP}/run.sh", json=body).json()["content"]["mode"] == "100755"
    entry = {"operation": "rename", "path": "go.sh", "from_path": "run.sh", "sha": object_at(place, "run.sh")}
    assert ada.post(SHIP, json={"files": [entry]}).json()["files"][0]["mode"] == "100755"
    link = ada.post(f"{SHIP}/link", json={"content": encoded("go.sh"), "mode": "120000"})
    assert (link.json()["content"]["type"], link.json()["content"]["target"]) == ("symlink", "go.sh")
    assert_refused(
        ada.post(f"{SHIP}/x", json={"content": "", "mode": "100777"}),
        422,
        "[Mode]: must be one of 100644, 100755, 120000",
    )
    assert git_in(place, "fsck", "--strict") == ""


@pytest.mark.parametrize(
    "case",
    [
        ("link", "", "120000", "a symbolic link needs a target of 1 to 4095 bytes"),
        ("link", "a\0b", "120000", "a symbolic link needs a target of 1 to 4095 bytes"),
        ("link", "x" * 4096, "120000", "a symbolic link needs a target of 1 to 4095 bytes"),
        (
            ".gitmodules",
            '[submodule "../x"]\n\turl = y\n',
            "",
            "git would refuse .gitmodules: the name of a submodule leads out of its folder",
        ),
        (
            "d/.GitModules",
            '[submodule "x"]\n\turl = -y\n',
            "",
            "git would refuse d/.GitModules: the url of a submodule looks like an option",
        ),
        (
            ".gitattributes",
            "x" * 2048,
            "",
            "git would refuse .gitattributes: it has a line of 2048 bytes or more",
        ),
    ],
)
def test_content_that_harms_other_clients_is_refused(
    clients: ServiceClients, ada: httpx.Client, ship: Repository, case: tuple[str, str, str, str]
) -> None:
    """Invalid link targets are refused, and so are `.gitmodules` and `.gitattributes` that git would refuse."""
    del clients, ship
    path, content, mode, problem = case
    response = ada.post(f"{SHIP}/{path}", json={"content": encoded(content), "mode": mode})
    assert_refused(response, 422, f"[Content]: {problem}")


def test_author_committer_dates_and_signoff_are_recorded(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """A missing address is that of the author, dates keep their offsets, and the committer signs off."""
    body = {
        "content": "",
        "message": "  Say it\n\n",
        "author": {"name": "Grace", "email": "grace@example.org"},
        "committer": {"name": "Bo<>b"},
        "dates": {"author": "2020-02-03T04:05:06+05:30", "committer": "0001-01-01T00:00:00Z"},
        "signoff": True,
    }
    response = ada.post(f"{SHIP}/signed", json=body)
    assert response.status_code == 201
    commit = response.json()["commit"]
    assert commit["author"] == {"name": "Grace", "email": "grace@example.org", "date": "2020-02-02T22:35:06Z"}
    assert (commit["committer"]["name"], commit["committer"]["email"]) == ("Bob", "grace@example.org")
    assert commit["message"] == "Say it\n\nSigned-off-by: Bob <grace@example.org>"
    raw = git_in(folder_of(clients, ship), "cat-file", "commit", "main")
    assert "author Grace <grace@example.org> 1580682906 +0530\n" in raw
    too_old = {"content": "", "dates": {"author": "1960-01-01T00:00:00Z"}}
    assert_refused(ada.post(f"{SHIP}/old", json=too_old), 422, "[Dates]: must be between 1970 and 9999")


def test_a_new_branch_is_made_and_force_replaces_one(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """The new branch starts at the old one; an existing branch is replaced only with `force_push`."""
    place = folder_of(clients, ship)
    first = ada.post(f"{SHIP}/a", json={"content": encoded("1"), "new_branch": "feature/one"})
    assert first.status_code == 201
    assert first.json()["content"]["url"].endswith("?ref=feature%2Fone")
    assert [kind for kind, _ in recorded_events(clients.database)[-2:]] == ["create", "push"]
    again = {"content": encoded("2"), "new_branch": "feature/one"}
    assert_refused(ada.post(f"{SHIP}/b", json=again), 422, "branch already exists [name: feature/one]")
    forced = ada.post(f"{SHIP}/b", json={**again, "force_push": True})
    assert forced.status_code == 201
    assert git_in(place, "ls-tree", "--name-only", "feature/one").split() == ["README.md", "b", "run.sh", "src"]
    nested = ada.post(f"{SHIP}/c", json={"content": "", "new_branch": "feature"})
    assert nested.status_code == 422
    missing = ada.post(f"{SHIP}/c", json={"content": "", "branch": "nope"})
    assert_refused(missing, 404, f"branch does not exist [repo_id: {ship.id} name: nope]")


def test_an_empty_repository_gets_its_first_commit(clients: ServiceClients, ada: httpx.Client) -> None:
    """The first commit has no parent, its branch becomes the default, and an update with any sha succeeds."""
    repository = make_files_repository(clients, None, "empty")
    address = "/repos/ada/empty/contents"
    gone = ada.request("DELETE", f"{address}/x", json={"sha": ZERO})
    assert_refused(gone, 404, "object does not exist [id: , rel_path: x]")
    response = ada.put(f"{address}/x", json={"content": encoded("x"), "sha": ZERO, "new_branch": "trunk"})
    assert response.status_code == 200
    assert response.json()["commit"]["parents"] == []
    found_repository = find_repository(clients.database, "ada", "empty")
    assert (found_repository.is_empty, found_repository.default_branch) == (False, "trunk")
    assert git_in(folder_of(clients, repository), "symbolic-ref", "HEAD").strip() == "refs/heads/trunk"
    assert ada.post(f"{address}/y", json={"content": ""}).status_code == 201


def test_a_missing_file_or_a_wrong_sha_is_refused(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """A missing path gives 404; a wrong sha gives 422 with both values, and a missing one gives 422."""
    repository_folder = folder_of(clients, ship)
    hull = object_at(repository_folder, "src/hull.txt")
    body = {"content": "", "sha": hull}
    assert_refused(ada.put(f"{SHIP}/nope", json=body), 404, "object does not exist [id: , rel_path: nope]")
    assert_refused(ada.put(f"{SHIP}/no/pe", json=body), 404, "object does not exist [id: , rel_path: no]")
    wrong = ada.put(f"{SHIP}/src/hull.txt", json={"content": "", "sha": ZERO})
    assert_refused(wrong, 422, f"sha does not match [given: {ZERO}, expected: {hull}]")
    gone = ada.request("DELETE", f"{SHIP}/src/hull.txt", json={"sha": ZERO})
    assert_refused(gone, 422, f"sha does not match [given: {ZERO}, expected: {hull}]")
    assert_refused(ada.request("DELETE", f"{SHIP}/src/hull.txt", json={}), 422, "[SHA]: Required")
    for operation in ("update", "rename", "delete"):
        entry = {"operation": operation, "path": "new", "from_path": "src/hull.txt"}
        if operation != "rename":
            entry["path"] = "src/hull.txt"
        response = ada.post(SHIP, json={"files": [entry]})
        assert_refused(response, 422, "a SHA or commit ID must be proved when updating a file")
    entry = {"operation": "upload", "path": "up", "sha": ZERO}
    response = ada.post(SHIP, json={"files": [entry]})
    assert_refused(response, 422, f"sha does not match [given: {ZERO}, expected: ]")


def test_last_commit_id_replaces_the_sha(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """An update with `last_commit_id` is refused if the path has changed since that commit."""
    repository_folder = folder_of(clients, ship)
    first = git_in(repository_folder, "rev-parse", "main").strip()
    assert ada.post(f"{SHIP}/other", json={"content": ""}).status_code == 201
    body = {"content": encoded("1"), "last_commit_id": first}
    assert ada.put(f"{SHIP}/README.md", json=body).status_code == 200
    head = git_in(repository_folder, "rev-parse", "main").strip()
    text = f"commit id does not match [given: {first}, expected: {head}]"
    assert_refused(ada.put(f"{SHIP}/README.md", json=body), 422, text)
    text = f"commit id does not match [given: -x, expected: {head}]"
    assert_refused(ada.put(f"{SHIP}/README.md", json={**body, "last_commit_id": "-x"}), 422, text)


def test_conflicting_paths_are_reported(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """A file, a link, a directory or a submodule in place of the new file is named in the error."""
    place = folder_of(clients, ship)
    link = {"operation": "create", "path": "link", "content": encoded("run.sh"), "mode": "120000"}
    assert ada.post(SHIP, json={"files": [link]}).status_code == 201
    tree = git_in(place, "ls-tree", "main") + f"160000 commit {'1' * 40}\tsub\n"
    made_tree = git_in(place, "mktree", given=tree.encode()).strip()
    identity = ["-c", "user.name=x", "-c", "user.email=x@y"]
    commit = git_in(place, *identity, "commit-tree", made_tree, "-p", "main", "-m", "sub")
    place.set_branch("main", commit.strip())

    def create(path: str, **more: str) -> httpx.Response:
        return ada.post(f"{SHIP}/{path}", json={"content": "", **more})

    in_the_way = "exists where you’re trying to create a"  # noqa: RUF001  # as Gitea writes it
    assert_refused(create("README.md/x"), 422, f"a file {in_the_way} subdirectory [path: README.md]")
    assert_refused(create("link/x"), 422, f"a file {in_the_way} subdirectory [path: link]")
    assert_refused(create("sub/x"), 422, f"a file {in_the_way} subdirectory [path: sub]")
    assert_refused(create("link"), 422, f"a symbolic link {in_the_way} subdirectory [path: link]")
    assert_refused(create("src"), 422, f"a directory {in_the_way} file [path: src]")
    assert_refused(create("README.md"), 422, "repository file already exists [path: README.md]")
    tree_id = object_at(place, "src")
    gone = ada.request("DELETE", f"{SHIP}/src", json={"sha": tree_id})
    assert_refused(gone, 422, "path is a directory, and only files can be changed [path: src]")
    assert ada.request("DELETE", f"{SHIP}/sub", json={"sha": "1" * 40}).status_code == 200
    entry = {"operation": "rename", "path": "run.sh", "from_path": "run.sh", "sha": object_at(place, "run.sh")}
    assert_refused(ada.post(SHIP, json={"files": [entry]}), 422, "repository file already exists [path: run.sh]")
    entry = {**entry, "path": "README.md"}
    assert_refused(
        ada.post(SHIP, json={"files": [entry]}), 422, "repository file already exists [path: README.md]"
    )
    assert git_in(place, "fsck", "--strict") == ""


def test_changes_of_one_request_may_not_conflict(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """A request with conflicting paths or an unknown operation is refused, and the branch stays."""
    repository_folder = folder_of(clients, ship)
    before = git_in(repository_folder, "rev-parse", "main")

    def change(*files: dict[str, str]) -> httpx.Response:
        return ada.post(SHIP, json={"files": list(files)})

    new = {"operation": "create", "path": "x", "content": ""}
    assert_refused(change(new, new), 422, "repository file already exists [path: x]")
    below = {"operation": "create", "path": "x/y", "content": ""}
    text = "exists where you’re trying to create a"  # noqa: RUF001  # as Gitea writes it
    assert_refused(change(new, below), 422, f"a file {text} subdirectory [path: x]")
    assert_refused(change(below, new), 422, f"a directory {text} file [path: x]")
    old = {"path": "run.sh", "sha": object_at(repository_folder, "run.sh")}
    gone = {"operation": "delete", **old}
    assert_refused(change(gone, {**new, "path": "run.sh"}), 422, "repository file already exists [path: run.sh]")
    assert_refused(change(gone, gone), 422, "path is changed more than once in one request [path: run.sh]")
    twice = {"operation": "update", "content": "", **old}
    assert_refused(change(twice, twice), 422, "path is changed more than once in one request [path: run.sh]")
    assert_refused(
        change({**new, "operation": "chmod"}),
        422,
        "invalid file operation: chmod, must be one of create, update, upload, rename, delete",
    )
    assert_refused(change(), 422, "[Files]: Required")
    assert_refused(change({"operation": "create"}), 422, "[Path]: Required")
    assert_refused(change({"path": "x"}), 422, "[Operation]: Required")
    assert_refused(change({**new, "path": "x" * 501}), 422, "[Path]: MaxSize")
    assert git_in(repository_folder, "rev-parse", "main") == before


@pytest.mark.parametrize(
    "path",
    [
        *(
            "..",
            ".",
            "a/../..",
            ".git",
            ".GIT/config",
            "a/.git/b",
            "git~1",
            "GIT~1/x",
            ".git.",
            ".git ",
            ".git::$DATA",
        ),
        *(".g\u200cit", ".git/", "a\\.git", "nul\0name", "x" * 5000),
    ],
)
def test_paths_git_refuses_are_refused(
    clients: ServiceClients, ada: httpx.Client, ship: Repository, path: str
) -> None:
    """A path that git refuses is an error in the body and in the URL."""
    del clients, ship
    entry = {"operation": "create", "path": path, "content": ""}
    response = ada.post(SHIP, json={"files": [entry]})
    wanted = f"path contains a malformed path component [path: {path}]"
    nul = "[Files]: the character NUL is not allowed"
    assert_refused(response, 422, nul if "\0" in path else "[Path]: MaxSize" if len(path) > 500 else wanted)
    if path not in {".", ".."}:
        response = ada.post(f"{SHIP}/{quote(path, safe='')}", json={"content": ""})
        assert response.status_code == 422
        assert response.json()["message"].startswith("path contains a malformed path component [path: ")


def test_a_name_that_is_not_utf8_can_be_changed_and_deleted(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """A file whose name is not UTF-8 can be read, changed and deleted, but not created."""
    repository_folder = folder_of(clients, ship)
    blob = git_in(repository_folder, "rev-parse", "main:README.md").strip()
    entry = f"100644 blob {blob}\t".encode() + b"caf\xe9"
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    tree = git_in(repository_folder, "mktree", given=entry + b"\n").strip()
    commit = git_in(repository_folder, *who, "commit-tree", "-m", "odd", tree, "-p", "main").strip()
    repository_folder.set_branch("odd", commit)

    listed = ada.get(f"{SHIP}?ref=odd").json()
    assert [item["path"] for item in listed] == ["caf\ufffd"]
    assert ada.get(listed[0]["url"]).json()["content"] == encoded("# ship\n")
    assert ada.get("/repos/ada/ship/raw/odd/caf%E9").content == b"# ship\n"
    assert ada.get("/repos/ada/ship/media/odd/caf%E9").content == b"# ship\n"
    gone = ada.get(f"{SHIP}/caf%FF?ref=odd")
    assert_refused(gone, 404, "object does not exist [id: , rel_path: caf\ufffd]")

    malformed = "path contains a malformed path component [path: new\ufffd]"
    assert_refused(ada.post(f"{SHIP}/new%FF", json={"branch": "odd", "content": ""}), 422, malformed)
    assert_refused(ada.put(f"{SHIP}/new%FF", json={"branch": "odd", "content": ""}), 422, malformed)
    assert_refused(ada.put("/repos/ada/ship/raw/new%FF?branch=odd", content=b""), 422, malformed)
    body = {"branch": "odd", "content": encoded("other"), "sha": blob}
    changed = ada.put(f"{SHIP}/caf%E9", json=body)
    assert changed.status_code == 200, changed.text
    assert (changed.json()["content"]["path"], changed.json()["commit"]["message"]) == (
        "caf\ufffd",
        "Update caf\ufffd\n",
    )
    assert git_in(repository_folder, "show", "odd:caf\udce9") == "other"
    sent = {"branch": "odd", "sha": changed.json()["content"]["sha"]}
    assert ada.request("DELETE", f"{SHIP}/caf%E9", json=sent).status_code == 200
    assert git_in(repository_folder, "ls-tree", "odd") == ""


def test_a_path_is_cleaned_first(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """Repeated slashes and dot segments are resolved, and never lead above the root."""
    entry = {"operation": "create", "path": "/a//./b/../../../c/", "content": encoded("c")}
    response = ada.post(SHIP, json={"files": [entry]})
    assert response.json()["files"][0]["path"] == "c"
    assert git_in(folder_of(clients, ship), "show", "main:c") == "c"


@pytest.mark.parametrize(
    ("text", "byte"),
    [
        ("a", 0),
        ("YQ=", 3),
        ("YQ", 0),
        ("YWJj!", 4),
        ("Y Q==", 1),
        ("YQ==x", 4),
        ("====", 0),
        ("YWJj\nYQ", 5),
        ("YQ=x", 2),
    ],
)
def test_base64_is_strict(
    clients: ServiceClients, ada: httpx.Client, ship: Repository, text: str, byte: int
) -> None:
    """Missing padding and invalid characters are refused with the position of the first invalid byte."""
    del clients, ship
    response = ada.post(f"{SHIP}/b", json={"content": text})
    assert_refused(response, 422, f"illegal base64 data at input byte {byte}")


def test_base64_may_come_in_lines(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """Line ends in base64 are ignored."""
    response = ada.post(f"{SHIP}/b", json={"content": "YW\r\nJj\nZA==\n"})
    assert response.status_code == 201
    assert git_in(folder_of(clients, ship), "show", "main:b") == "abcd"


def test_writing_contents_requires_write_access(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """Anonymous clients get 401, readers 403, writers and administrators succeed, and archives give 423."""
    bob, eve = clients.account("bob"), clients.account("eve")
    let_in(clients.database, ship, bob, WRITE)
    let_in(clients.database, ship, eve, READ)
    body = {"content": ""}
    assert_refused(clients.anonymous.post(f"{SHIP}/x", json=body), 401, "token is required")
    response = clients.with_token(eve).post(f"{SHIP}/x", json={"content": "!"})
    assert_refused(response, 403, "user should have a permission to write to the target branch")
    assert clients.with_token(bob).post(f"{SHIP}/bob", json=body).status_code == 201
    assert clients.admin.post(f"{SHIP}/admin", json=body).status_code == 201
    reader = clients.with_token(bob, "read:repository").post(f"{SHIP}/x", json=body)
    assert reader.status_code == 403
    assert "required=[write:repository]" in reader.json()["message"]
    assert ada.patch("/repos/ada/ship", json={"archived": True}).status_code == 200
    assert_refused(clients.anonymous.post(f"{SHIP}/x", json=body), 423, "repo is not allowed to edit")
    assert_refused(ada.post("/repos/ada/nothing/contents/x", json=body), 404, "not found")


def test_a_protected_branch_accepts_only_permitted_writers(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """Only users who may push may commit; nobody changes protected files, every writer unprotected ones."""
    bob = clients.account("bob")
    let_in(clients.database, ship, bob, WRITE)
    rule = {
        "rule_name": "main",
        "enable_push": True,
        "enable_push_whitelist": True,
        "push_whitelist_usernames": ["ada"],
        "protected_file_patterns": "secret/*",
        "unprotected_file_patterns": "docs/*",
    }
    assert ada.post("/repos/ada/ship/branch_protections", json=rule).status_code == 201
    client = clients.with_token(bob)
    assert_refused(client.post(f"{SHIP}/x", json={"content": ""}), 403, "user cannot commit to repo [user: bob]")
    assert client.post(f"{SHIP}/docs/x", json={"content": ""}).status_code == 201
    text = "path is protected and can not be changed [path: secret/x]"
    assert_refused(ada.post(f"{SHIP}/secret/x", json={"content": ""}), 403, text)
    assert ada.post(f"{SHIP}/x", json={"content": ""}).status_code == 201
    both = {"content": "", "branch": "main", "new_branch": "side"}
    assert client.post(f"{SHIP}/y", json=both).status_code == 201
    text = "Not allowed to push to protected branch main"
    onto = {"content": "", "branch": "side", "new_branch": "main", "force_push": True}
    response = client.post(f"{SHIP}/z", json=onto)
    assert response.status_code == 403


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"branch": "-b"}, None),
        ({"branch": "a..b"}, "[BranchName]: GitRefName"),
        ({"new_branch": "x" * 101}, "[NewBranchName]: MaxSize"),
        ({"new_branch": "--upload-pack=x"}, "invalid branch name [name: --upload-pack=x]"),
        ({"new_branch": "HEAD"}, "invalid branch name [name: HEAD]"),
        ({"message": 7}, None),
        ({"author": {"name": "x" * 101}}, None),
        ({"dates": {"author": "yesterday"}}, None),
        ({"content": 5}, None),
        ({"message": "a\0b"}, "[Message]: the character NUL is not allowed"),
        ({"expected_head": "0" * 40}, None),
    ],
)
def test_invalid_options_are_named(
    clients: ServiceClients, ada: httpx.Client, ship: Repository, body: dict[str, Any], message: str | None
) -> None:
    """Each invalid option is a client error, and never a server error."""
    del clients, ship
    response = ada.post(f"{SHIP}/x", json={"content": "", **body})
    assert response.status_code in {404, 409, 422}
    if message is not None:
        assert_refused(response, 422, message)


def test_the_same_content_again_is_a_commit_of_its_own(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """A commit is created although the tree is the same, and the file keeps its last commit."""
    repository_folder = folder_of(clients, ship)
    before = git_in(repository_folder, "rev-parse", "main").strip()
    body = {"content": encoded("# ship\n"), "sha": object_at(repository_folder, "README.md")}
    response = ada.put(f"{SHIP}/README.md", json=body)
    assert response.status_code == 200
    assert response.json()["commit"]["sha"] != before
    assert response.json()["content"]["last_commit_sha"] == before
    # Whether or not the local copy has the commits before it.
    for path in ("x", "y"):
        assert ada.post(f"{SHIP}/{path}", json={"content": encoded(path)}).status_code == 201
    for dry_run in (True, False):
        response = ada.put(f"{SHIP}/README.md", json={**body, "dry_run": dry_run})
        assert (response.status_code, response.json()["content"]["last_commit_sha"]) == (200, before)


def test_a_dry_run_changes_nothing(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """A dry run returns the commit and errors of a real one, and stores no refs, objects and events."""
    repository_folder = folder_of(clients, ship)
    before = git_in(repository_folder, "for-each-ref")
    objects = git_in(repository_folder, "count-objects", "-v")
    events = recorded_events(clients.database)
    body = {"content": encoded("x"), "dry_run": True}
    response = ada.post(f"{SHIP}/d/x", json=body)
    assert response.status_code == 201
    assert response.json()["content"]["path"] == "d/x"
    assert git_in(repository_folder, "for-each-ref") == before
    assert recorded_events(clients.database) == events
    assert_refused(
        ada.post(f"{SHIP}/README.md", json=body), 422, "repository file already exists [path: README.md]"
    )
    large = ada.put("/repos/ada/ship/raw/large?dry_run=true", content=b"x" * 200_000)
    link = ada.post(f"{SHIP}/link", json={**body, "mode": "120000", "new_branch": "other"})
    assert (large.json()["content"]["size"], link.json()["content"]["target"]) == (200_000, "x")
    assert git_in(repository_folder, "count-objects", "-v") == objects
    assert git_in(repository_folder, "for-each-ref") == before
    assert recorded_events(clients.database) == events
    real = ada.post(f"{SHIP}/d/x", json={"content": encoded("x")}).json()
    assert real["commit"]["tree"] == response.json()["commit"]["tree"]
    shape = response.json()["content"]
    again = {"last_commit_sha", "last_committer_date", "last_author_date"}
    assert {**real["content"], **{key: shape[key] for key in again}} == shape
    empty = make_files_repository(clients, None, "empty")
    assert ada.post("/repos/ada/empty/contents/x", json=body).status_code == 201
    assert git_in(folder_of(clients, empty), "for-each-ref") == ""


def test_a_dry_run_checks_the_rules_and_stores_no_large_file(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """A dry run is refused by branch protection, and returns a large file as its LFS pointer."""
    repository_folder = folder_of(clients, ship)
    attributes = {"content": encoded("*.bin filter=lfs\n")}
    assert ada.post(f"{SHIP}/.gitattributes", json=attributes).status_code == 201
    rule = {"rule_name": "kept/*", "enable_push": True, "protected_file_patterns": "src/hull.txt"}
    assert ada.post("/repos/ada/ship/branch_protections", json=rule).status_code == 201
    objects = git_in(repository_folder, "count-objects", "-v")

    def tried(path: str, **options: object) -> httpx.Response:
        return ada.post(f"{SHIP}/{path}", json={"content": encoded("large"), "dry_run": True, **options})

    pointer = tried("x.bin").json()["content"]
    assert (pointer["lfs_size"], pointer["encoding"]) == (5, "base64")
    assert tried("y.bin", new_branch="kept/a").status_code == 201
    body = {"operation": "delete", "path": "src/hull.txt", "sha": object_at(repository_folder, "src/hull.txt")}
    response = ada.post(SHIP, json={"files": [body], "new_branch": "kept/a", "dry_run": True})
    assert_refused(response, 403, "Branch kept/a is protected from changing file src/hull.txt")
    assert git_in(repository_folder, "count-objects", "-v") == objects
    assert not list((clients.service.settings.data / "lfs").rglob("*"))


def test_a_commit_requires_the_expected_head(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """A commit with an `expected_head` is refused with 409 if the branch has moved since then."""
    head = git_in(folder_of(clients, ship), "rev-parse", "main").strip()
    body = {"content": "", "expected_head": head}
    assert ada.post(f"{SHIP}/x", json=body).status_code == 201
    now = git_in(folder_of(clients, ship), "rev-parse", "main").strip()
    assert_refused(ada.post(f"{SHIP}/y", json=body), 409, f"the branch main is at {now}, not at {head}")


def test_an_idempotency_key_makes_one_commit(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """The same key and body return the same commit, another body is refused, and users have separate keys."""
    repository_folder = folder_of(clients, ship)
    body = {"content": encoded("x")}
    key = {"Idempotency-Key": "7f3a"}
    first = ada.post(f"{SHIP}/x", json=body, headers=key)
    assert first.status_code == 201
    again = ada.post(f"{SHIP}/x", json=body, headers=key)
    assert again.status_code == 201
    assert again.json() == first.json()
    assert git_in(repository_folder, "rev-list", "--count", "main").strip() == "2"
    other = ada.post(f"{SHIP}/y", json=body, headers=key)
    assert_refused(other, 422, "the Idempotency-Key was used for another request")
    assert clients.admin.post(f"{SHIP}/z", json=body, headers=key).status_code == 201
    long = ada.post(f"{SHIP}/l", json=body, headers={"Idempotency-Key": "k" * 256})
    assert_refused(long, 422, "[Idempotency-Key]: must be at most 255 printable characters")


def test_a_huge_body_is_refused_before_it_is_read(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """A Content-Length of 1 GiB is refused with 413 before any of the body is sent."""
    del ship
    token = ada.headers["Authorization"]
    with socket.create_connection(("127.0.0.1", urlsplit(clients.service.url).port), timeout=10) as connection:
        head = f"POST /api/v1{SHIP}/x HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n"
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: {2**30}\r\n\r\n".encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 413 ")


def test_a_name_may_have_line_breaks_in_it(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """A file name with a line break can be created, read, listed, renamed and deleted."""
    repository_folder = folder_of(clients, ship)
    name, escaped = "two\nlines\t.txt", "two%0Alines%09.txt"
    response = ada.post(f"{SHIP}/src/{escaped}", json={"content": encoded("one")})
    assert response.status_code == 201, response.text
    assert (response.json()["content"]["name"], response.json()["content"]["path"]) == (name, f"src/{name}")
    assert response.json()["commit"]["message"] == 'Add "src/two\\nlines\\t.txt"\n'
    assert f"src/{name}" in git_in(repository_folder, "ls-tree", "-rz", "--name-only", "main").split("\0")
    result = ada.get(f"{SHIP}/src/{escaped}").json()
    assert (result["path"], base64.b64decode(result["content"])) == (f"src/{name}", b"one")
    assert name in [entry["name"] for entry in ada.get(f"{SHIP}/src").json()]
    assert f"src/{name}" in [
        item["path"] for item in ada.get("/repos/ada/ship/git/trees/main?recursive=1").json()["tree"]
    ]
    raw = ada.get(f"/repos/ada/ship/raw/main/src/{escaped}")
    assert (raw.content, "\n" in raw.headers["content-disposition"]) == (b"one", False)
    for address in (result["url"], result["download_url"], result["html_url"]):
        assert ada.get(address).status_code == 200
    for page in ("blame", "commits"):
        assert ada.get(result["html_url"].replace("/src/branch/", f"/{page}/branch/")).status_code == 200
    assert ada.get("/repos/ada/ship/commits", params={"path": f"src/{name}"}).headers["x-total-count"] == "1"
    asked = ada.get("/repos/ada/ship/file-contents", params={"body": json.dumps({"files": [f"src/{name}"]})})
    assert asked.json()[0]["path"] == f"src/{name}"
    body = {"content": encoded("two"), "sha": result["sha"], "from_path": f"src/{name}"}
    moved = ada.put(f"{SHIP}/src/three%0Alines", json=body)
    assert moved.status_code == 200, moved.text
    gone = ada.request("DELETE", f"{SHIP}/src/three%0Alines", json={"sha": moved.json()["content"]["sha"]})
    assert gone.status_code == 200
    assert "\n" not in git_in(repository_folder, "ls-tree", "-rz", "--name-only", "main")
