"""Raw uploads of files: conditional requests, idempotency keys and large files."""

import resource
from collections.abc import Iterator

import httpx
import pytest

from holdfast.hosting.store.repositories import Repository
from tests.hosting.api.repository_folders import (
    assert_refused,
    folder_of,
    git_in,
    make_files_repository,
    object_at,
)
from tests.hosting.api_clients import ServiceClients

RAW = "/repos/ada/ship/raw"


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Return a client of Ada."""
    return clients.user("ada")


@pytest.fixture
def ship(clients: ServiceClients, ada: httpx.Client) -> Repository:
    """Give Ada a repository."""
    del ada
    return make_files_repository(clients, {"a.txt": b"one\n"})


def test_a_file_is_put_and_replaced(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """A new file gives 201 and a replaced one 200; branch, message and mode are query parameters."""
    first = ada.put(f"{RAW}/d/b.bin", content=b"\0\xff", params={"message": "Put it", "mode": "100755"})
    assert first.status_code == 201
    assert first.json()["commit"]["message"] == "Put it\n"
    assert first.json()["content"]["mode"] == "100755"
    again = ada.put(f"{RAW}/d/b.bin", content=b"", params={"branch": "main"})
    assert (again.status_code, again.json()["content"]["size"]) == (200, 0)
    assert again.json()["content"]["mode"] == "100755"
    assert git_in(folder_of(clients, ship), "fsck", "--strict") == ""


def test_conditional_uploads_compare_entity_tags(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """If-Match requires the given blob and If-None-Match no file; otherwise the upload gives 412."""
    repository_folder = folder_of(clients, ship)
    known = object_at(repository_folder, "a.txt")
    put = ada.put(f"{RAW}/a.txt", content=b"two\n", headers={"If-Match": f'"{known}"'})
    assert put.status_code == 200
    now = object_at(repository_folder, "a.txt")
    stale = ada.put(f"{RAW}/a.txt", content=b"three\n", headers={"If-Match": f'"{known}"'})
    assert_refused(stale, 412, f"sha does not match [given: {known}, expected: {now}]")
    gone = ada.put(f"{RAW}/b.txt", content=b"x", headers={"If-Match": f'"{known}"'})
    assert_refused(gone, 412, "object does not exist [id: , rel_path: b.txt]")
    there = ada.put(f"{RAW}/a.txt", content=b"x", headers={"If-None-Match": "*"})
    assert_refused(there, 412, "repository file already exists [path: a.txt]")
    assert object_at(repository_folder, "a.txt") == now
    assert git_in(repository_folder, "ls-tree", "--name-only", "main").split() == ["a.txt"]
    assert ada.put(f"{RAW}/b.txt", content=b"x", headers={"If-None-Match": "*"}).status_code == 201
    assert ada.put(f"{RAW}/.git/x", content=b"x").status_code == 422


def test_conditions_may_list_tags_or_name_any_file(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """One of several tags suffices, weak tags never match If-Match, and `*` matches any file."""
    repository_folder = folder_of(clients, ship)
    other = "1" * 40

    def put(path: str, *headers: tuple[str, str]) -> httpx.Response:
        return ada.put(f"{RAW}/{path}", content=path.encode() + b"\n", headers=list(headers))

    def failed(response: httpx.Response, message: str) -> None:
        assert (response.status_code, message in response.json()["message"]) == (412, True), response.text

    known = object_at(repository_folder, "a.txt")
    failed(put("a.txt", ("If-Match", f'W/"{known}"')), f"[given: none that can match, expected: {known}]")
    several = f'"{other}", W/"{known}", "x"'
    failed(put("a.txt", ("If-Match", several)), f"sha does not match [given: {other}, x, expected: {known}]")
    assert put("a.txt", ("If-Match", f'"{other}", "{known}"')).status_code == 200
    now = object_at(repository_folder, "a.txt")
    assert put("a.txt", ("If-Match", f'"{other}"'), ("If-Match", f'"{now}"')).status_code == 200
    assert put("a.txt", ("If-Match", "*")).status_code == 200
    failed(put("none.txt", ("If-Match", "*")), "object does not exist [id: , rel_path: none.txt]")
    assert put("d/e.txt", ("If-None-Match", "*")).status_code == 201
    failed(put("d", ("If-Match", "*")), "object does not exist [id: , rel_path: d]")
    assert put("d", ("If-None-Match", "*")).status_code == 422
    failed(put("a.txt", ("If-None-Match", f'"{other}", W/"{now}"')), "matches If-None-Match")
    assert put("a.txt", ("If-None-Match", f'"{other}"'), ("If-Match", f'"{now}"')).status_code == 200
    failed(put("a.txt", ("If-Match", "*"), ("If-None-Match", "*")), "repository file already exists [path: a.txt]")
    failed(put("none.txt", ("If-Match", "*"), ("If-None-Match", "*")), "object does not exist")


def test_no_condition_holds_by_chance_in_an_empty_repository(clients: ServiceClients, ada: httpx.Client) -> None:
    """If-Match always fails in an empty repository, and nothing is written."""
    empty = make_files_repository(clients, None, "empty")
    for value in ("*", f'"{"1" * 40}"'):
        put = ada.put("/repos/ada/empty/raw/a.txt", content=b"x", headers={"If-Match": value})
        assert_refused(put, 412, "object does not exist [id: , rel_path: a.txt]")
    assert git_in(folder_of(clients, empty), "for-each-ref") == ""
    first = ada.put("/repos/ada/empty/raw/a.txt", content=b"x", headers={"If-None-Match": "*"})
    assert first.status_code == 201


def test_invalid_conditions_are_refused(ada: httpx.Client, ship: Repository) -> None:
    """An invalid condition is an error and not ignored, since ignoring it could overwrite a file."""
    del ship
    unreadable = ["", ",", "x", "1" * 40, '"a" "b"', '"a', '"a", *', "**", 'w/"a"', 'W/ "a"', '"a b"']
    for header in ("If-Match", "If-None-Match"):
        for value in unreadable:
            put = ada.put(f"{RAW}/a.txt", content=b"x", headers={header: value})
            assert_refused(
                put, 400, f'[{header}]: must be * or a list of tags in quotes, such as "<ETag of the file>"'
            )
    assert ada.get(f"{RAW}/a.txt").content == b"one\n"


def test_uploading_requires_write_access(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """An anonymous client gets 401, and a reader gets 403."""
    del ship, ada
    assert_refused(clients.anonymous.put(f"{RAW}/x", content=b""), 401, "token is required")
    eve = clients.user("eve").put(f"{RAW}/x", content=b"")
    assert_refused(eve, 403, "user should have a permission to write to the target branch")


def test_an_idempotency_key_makes_one_commit(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """The same key and bytes return the same commit, and other bytes are refused."""
    key = {"Idempotency-Key": "k"}
    first = ada.put(f"{RAW}/x", content=b"x", headers=key)
    assert ada.put(f"{RAW}/x", content=b"x", headers=key).json() == first.json()
    other = ada.put(f"{RAW}/x", content=b"y", headers=key)
    assert_refused(other, 422, "the Idempotency-Key was used for another request")
    assert git_in(folder_of(clients, ship), "rev-list", "--count", "main").strip() == "2"


@pytest.mark.long
def test_a_large_file_is_not_held_in_memory(clients: ServiceClients, ada: httpx.Client, ship: Repository) -> None:
    """An upload of 200 MiB without a length increases the memory of the process by less than 80 MiB."""
    block = bytes(range(256)) * 4096

    def pieces() -> Iterator[bytes]:
        for _ in range(200):
            yield block

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    response = ada.put(f"{RAW}/large", content=pieces(), timeout=60)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert response.status_code == 201
    assert (response.json()["content"]["size"], response.json()["content"]["content"]) == (200 * 2**20, None)
    assert grown < 80 * 1024
    assert git_in(folder_of(clients, ship), "cat-file", "-s", "main:large").strip() == str(200 * 2**20)


def test_an_unavailable_lfs_store_is_reported(
    clients: ServiceClients, ada: httpx.Client, ship: Repository
) -> None:
    """An LFS file gives 503 and no commit, and other files can still be written."""
    assert ada.put(f"{RAW}/.gitattributes", content=b"*.bin filter=lfs\n").status_code == 201
    before = git_in(folder_of(clients, ship), "rev-parse", "main")
    (clients.service.settings.data / "lfs").write_text("in the way")
    for content in (b"small", bytes(100_000)):
        response = ada.put(f"{RAW}/x.bin", content=content)
        assert (response.status_code, "cannot be stored" in response.json()["message"]) == (503, True)
    assert git_in(folder_of(clients, ship), "rev-parse", "main") == before
    assert ada.put(f"{RAW}/x.txt", content=b"small").status_code == 201


def test_expensive_attribute_patterns_do_not_delay_uploads(ada: httpx.Client, ship: Repository) -> None:
    """Only a path that takes too long to match is refused; other files can be written."""
    del ship
    hostile = b"*a*a*a**/*a*a*a**/*a*a*a**/*a*a*a**/b filter=lfs\n"
    assert ada.put(f"{RAW}/.gitattributes", content=hostile).status_code == 201
    path = "/".join(["a" * 20] * 20)
    text = f"the patterns of .gitattributes would take too long to match [path: {path}]"
    assert_refused(ada.put(f"{RAW}/{path}", content=b"x"), 422, text)
    assert ada.put(f"{RAW}/b.txt", content=b"x").status_code == 201
    assert ada.put(f"{RAW}/.gitattributes", content=b"*.bin filter=lfs\n").status_code == 200
    assert ada.put(f"{RAW}/{path}", content=b"x").status_code == 201


@pytest.mark.parametrize(
    ("match", "none", "status"),
    [
        ('"{blob}"', '"{blob}"', 412),
        ('"{blob}"', '"{other}"', 200),
        ('"{blob}"', "*", 412),
        ("*", '"{blob}"', 412),
        ("*", 'W/"{blob}"', 412),
        ("*", "*", 412),
        ("*", '"{other}"', 200),
        ('"{other}"', '"{blob}"', 412),
        ('"{other}"', '"{other}"', 412),
    ],
)
def test_both_conditions_must_hold(
    ada: httpx.Client, ship: Repository, match: str, none: str, status: int
) -> None:
    """A write happens only when If-Match and If-None-Match both hold; otherwise the file stays as it was."""
    del ship
    make_files_repository = ada.put(f"{RAW}/both.txt", content=b"one\n")
    assert make_files_repository.status_code == 201
    blob = make_files_repository.json()["content"]["sha"]
    names = {"blob": blob, "other": "0" * 40}
    headers = {"If-Match": match.format(**names), "If-None-Match": none.format(**names)}
    assert ada.put(f"{RAW}/both.txt", content=b"two\n", headers=headers).status_code == status
    stored = ada.get(f"{RAW}/main/both.txt").content
    assert stored == (b"two\n" if status == 200 else b"one\n")
    # Where no file is, If-Match cannot hold, whatever stands beside it.
    assert ada.put(f"{RAW}/none.txt", content=b"x", headers=headers).status_code == 412
