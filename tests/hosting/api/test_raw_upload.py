"""Files uploaded as they are: conditions, large ones, and what is answered."""

import resource
from collections.abc import Iterator

import httpx
import pytest

from holdfast.hosting.store.repositories import Repository
from tests.hosting.api.test_contents_write import folder, git, made, refused, sha
from tests.hosting.world import World

RAW = "/repos/ada/ship/raw"


@pytest.fixture
def ada(world: World) -> httpx.Client:
    """Give Ada a client."""
    return world.user("ada")


@pytest.fixture
def ship(world: World, ada: httpx.Client) -> Repository:
    """Give her a repository."""
    del ada
    return made(world, {"a.txt": b"one\n"})


def test_a_file_is_put_and_replaced(world: World, ada: httpx.Client, ship: Repository) -> None:
    """A new one answers 201, one in place of another 200, and the branch and the message can be named."""
    first = ada.put(f"{RAW}/d/b.bin", content=b"\0\xff", params={"message": "Put it", "mode": "100755"})
    assert first.status_code == 201
    assert first.json()["commit"]["message"] == "Put it\n"
    assert first.json()["content"]["mode"] == "100755"
    again = ada.put(f"{RAW}/d/b.bin", content=b"", params={"branch": "main"})
    assert (again.status_code, again.json()["content"]["size"]) == (200, 0)
    assert again.json()["content"]["mode"] == "100755"
    assert git(folder(world, ship), "fsck", "--strict") == ""


def test_conditions(world: World, ada: httpx.Client, ship: Repository) -> None:
    """If-Match asks for the blob the caller knows, If-None-Match for none at all; otherwise 412."""
    place = folder(world, ship)
    known = sha(ada, place, "a.txt")
    put = ada.put(f"{RAW}/a.txt", content=b"two\n", headers={"If-Match": f'"{known}"'})
    assert put.status_code == 200
    now = sha(ada, place, "a.txt")
    stale = ada.put(f"{RAW}/a.txt", content=b"three\n", headers={"If-Match": f'"{known}"'})
    refused(stale, 412, f"sha does not match [given: {known}, expected: {now}]")
    gone = ada.put(f"{RAW}/b.txt", content=b"x", headers={"If-Match": f'"{known}"'})
    refused(gone, 412, "object does not exist [id: , rel_path: b.txt]")
    there = ada.put(f"{RAW}/a.txt", content=b"x", headers={"If-None-Match": "*"})
    refused(there, 412, "repository file already exists [path: a.txt]")
    assert ada.put(f"{RAW}/b.txt", content=b"x", headers={"If-None-Match": "*"}).status_code == 201
    assert ada.put(f"{RAW}/b.txt", content=b"x", headers={"If-Match": "x"}).status_code == 422
    assert ada.put(f"{RAW}/b.txt", content=b"x", headers={"If-None-Match": '"x"'}).status_code == 422
    both = {"If-Match": f'"{known}"', "If-None-Match": "*"}
    assert ada.put(f"{RAW}/b.txt", content=b"x", headers=both).status_code == 422
    assert ada.put(f"{RAW}/.git/x", content=b"x").status_code == 422


def test_who_may_upload(world: World, ada: httpx.Client, ship: Repository) -> None:
    """Strangers and readers may not."""
    del ship, ada
    refused(world.anonymous.put(f"{RAW}/x", content=b""), 401, "token is required")
    eve = world.user("eve").put(f"{RAW}/x", content=b"")
    refused(eve, 403, "user should have a permission to write to the target branch")


def test_a_key_makes_one_commit(world: World, ada: httpx.Client, ship: Repository) -> None:
    """The same bytes under one key are one commit, other bytes are refused."""
    key = {"Idempotency-Key": "k"}
    first = ada.put(f"{RAW}/x", content=b"x", headers=key)
    assert ada.put(f"{RAW}/x", content=b"x", headers=key).json() == first.json()
    other = ada.put(f"{RAW}/x", content=b"y", headers=key)
    refused(other, 422, "the Idempotency-Key was used for another request")
    assert git(folder(world, ship), "rev-list", "--count", "main").strip() == "2"


def test_a_large_file_is_not_held_in_memory(world: World, ada: httpx.Client, ship: Repository) -> None:
    """A stream of 200 MB without a length, in a process that grows by much less than that."""
    block = bytes(range(256)) * 4096

    def pieces() -> Iterator[bytes]:
        for _ in range(200):
            yield block

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = ada.put(f"{RAW}/large", content=pieces(), timeout=60)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert answer.status_code == 201
    assert (answer.json()["content"]["size"], answer.json()["content"]["content"]) == (200 * 2**20, None)
    assert grown < 80 * 1024
    assert git(folder(world, ship), "cat-file", "-s", "main:large").strip() == str(200 * 2**20)
