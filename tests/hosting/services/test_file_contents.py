"""Contents of written files: blobs, LFS objects, and the attributes that decide between them."""

import asyncio
import hashlib
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import FileRefused, FileTooLarge
from holdfast.hosting.git.line_positions import file_at
from holdfast.hosting.git.packs import object_id
from holdfast.hosting.git.tree_writer import Draft
from holdfast.hosting.lfs.pointer import MOST_BYTES, LfsPointer
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import CommitRequest, CommitResult, commit_all, commit_files
from holdfast.hosting.services.file_contents import FileContent, inflated, is_large
from holdfast.hosting.storage.batch_queue import QueuedRequest
from holdfast.hosting.store import lfs
from holdfast.hosting.store.repositories import Repository
from tests.hosting.repository_helpers import make_repository
from tests.hosting.services.commit_helpers import commit_request, file_change
from tests.hosting.services.scenario import Scenario, make_scenario

SQLITE = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)

CONTENT = b"0123456789" * 250_000
LFS = b"*.bin filter=lfs\n"


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and a repository, and allow files of one mebibyte."""
    return make_scenario(replace(app, settings=msgspec.structs.replace(app.settings, max_file_mb=1)))


@pytest.fixture(params=["bytes", "file"])
def content(request: pytest.FixtureRequest, tmp_path: Path) -> FileContent:
    """Return a content of several chunks in memory, or in a file."""
    if request.param == "bytes":
        return FileContent(CONTENT)
    path = tmp_path / "content"
    path.write_bytes(CONTENT)
    return FileContent(path)


def stored(app: App, oid: str) -> bytes:
    """Return the content of an LFS object."""

    async def read() -> bytes:
        return b"".join([chunk async for chunk in app.lfs.read(oid)])

    return asyncio.run(read())


def committed(scenario: Scenario, *changes: FileChange) -> tuple[Draft, str]:
    """Commit files, and return a draft on top of the local copy that has the commit, and its id."""
    commit = commit_files(scenario.app, commit_request(scenario.app, scenario.repository, *changes)).commit.id
    return Draft(scenario.app.copies.update(scenario.repository.id)), commit


def of_lfs(draft: Draft, commit: str, path: str) -> bool:
    """Return whether the attributes of a commit store a file in LFS."""
    return is_large(draft, commit, draft.root(commit), path)


@SQLITE
def test_a_content_in_a_file_is_the_same_as_in_memory(content: FileContent, scenario: Scenario) -> None:
    """Its blob has the id that git gives it, and its LFS object the SHA-256 digest."""
    app = scenario.app
    expected = LfsPointer(hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))
    assert content.size == len(CONTENT)
    assert content.blob_id == object_id("blob", CONTENT)
    repo = app.copies.open(scenario.repository)
    assert content.add_to_copy(repo) == content.blob_id
    assert repo.read(content.blob_id, "blob") == content.whole() == CONTENT
    assert content.beginning(3) == b"012"
    assert not content.is_pointer()
    assert content.described() == expected
    assert content.pointer(app) == content.pointer(app) == expected
    assert stored(app, expected.oid) == CONTENT


def test_only_contents_in_memory_of_up_to_64_kib_are_small(tmp_path: Path) -> None:
    """Others are packed before the batch in which they are written."""
    (tmp_path / "content").write_bytes(b"1")
    largest = bytes(64 * 1024)
    assert FileContent(largest).small == largest
    assert FileContent(largest + b"1").small is None
    assert FileContent(tmp_path / "content").small is None


def test_a_pointer_is_recognized_up_to_its_largest_size(tmp_path: Path) -> None:
    """A longer file that begins like one is a file like others."""
    pointer = LfsPointer("0" * 64, 1).format().ljust(MOST_BYTES, b"\n")
    path = tmp_path / "content"
    for content, expected in ((pointer, True), (pointer + b"\n", False), (b"oak", False)):
        path.write_bytes(content)
        assert FileContent(content).is_pointer() is FileContent(path).is_pointer() is expected


@SQLITE
def test_the_attributes_of_all_directories_above_a_file_count(scenario: Scenario) -> None:
    """The nearest decides, and a branch without commits has none."""
    draft, before = committed(scenario, file_change("a.bin", b"1"))
    assert of_lfs(draft, before, "a.bin") is False
    assert is_large(draft, None, draft.root(before), "a.bin") is False
    draft, commit = committed(
        scenario,
        file_change(".gitattributes", LFS),
        file_change("d/.gitattributes", b"*.dat filter=lfs\na.bin filter=none\n"),
    )
    large = {path for path in ("a.bin", "a.dat", "d/a.bin", "d/b.bin", "d/e/c.dat") if of_lfs(draft, commit, path)}
    assert large == {"a.bin", "d/b.bin", "d/e/c.dat"}


@SQLITE
def test_attributes_that_take_too_long_to_match_are_refused(scenario: Scenario) -> None:
    """The file of attributes itself may still be written, or they would stay forever."""
    draft, commit = committed(scenario, file_change("d/.gitattributes", b"*a" * 60 + b" filter=lfs\n"))
    with pytest.raises(FileRefused, match=r"d/x\.bin"):
        of_lfs(draft, commit, "d/x.bin")
    assert of_lfs(draft, commit, "d/.gitattributes") is False
    assert of_lfs(draft, commit, "x.bin") is False


@SQLITE
def test_attributes_that_cannot_be_read_have_no_effect(scenario: Scenario) -> None:
    """The file is written as a blob then, as git would without them."""
    draft, commit = committed(scenario, file_change(".gitattributes", LFS))
    root = draft.root(commit).put(b".gitattributes", 0o100644, b"7" * 20)
    assert is_large(draft, commit, root, "a.bin") is False
    assert is_large(draft, "7" * 40, draft.root(commit), "a.bin") is False


@SQLITE
def test_attributes_that_were_committed_in_the_same_batch_count(scenario: Scenario) -> None:
    """Their commit is not in the local copy yet."""
    app = scenario.app
    requests = [
        commit_request(app, scenario.repository, change)
        for change in (file_change(".gitattributes", LFS), file_change("a.bin", b"large"))
    ]
    jobs = [QueuedRequest[CommitRequest, CommitResult](request) for request in requests]
    commit_all(app, jobs)
    assert jobs[1].result is not None
    repo = app.copies.update(scenario.repository.id)
    file = file_at(repo, jobs[1].result.commit.id, "a.bin")
    assert file is not None
    assert file.content is not None
    assert LfsPointer.parse(file.content) is not None


def upload(scenario: Scenario, size: int) -> LfsPointer:
    """Store an LFS object of the repository."""
    pointer = FileContent(bytes(size)).pointer(scenario.app)
    lfs.link(scenario.app.database, scenario.repository, pointer.oid, size)
    return pointer


def inflate(scenario: Scenario, blob: bytes, repository: Repository | None = None) -> bytes | None:
    """Return the content of the object that a blob points to."""
    repo = scenario.app.copies.open(scenario.repository)
    content = inflated(scenario.app, repository or scenario.repository, repo, repo.write("blob", blob))
    return None if content is None else content.whole()


@SQLITE
def test_a_pointer_is_replaced_by_the_object_of_its_repository(scenario: Scenario) -> None:
    """An object of another repository is not there, nor is one that was removed, nor that of another blob."""
    pointer = upload(scenario, 3)
    assert inflate(scenario, pointer.format()) == bytes(3)
    assert inflate(scenario, pointer.format().ljust(MOST_BYTES, b"\n")) == bytes(3)
    assert inflate(scenario, pointer.format().ljust(MOST_BYTES + 1, b"\n")) is None
    assert inflate(scenario, b"oak\n") is None
    other = make_repository(scenario.app.database, scenario.owner, "other")
    assert inflate(scenario, pointer.format(), other) is None
    asyncio.run(scenario.app.lfs.delete(pointer.oid))
    assert inflate(scenario, pointer.format()) is None
    repo = scenario.app.copies.open(scenario.repository)
    assert inflated(scenario.app, scenario.repository, repo, "7" * 40) is None


@SQLITE
def test_an_object_that_is_larger_than_a_file_may_be_is_refused(scenario: Scenario) -> None:
    """Its stored size counts, whatever the pointer says, since the whole object would be read into memory."""
    most, more = upload(scenario, 2**20), upload(scenario, 2**20 + 1)
    assert inflate(scenario, most.format()) == bytes(2**20)
    assert inflate(scenario, replace(most, size=2**40).format()) == bytes(2**20)
    for pointer in (more, replace(more, size=1)):
        with pytest.raises(FileTooLarge, match=f"1 MiB, not {2**20 + 1} bytes"):
            inflate(scenario, pointer.format())
