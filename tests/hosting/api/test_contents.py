"""The contents endpoints for reading: files, directories, symbolic links and submodules."""

import base64
from itertools import product
from pathlib import Path

import pytest
from sqlalchemy import update

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.api.contents import directory_page, entry_at_path, view_at
from holdfast.hosting.app import App
from holdfast.hosting.http.context import NeedsThread
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.contents import ContentsOptions
from holdfast.hosting.store import repositories, tables
from tests.hosting.api.file_helpers import LARGE, OID, POINTER, commit_all, make_files, shape_of
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address
from tests.hosting.repository_helpers import READ, let_in

AT = "/repos/ada/Notes/contents"
EXTENDED = "/repos/ada/Notes/contents-ext"
KEYS = [
    *("name", "path", "sha", "last_commit_sha", "last_committer_date", "last_author_date", "type", "mode", "size"),
    *(
        "encoding",
        "content",
        "target",
        "url",
        "html_url",
        "git_url",
        "download_url",
        "submodule_git_url",
        "_links",
    ),
]


@pytest.fixture
def git(clients: ServiceClients, tmp_path: Path) -> Git:
    """Push the repository that the tests read."""
    return make_files(clients, tmp_path)


def test_a_file_comes_with_its_content_and_its_newest_commit(clients: ServiceClients, git: Git) -> None:
    """A file has every key in order, and its times keep their offsets."""
    result = clients.anonymous.get(f"{AT}/README.md").json()
    assert list(result) == KEYS
    assert result == shape_of(
        clients,
        git,
        "README.md",
        last_commit_sha=git("rev-parse", "v1.0"),
        last_committer_date="2024-05-06T07:08:09+02:00",
        last_author_date="2024-05-06T07:08:09+02:00",
        encoding="base64",
        content=base64.b64encode(b"# Notes\n").decode(),
    )


def test_a_commit_has_two_dates(clients: ServiceClients, git: Git) -> None:
    """A file has the author date and the committer date of its last commit."""
    result = clients.anonymous.get(f"{AT}/run").json()
    assert (result["last_author_date"], result["last_committer_date"]) == (
        "2025-01-02T03:04:05Z",
        "2025-01-02T03:04:06Z",
    )
    assert (result["type"], result["mode"]) == ("file", "100755")


def test_an_empty_file_has_empty_content(clients: ServiceClients, git: Git) -> None:
    """The content of an empty file is an empty text and not null."""
    result = clients.anonymous.get(f"{AT}/empty").json()
    assert (result["size"], result["encoding"], result["content"]) == (0, "base64", "")


def test_a_link_has_a_target_and_no_content(clients: ServiceClients, git: Git) -> None:
    """A symbolic link shows its target and is not followed."""
    result = clients.anonymous.get(f"{AT}/link").json()
    assert (result["type"], result["mode"]) == ("symlink", "120000")
    assert (result["target"], result["encoding"], result["content"]) == ("dir/sub", None, None)
    assert result["download_url"] == f"{clients.service.url}/ada/Notes/raw/branch/main/link"
    assert clients.anonymous.get(f"{AT}/link/file.txt").status_code == 404


def test_a_submodule_shows_its_url(clients: ServiceClients, git: Git) -> None:
    """A submodule has the URL of `.gitmodules`, and no links to a page or a blob."""
    result = clients.anonymous.get(f"{AT}/lib").json()
    assert (result["type"], result["mode"], result["size"], result["sha"]) == ("submodule", "160000", 0, "1" * 40)
    assert result["submodule_git_url"] == "https://example.org/lib.git"
    assert (result["html_url"], result["git_url"], result["download_url"]) == (None, None, None)
    assert result["_links"] == {"self": result["url"], "git": None, "html": None}


def test_a_pointer_to_a_large_file_says_so(clients: ServiceClients, git: Git) -> None:
    """An LFS pointer has the id and the size of its object, and the text of the pointer as content."""
    result = clients.anonymous.get(f"{AT}/large.bin").json()
    assert list(result) == [*KEYS, "lfs_oid", "lfs_size"]
    assert (result["lfs_oid"], result["lfs_size"]) == (OID, len(LARGE))
    assert base64.b64decode(result["content"]) == POINTER.encode()


def test_a_directory_is_a_list_in_gits_order(clients: ServiceClients, git: Git) -> None:
    """Each entry of a directory has its last commit and no content."""
    result = clients.anonymous.get(AT).json()
    assert clients.anonymous.get(f"{AT}/").json() == result
    names = git("ls-tree", "--name-only", "main").split("\n")
    assert [entry["name"] for entry in result] == names
    assert [list(entry) for entry in result] == [KEYS] * len(names)
    newest = [git("rev-list", "-1", "main", "--", name) for name in names]
    assert [entry["last_commit_sha"] for entry in result] == newest
    assert {entry["content"] for entry in result} == {None}
    directory = next(entry for entry in result if entry["name"] == "dir")
    assert (directory["type"], directory["mode"], directory["size"]) == ("dir", "40000", 0)
    assert directory["git_url"].endswith(f"/git/blobs/{git('rev-parse', 'main:dir')}")
    assert directory["html_url"] == f"{clients.service.url}/ada/Notes/src/branch/main/dir"
    assert directory["download_url"] is None
    link = next(entry for entry in result if entry["name"] == "link")
    assert link["target"] == "dir/sub"


def test_names_are_escaped_in_addresses(clients: ServiceClients, git: Git) -> None:
    """URLs keep the slashes of a path; an escaped slash in a request is a slash."""
    (result,) = (item for item in clients.anonymous.get(f"{AT}/dir").json() if item["type"] == "file")
    assert result["path"] == "dir/100% näme?.txt"
    assert result["url"] == (f"{clients.service.url}/api/v1{AT}/dir/100%25%20n%C3%A4me%3F.txt?ref=main")
    for path in ("/dir/100%25%20n%C3%A4me%3F.txt", "/dir%2F100%25%20n%C3%A4me%3F.txt"):
        assert clients.anonymous.get(AT + path).json()["sha"] == result["sha"]


def test_a_ref_is_a_branch_or_a_tag(clients: ServiceClients, git: Git) -> None:
    """A ref is a short or a full name; `html_url` names its kind, and `url` repeats the ref of the request."""
    for ref, shown in (
        ("main", "branch/main"),
        ("feature/x", "branch/feature/x"),
        ("v1.0", "tag/v1.0"),
        ("v2.0", "tag/v2.0"),
        ("refs/heads/main", "branch/main"),
        ("refs/tags/v1.0", "tag/v1.0"),
    ):
        result = clients.anonymous.get(f"{AT}/README.md", params={"ref": ref}).json()
        assert result["html_url"] == f"{clients.service.url}/ada/Notes/src/{shown}/README.md"
        assert result["url"].endswith(f"/contents/README.md?ref={ref.replace('/', '%2F')}")


def test_a_ref_is_a_whole_commit_id(clients: ServiceClients, git: Git) -> None:
    """A whole commit id is a ref, and a shortened one is not found."""
    commit = git("rev-parse", "v1.0")
    result = clients.anonymous.get(f"{AT}/dir/sub/file.txt", params={"ref": commit}).json()
    assert base64.b64decode(result["content"]) == b"deep\n"
    assert result["download_url"] == f"{clients.service.url}/ada/Notes/raw/commit/{commit}/dir/sub/file.txt"
    assert clients.anonymous.get(AT, params={"ref": commit[:10]}).status_code == 404


def test_a_tag_hides_a_branch_of_the_same_name(clients: ServiceClients, git: Git) -> None:
    """A short name means the tag if there are both; the full name still finds the branch."""
    git("push", "-q", "origin", "main:refs/heads/v1.0")
    result = clients.anonymous.get(f"{AT}/dir/sub/file.txt", params={"ref": "v1.0"}).json()
    assert base64.b64decode(result["content"]) == b"deep\n"
    full = clients.anonymous.get(f"{AT}/dir/sub/file.txt", params={"ref": "refs/heads/v1.0"}).json()
    assert base64.b64decode(full["content"]) == b"deeper\n"


def test_an_unknown_ref_is_not_found(clients: ServiceClients, git: Git) -> None:
    """The 404 of an unknown ref names the ref."""
    paths = (AT, f"{AT}/README.md", EXTENDED, "/repos/ada/Notes/file-contents")
    for ref, path in product(
        ["nowhere", "refs/pull/2/head", "refs/heads/no", "-x", "a..b", "f" * 40, "HEAD^"], paths
    ):
        response = clients.anonymous.get(path, params={"ref": ref, "body": '{"files": ["a"]}'})
        assert response.status_code == 404
        assert response.json()["message"] == f"object does not exist [id: {ref}, rel_path: ]"


def test_a_missing_path_is_not_found(clients: ServiceClients, git: Git) -> None:
    """The 404 of a missing path names the first part that is missing."""
    paths = [("nothing", "nothing"), ("dir/nothing", "dir/nothing"), ("no/such/thing", "no"), ("run/x", "run")]
    for root, (path, missing) in product((AT, EXTENDED), paths):
        response = clients.anonymous.get(f"{root}/{path}")
        assert response.status_code == 404
        assert response.json()["message"] == f"object does not exist [id: , rel_path: {missing}]"


def test_a_malformed_path_is_refused(clients: ServiceClients, git: Git) -> None:
    """Paths of dots only and paths with `.git` in any case are refused with 400."""
    for path in ("%2E", "%2E%2E", ".git", ".GIT/config", "dir/.Git/x"):
        response = clients.anonymous.get(f"{AT}/{path}")
        assert response.status_code == 400
        shown = path.replace("%2E", ".")
        assert response.json()["message"] == f"path contains a malformed path component [path: {shown}]"


def test_dot_segments_in_a_path_are_resolved(clients: ServiceClients, git: Git) -> None:
    """Dot segments and repeated slashes are resolved, and never lead above the root."""
    for path in (
        "dir/%2E%2E/README.md",
        "%2E%2E/%2E/README.md",
        "%2FREADME.md",
        "dir%2F%2Fsub%2F..%2F..%2FREADME.md/",
    ):
        result = clients.anonymous.get(f"{AT}/{path}").json()
        assert result["path"] == "README.md"


def test_a_nul_and_a_very_long_path_are_not_found(clients: ServiceClients, git: Git) -> None:
    """A path with a NUL character and a very long path give 404."""
    for path in ("a%00b", "x" * 5000, "a/" * 2500 + "b"):
        assert clients.anonymous.get(f"{AT}/{path}").status_code == 404


def test_an_empty_repository_has_no_contents(clients: ServiceClients) -> None:
    """Every path of an empty repository is not found, including its root."""
    clients.account("ada")
    clients.anonymous.post("/user/repos", json={"name": "Notes"}, auth=("ada", PASSWORD))
    for path in (AT, f"{AT}/a", EXTENDED):
        response = clients.anonymous.get(path)
        assert response.status_code == 404
        assert response.json()["message"] == "object does not exist [id: main, rel_path: ]"


def test_a_file_too_large_has_no_content(clients: ServiceClients, git: Git) -> None:
    """A file of up to 10 MiB has content; a larger one has only its size."""
    (git.folder / "fits").write_bytes(b"x" * 10 * 2**20)
    (git.folder / "too large").write_bytes(b"x" * (10 * 2**20 + 1))
    commit_all(git, "big")
    git("push", "-q", "origin", "main")
    fits, large = (clients.anonymous.get(f"{AT}/{name}").json() for name in ("fits", "too large"))
    assert (fits["encoding"], len(base64.b64decode(fits["content"]))) == ("base64", 10 * 2**20)
    assert (large["encoding"], large["content"], large["size"]) == (None, None, 10 * 2**20 + 1)


def test_extended_contents_include_only_the_requested_fields(clients: ServiceClients, git: Git) -> None:
    """Each value of `includes` adds its own fields; without it, the entry has the basic fields only."""
    plain = shape_of(clients, git, "large.bin")
    assert clients.anonymous.get(f"{EXTENDED}/large.bin").json() == {"file_contents": plain}
    lfs = {"lfs_oid": OID, "lfs_size": len(LARGE)}
    content = {"encoding": "base64", "content": base64.b64encode(POINTER.encode()).decode()}
    commit = {
        "last_commit_sha": git("rev-parse", "main"),
        "last_committer_date": "2025-01-02T03:04:06Z",
        "last_author_date": "2025-01-02T03:04:05Z",
    }
    message = {"last_commit_message": "second\n"}
    for includes, more in (
        ("file_content", content | lfs),
        ("lfs_metadata", lfs),
        ("commit_metadata", commit),
        ("commit_message", message),
        (",commit_metadata,,commit_message,file_content", commit | message | content | lfs),
    ):
        result = clients.anonymous.get(f"{EXTENDED}/large.bin", params={"includes": includes}).json()
        assert result == {"file_contents": plain | more}


def test_extended_contents_list_directories(clients: ServiceClients, git: Git) -> None:
    """The root has several spellings, and its entries have no content even if it is included."""
    for path in (EXTENDED, f"{EXTENDED}/", f"{EXTENDED}/%2E", f"{EXTENDED}/%2F"):
        result = clients.anonymous.get(path).json()
        assert list(result) == ["dir_contents"]
        assert [entry["name"] for entry in result["dir_contents"]] == git("ls-tree", "--name-only", "main").split(
            "\n"
        )
        assert not any(key.startswith(("last_", "lfs_")) for entry in result["dir_contents"] for key in entry)
    asked = {"includes": "file_content,lfs_metadata,commit_message"}
    entries = {
        entry["name"]: entry for entry in clients.anonymous.get(EXTENDED, params=asked).json()["dir_contents"]
    }
    assert entries["large.bin"]["lfs_oid"] == OID
    assert {entry["content"] for entry in entries.values()} == {None}
    assert entries["README.md"]["last_commit_message"] == "first\n"
    assert "last_commit_sha" not in entries["README.md"]
    only = clients.anonymous.get(EXTENDED, params={"includes": "file_content"}).json()["dir_contents"]
    assert not any("lfs_oid" in entry for entry in only)


def test_an_unknown_include_is_refused(clients: ServiceClients, git: Git) -> None:
    """The error names the unknown option, even if the ref and the path are unknown too."""
    for option in ("nonsense", " commit_metadata", "FILE_CONTENT"):
        response = clients.anonymous.get(
            f"{EXTENDED}/no", params={"includes": f"file_content,{option}", "ref": "no"}
        )
        assert response.status_code == 400
        assert response.json()["message"] == f'unknown include option "{option}"'


def test_an_empty_directory_is_an_empty_list(clients: ServiceClients, git: Git) -> None:
    """The root of a commit without files is an empty list, which the extended contents have under their key."""
    git("rm", "-rqf", "--cached", ".")
    git("commit", "-qm", "nothing is left")
    git("push", "-q", "origin", "HEAD:bare")
    assert clients.anonymous.get(AT, params={"ref": "bare"}).json() == []
    assert clients.anonymous.get(EXTENDED, params={"ref": "bare"}).json() == {"dir_contents": []}


def test_reading_contents_requires_read_access(clients: ServiceClients, tmp_path: Path) -> None:
    """Strangers get 404 for a private repository; readers get 403 if its code is disabled."""
    make_files(clients, tmp_path, private=True)
    guest = clients.account("guest")
    reader, stranger = clients.with_token(guest), clients.user("stranger")
    let_in(clients.database, repositories.find_repository(clients.database, "ada", "Notes"), guest, READ)
    for path in (AT, f"{AT}/README.md", EXTENDED, "/repos/ada/Notes/file-contents?body=%7B%7D"):
        assert clients.anonymous.get(path).status_code == 404
        assert stranger.get(path).status_code == 404
        assert reader.get(path).status_code == 200
    assert clients.with_token(guest, "read:issue").get(AT).status_code == 403
    with clients.database.write() as connection:
        connection.execute(update(tables.repositories).values(has_code=False))
    response = reader.get(AT)
    assert response.status_code == 403
    assert response.json()["message"].startswith("user should have specific read permission")


def test_a_directory_comes_in_pages_when_one_is_asked_for(clients: ServiceClients, git: Git) -> None:
    """Pages are in the order of git, and their header has the total of all entries."""
    whole = clients.anonymous.get(AT)
    assert whole.headers["x-total-count"] == str(len(whole.json()))
    assert "link" not in whole.headers
    for at, key in ((AT, ""), (EXTENDED, "dir_contents")):
        paths = []
        for number in (1, 2):
            first, response = (clients.anonymous.get(at, params={"limit": 3, "page": number}) for _ in range(2))
            # The second time it is the answer that was kept.
            assert (first.content, first.headers["link"]) == (response.content, response.headers["link"])
            assert response.headers["x-total-count"] == whole.headers["x-total-count"]
            assert 'rel="next"' in response.headers["link"]
            paths += [entry["path"] for entry in (response.json()[key] if key else response.json())]
        assert paths == [entry["path"] for entry in whole.json()][:6]
    assert "x-total-count" not in clients.anonymous.get(f"{AT}/README.md", params={"limit": 3}).headers


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_directory_with_very_many_files_is_not_listed_at_once(clients: ServiceClients, tmp_path: Path) -> None:
    """A list beyond the limit has the total of all entries and a link to the next page."""
    many_files(clients, tmp_path, 5100)
    response = clients.anonymous.get("/repos/ada/many/contents/all")
    assert (len(response.json()), response.headers["x-total-count"]) == (5000, "5100")
    assert "page=101" in response.headers["link"]
    rest = clients.anonymous.get("/repos/ada/many/contents/all", params={"page": 101, "limit": 50}).json()
    assert [entry["name"] for entry in rest][:2] == ["05000", "05001"]
    assert len(clients.anonymous.get("/repos/ada/many/contents-ext/all").json()["dir_contents"]) == 5000


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_large_directory_is_not_listed_on_the_event_loop(clients: ServiceClients, tmp_path: Path) -> None:
    """A large directory is listed in a thread even if it is cached, since it would delay other requests."""
    many_files(clients, tmp_path, 1000)
    repository = repositories.find_repository(clients.database, "ada", "many")
    host = App.open(clients.service.settings)
    request = RequestContext(host, {"type": "http", "query_string": b"", "headers": []})
    target = RepositoryAccess(repository, access.repository_access(request.actor, repository, ()))
    view = view_at(request, target, "")
    directory = entry_at_path(view, "all")
    directory_page(request, view, directory, ContentsOptions(commit_metadata=True), PageParams(1, 50))
    request.on_loop = True
    with pytest.raises(NeedsThread):
        directory_page(request, view, directory, ContentsOptions(commit_metadata=True), PageParams(1, 50))
    host.close()


def many_files(clients: ServiceClients, folder: Path, count: int) -> None:
    """Push a repository whose one directory holds very many files."""
    clients.user("ada").post("/user/repos", json={"name": "many"})
    git = Git(folder / "many")
    git("init", "-q", "-b", "main")
    blob = git.fed("hash-object", "-w", "--stdin", text="content")
    listing = "".join(f"100644 blob {blob}\t{number:05}\n" for number in range(count))
    tree = git.fed("mktree", text=f"040000 tree {git.fed('mktree', text=listing)}\tall\n")
    git(
        "push",
        "-q",
        address(clients.service.url, "ada", PASSWORD, "ada/many"),
        f"{git('commit-tree', tree, '-m', 'all')}:refs/heads/main",
    )
