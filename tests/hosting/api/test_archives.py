"""Archives of repositories as zip, tar.gz and git bundle."""

import io
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from holdfast.hosting.file_responses import archives
from holdfast.hosting.file_responses.byte_cache import KeptBytes
from holdfast.hosting.git.program import run
from tests.hosting.api.file_helpers import make_files
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git

AT = "/repos/ada/Notes/archive"


@pytest.fixture
def git(clients: ServiceClients, tmp_path: Path) -> Git:
    """Push the repository that the tests read."""
    return make_files(clients, tmp_path)


def zipped(content: bytes) -> dict[str, bytes]:
    """Read the files of a zip."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def tarred(content: bytes) -> dict[str, bytes]:
    """Read the plain files of a compressed tar."""
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        return {item.name: archive.extractfile(item).read() for item in archive if item.isfile()}  # type: ignore[union-attr]  # a file has content


def test_an_archive_is_found_by_every_name_of_its_commit(clients: ServiceClients, git: Git) -> None:
    """The ref is a branch with or without slashes, a tag, or a whole or shortened commit id."""
    old, new = git("rev-parse", "v1.0"), git("rev-parse", "main")
    for ref, commit in (
        ("main", new),
        ("feature/x", old),
        ("v1.0", old),
        ("v2.0", new),
        (old, old),
        (old[:9], old),
    ):
        response = clients.anonymous.get(f"{AT}/{ref}.zip")
        assert response.status_code == 200
        content = zipped(response.content)["notes/dir/sub/file.txt"]
        assert content == (b"deep\n" if commit == old else b"deeper\n")
        assert response.headers["link"] == (
            f'<{clients.service.url}/api/v1{AT}/{commit}.zip?rev={commit}>; rel="immutable"'
        )
        name = f"Notes-{ref.replace('/', '-')}.zip"
        assert response.headers["content-disposition"] == f"attachment; filename={name}"
        assert response.headers["content-type"] == "application/octet-stream"
        assert response.headers["x-content-type-options"] == "nosniff"


def test_both_formats_hold_the_same_files(clients: ServiceClients, git: Git) -> None:
    """Files are in a folder with the repository's name in lower case, and LFS pointers are not replaced."""
    as_zip, as_tar = (clients.anonymous.get(f"{AT}/main.{kind}").content for kind in ("zip", "tar.gz"))
    files = tarred(as_tar)
    names = [line.partition("\t") for line in git("ls-tree", "-rz", "main").split("\0") if line]
    expected = {f"notes/{path}": entry for entry, _, path in names}
    plain = {name for name, entry in expected.items() if entry.startswith("100")}
    assert set(files) == plain
    assert {name: content for name, content in zipped(as_zip).items() if name in plain} == files
    assert files["notes/large.bin"].startswith(b"version https://git-lfs")


def test_an_archive_can_be_limited_to_paths(clients: ServiceClients, git: Git) -> None:
    """The parameter `path` can be repeated, and names existing paths; patterns and unknown paths are refused."""
    response = clients.anonymous.get(f"{AT}/main.tar.gz", params={"path": ["dir/sub", "./run/"]})
    assert set(tarred(response.content)) == {"notes/dir/sub/file.txt", "notes/run"}
    address = response.headers["link"].partition("<")[2].partition(">")[0]
    assert clients.anonymous.get(address).content == response.content
    for path in ("nothing", "*", ":(glob)**", "..", ".git", "run/x", "-x"):
        response = clients.anonymous.get(f"{AT}/main.zip", params={"path": ["run", path]})
        assert (response.status_code, response.json()["message"]) == (400, "path doesn't exist or is invalid")


def test_a_bundle_can_be_cloned(clients: ServiceClients, git: Git, tmp_path: Path) -> None:
    """Git clones a bundle of a branch, a tag or a commit; a bundle cannot be limited to paths."""
    for ref in ("main", "feature/x", "v2.0", git("rev-parse", "v1.0")):
        response = clients.anonymous.get(f"{AT}/{ref}.bundle")
        assert response.status_code == 200
        file, clone = tmp_path / "a.bundle", tmp_path / ref.replace("/", "-")
        file.write_bytes(response.content)
        subprocess.run(["git", "clone", "-q", str(file), str(clone)], check=True, capture_output=True)
        completed = subprocess.run(["git", "-C", str(clone), "rev-parse", "HEAD"], check=True, capture_output=True)
        assert completed.stdout.decode().strip() == git("rev-parse", f"{ref}^{{commit}}")
    response = clients.anonymous.get(f"{AT}/main.bundle", params={"path": "run"})
    assert response.status_code == 400
    assert response.json()["message"] == "cannot specify paths when requesting a bundle"


def test_an_unknown_format_is_refused(clients: ServiceClients, git: Git) -> None:
    """An archive of an unknown format is refused with 400, whether or not the ref exists."""
    for name in ("main.rar", "main", "main.tar", ".zip", "nowhere.7z"):
        response = clients.anonymous.get(f"{AT}/{name}")
        assert (response.status_code, response.json()["message"]) == (400, f"unknown format: {name}")


def test_an_unknown_ref_is_not_found(clients: ServiceClients, git: Git) -> None:
    """A ref that looks like an option, a range or a path is not found either."""
    for ref in ("nowhere", "f" * 40, "--output=x", "-o", "main:dir", "a..b", ":/first", "x" * 3000):
        for kind in ("zip", "tar.gz", "bundle"):
            response = clients.anonymous.get(f"{AT}/{ref}.{kind}")
            assert response.status_code == 404, ref
            assert response.json()["message"] == f"unrecognized repository reference: {ref}"


def test_an_empty_repository_has_no_archive(clients: ServiceClients) -> None:
    """An archive of an empty repository is not found, because its default branch does not exist."""
    clients.account("ada")
    clients.anonymous.post("/user/repos", json={"name": "Notes"}, auth=("ada", PASSWORD))
    response = clients.anonymous.get(f"{AT}/main.zip")
    assert (response.status_code, response.json()["message"]) == (404, "unrecognized repository reference: main")


def test_head_tells_whether_an_archive_exists(clients: ServiceClients, git: Git) -> None:
    """HEAD returns the headers of an archive, 404 for an unknown ref and 400 for an unknown format."""
    head = clients.anonymous.head(f"{AT}/main.zip")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-disposition"] == "attachment; filename=Notes-main.zip"
    assert 'rel="immutable"' in head.headers["link"]
    assert clients.anonymous.head(f"{AT}/nowhere.zip").status_code == 404
    assert clients.anonymous.head(f"{AT}/main.rar").status_code == 400


def test_the_other_addresses_say_the_format_first(clients: ServiceClients, git: Git) -> None:
    """The endpoints `tarball`, `zipball` and `bundle` take a ref, which may have slashes."""
    root = "/repos/ada/Notes"
    assert "notes/README.md" in tarred(clients.anonymous.get(f"{root}/tarball/feature/x").content)
    assert "notes/README.md" in zipped(clients.anonymous.get(f"{root}/zipball/v1.0").content)
    assert clients.anonymous.get(f"{root}/bundle/main").content.startswith(b"# v2 git bundle\n")
    assert clients.anonymous.get(f"{root}/zipball/nowhere").status_code == 404


def test_an_archive_is_for_those_who_may_read(clients: ServiceClients, tmp_path: Path) -> None:
    """Users without read access to a private repository get 404 for its archives."""
    make_files(clients, tmp_path, private=True)
    assert clients.anonymous.get(f"{AT}/main.zip").status_code == 404
    assert clients.user("stranger").get(f"{AT}/main.zip").status_code == 404
    assert clients.admin.get(f"{AT}/main.zip").status_code == 200


def test_an_archive_is_made_once(clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later requests get the cached bytes, a range of them, or 304 if the entity tag matches."""
    monkeypatch.setattr(archives, "kept", KeptBytes(2**20))
    for kind in ("zip", "tar.gz"):
        first = clients.anonymous.get(f"{AT}/main.{kind}")
        etag = first.headers["etag"]
        assert "content-length" not in first.headers
        again = clients.anonymous.get(f"{AT}/v2.0.{kind}")
        assert (again.content, again.headers["etag"]) == (first.content, etag)
        assert again.headers["content-length"] == str(len(first.content))
        assert again.headers["content-disposition"] == f"attachment; filename=Notes-v2.0.{kind}"
        assert again.headers["link"] == first.headers["link"]
        part = clients.anonymous.get(f"{AT}/main.{kind}", headers={"Range": "bytes=10-19"})
        assert (part.status_code, part.content) == (206, first.content[10:20])
        assert part.headers["content-range"] == f"bytes 10-19/{len(first.content)}"
        late = clients.anonymous.get(f"{AT}/main.{kind}", headers={"Range": "bytes=9999999-"})
        assert late.status_code == 416
        # A branch moves on, so that nothing on the way may keep the answer.
        for response in (first, again, part):
            assert response.headers["cache-control"] == "max-age=0, private, must-revalidate"
        known_response = clients.anonymous.get(f"{AT}/main.{kind}", headers={"If-None-Match": etag})
        assert (known_response.status_code, known_response.content) == (304, b"")
        assert known_response.headers["cache-control"] == "max-age=0, private, must-revalidate"
        head = clients.anonymous.head(f"{AT}/main.{kind}")
        assert head.headers["content-length"] == str(len(first.content))
        other = clients.anonymous.get(f"{AT}/v1.0.{kind}", headers={"If-None-Match": etag})
        assert (other.status_code, other.headers["etag"] == etag) == (200, False)


def test_an_archive_larger_than_memory_is_read_from_its_file(
    clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive that is too large for the memory cache is served whole and by range."""
    monkeypatch.setattr(archives, "LARGEST_KEPT", 16)
    monkeypatch.setattr(archives, "kept", KeptBytes(16, 16))
    monkeypatch.setattr(archives, "CHUNK", 32)
    first, again = (clients.anonymous.get(f"{AT}/main.zip").content for _ in range(2))
    assert again == first
    part = clients.anonymous.get(f"{AT}/main.zip", headers={"Range": "bytes=20-99"})
    assert part.content == first[20:100]


def test_an_archive_that_names_branches_is_not_kept(clients: ServiceClients, git: Git) -> None:
    """An archive with `export-subst` names of refs is not cached, since refs change later."""
    for path, content in (("sub/.gitattributes", "version export-subst\n"), ("sub/version", "$Format:%D$\n")):
        file = git.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
    git("add", ".")
    git("commit", "-q", "-m", "version")
    git("push", "-q", "origin", "main")
    before = zipped(clients.anonymous.get(f"{AT}/main.zip").content)["notes/sub/version"]
    git("tag", "v9")
    git("push", "-q", "origin", "v9")
    after = clients.anonymous.get(f"{AT}/main.zip")
    assert b"v9" not in before
    assert b"v9" in zipped(after.content)["notes/sub/version"]
    assert "etag" not in after.headers


def test_an_archive_is_served_when_the_cache_cannot_be_written(
    clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive is served even if the cache folder cannot be created, because a file has its name."""
    monkeypatch.setattr(archives, "kept", KeptBytes(0))
    folder = clients.service.settings.data / "cache"
    folder.mkdir(exist_ok=True)
    (folder / "archives").write_bytes(b"")
    assert "notes/README.md" in zipped(clients.anonymous.get(f"{AT}/main.zip").content)


def test_archives_are_deleted_with_their_repository(
    clients: ServiceClients, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cached archives are deleted with their repository, also when it is deleted with its owner."""
    monkeypatch.setattr(archives, "kept", KeptBytes(0))
    folder, admin = clients.service.settings.data / "cache" / "archives", clients.admin
    bob = clients.user("bob")
    assert bob.post("/user/repos", json={"name": "logs", "auto_init": True}).status_code == 201
    for address in (f"{AT}/main.zip", "/repos/bob/logs/archive/main.zip"):
        assert clients.anonymous.get(address).status_code == 200
    assert len(list(folder.iterdir())) == 2
    assert admin.delete("/repos/ada/Notes").status_code == 204
    assert len(list(folder.iterdir())) == 1
    assert admin.delete("/admin/users/bob", params={"purge": "true"}).status_code == 204
    assert list(folder.iterdir()) == []


def test_an_archive_that_is_too_large_is_refused(clients: ServiceClients, git: Git) -> None:
    """Folders that contain each other have 30^8 files in a few kilobytes; git would take hours for them."""
    tree = git("rev-parse", "main:dir/sub")
    for _ in range(8):
        rows = "".join(f"040000 tree {tree}\t{number}\n" for number in range(30))
        tree = run(git.folder / ".git", "mktree", input=rows.encode()).decode().strip()
    git("update-ref", "refs/heads/huge", git("commit-tree", "-m", "huge", tree))
    git("push", "-q", "origin", "huge")
    message = (
        "an archive of this commit would have more than 500,000 files and directories; "
        "clone the repository instead"
    )
    for path in (
        "archive/huge.zip",
        "archive/huge.tar.gz",
        "zipball/huge",
        "tarball/huge",
        "archive/huge.zip?path=7",
    ):
        response = clients.anonymous.get(f"/repos/ada/Notes/{path}")
        assert (response.status_code, response.json()["message"]) == (422, message)
    assert clients.anonymous.head(f"{AT}/huge.zip").status_code == 422
    assert clients.anonymous.get(f"{AT}/huge.bundle").status_code == 200
    with clients.service.client() as client:
        page = client.get("/ada/Notes/archive/huge.zip")
        assert (page.status_code, "An archive of this commit would have more than 500,000 files" in page.text) == (
            422,
            True,
        )
        body = "".join(f"{len(line) + 4:04x}{line}" for line in ("argument --format=zip\n", "argument huge\n"))
        remote = client.post(
            "/ada/notes.git/git-upload-archive",
            content=f"{body}0000",
            headers={"Content-Type": "application/x-git-upload-archive-request"},
        )
        assert (remote.status_code, remote.text) == (422, f"{message}\n")
