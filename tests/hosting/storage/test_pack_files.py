"""Packing of objects for the repository log and the object store."""

import os
from pathlib import Path

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import GitDamaged
from holdfast.hosting.git.packs import PackedObject, decode_pack, object_count, object_id, pack_name
from holdfast.hosting.git.program import run
from holdfast.hosting.git.tree_writer import Draft
from holdfast.hosting.services.repositories import initial_commit
from holdfast.hosting.storage.pack_files import (
    INLINE_LIMIT,
    index_key,
    index_packs,
    new_pack,
    pack_draft,
    pack_ids,
    pack_key,
    pack_new,
    pack_omitted,
    pack_unreachable,
    store_pack_file,
)
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repository_log import NewPack
from tests.hosting.repository_helpers import make_people
from tests.hosting.storage.log_helpers import ADA, MAIN, ZERO, LogRepository, snapshot


@pytest.fixture
def ship(app: App) -> LogRepository:
    """Make a repository with two commits."""
    log_repository = LogRepository(app, make_people(app.database, "ada")[0])
    log_repository.commit()
    log_repository.commit()
    return log_repository


def contents(ship: LogRepository, pack: NewPack | None, tmp_path: Path) -> set[str]:
    """Return the ids of the objects of a pack, as git reads them."""
    assert pack is not None
    content = pack.content or ship.app.store.read_bytes(pack.store_key)
    assert (pack_name(content), len(content)) == (pack.name, pack.size)
    folder = tmp_path / pack.name
    run(None, "init", "--quiet", "--bare", str(folder))
    run(folder, "index-pack", "--stdin", input=content)
    index = next((folder / "objects" / "pack").glob("*.idx"))
    listed = run(folder, "show-index", input=index.read_bytes()).splitlines()
    assert len(listed) == pack.object_count
    return {line.split()[1].decode() for line in listed}


@pytest.mark.parametrize("to_copy", [False, True])
@pytest.mark.parametrize("size", [0, 10, INLINE_LIMIT, INLINE_LIMIT + 1])
def test_the_objects_of_a_draft_are_packed(
    ship: LogRepository, tmp_path: Path, size: int, *, to_copy: bool
) -> None:
    """Small objects are written to the local copy only if asked, large ones always; none make no pack."""
    with ship.app.copies.writing(ship.id) as repo:
        draft = Draft(repo)
        added = draft.add("blob", bytes(size)) if size else ""
        packs = pack_draft(ship.app.store, draft, to_copy=to_copy)
        assert [contents(ship, pack, tmp_path) for pack in packs] == [{added}] * bool(size)
        if size:
            assert (repo.header(added) is not None) == (to_copy or size > INLINE_LIMIT)


def test_a_pack_of_objects_in_memory(ship: LogRepository, tmp_path: Path) -> None:
    """A pack of objects in memory has its content inline and no key of the store."""
    objects = [PackedObject("blob", b"a"), PackedObject("blob", b"b")]
    created_new_pack = new_pack(objects)
    assert created_new_pack.store_key == ""
    assert decode_pack(created_new_pack.content or b"") == objects
    assert contents(ship, created_new_pack, tmp_path) == {object_id("blob", b"a"), object_id("blob", b"b")}


@pytest.mark.parametrize(("size", "is_inline"), [(1000, True), (INLINE_LIMIT + 1, False)])
def test_objects_of_a_copy_are_packed(ship: LogRepository, tmp_path: Path, size: int, *, is_inline: bool) -> None:
    """A small pack is inline, and a large one is in the object store with its index."""
    repo = ship.app.copies.update(ship.id)
    blob = repo.write("blob", os.urandom(size))
    made = pack_ids(ship.app.store, repo, [blob])
    assert contents(ship, made, tmp_path) == {blob}
    assert made is not None
    assert (made.content is not None, made.store_key == "") == (is_inline, is_inline)
    if not is_inline:
        assert pack_key(index_key(made.store_key)) == pack_key(made.store_key) == made.store_key
        assert ship.app.store.size(made.store_key) == made.size
        assert ship.app.store.size(index_key(made.store_key))
    assert pack_ids(ship.app.store, repo, []) is None


def test_a_pack_has_a_new_key_each_time_it_is_stored(ship: LogRepository) -> None:
    """Each store of a pack has its own key, so that one may be deleted as an orphan without the other."""
    repo = ship.app.copies.update(ship.id)
    blob = repo.write("blob", os.urandom(INLINE_LIMIT + 1))
    run(repo.folder, "pack-objects", "-q", str(repo.folder / "objects/pack/pack"), input=f"{blob}\n".encode())
    path = next((repo.folder / "objects" / "pack").glob("*.pack"))
    first, second = (store_pack_file(ship.app.store, path) for _ in range(2))
    assert first.name == second.name
    assert first.store_key != second.store_key
    ship.app.store.delete(first.store_key)
    assert ship.app.store.size(second.store_key) == second.size


def test_only_what_no_ref_leads_to_is_packed(ship: LogRepository, tmp_path: Path) -> None:
    """Unreachable objects are packed with all they refer to, and nothing is packed if a ref reaches them."""
    head = ship.refs()[MAIN]
    ship.set(RefUpdate("refs/tags/v1", ZERO, head))
    repo = ship.app.copies.update(ship.id)
    first = run(repo.folder, "rev-parse", "main~1").decode().strip()
    for known in ([head], [first], [head, first], []):
        assert pack_unreachable(ship.app.store, repo, known) is None
    blob = repo.write("blob", b"new")
    tree = repo.write("tree", b"100644 new\0" + bytes.fromhex(blob))
    who = "Ada <ada@example.org> 1 +0000"
    text = f"tree {tree}\nparent {first}\nauthor {who}\ncommitter {who}\n\nnew\n"
    commit = repo.write("commit", text.encode())
    tag = repo.write("tag", f"object {commit}\ntype commit\ntag v2\ntagger {who}\n\nnew\n".encode())
    packed = pack_unreachable(ship.app.store, repo, [tag, head])
    assert contents(ship, packed, tmp_path) == {tag, commit, tree, blob}
    # The default branch leads to what a tag points to, but not to the tag.
    alone = repo.write("tag", f"object {first}\ntype commit\ntag v3\ntagger {who}\n\nnew\n".encode())
    packed = pack_unreachable(ship.app.store, repo, [first, alone])
    assert contents(ship, packed, tmp_path) == {alone}


def test_objects_unreachable_from_known_ones_are_packed(ship: LogRepository, tmp_path: Path) -> None:
    """The pack has the objects that the known commit does not reach, and none is made without any."""
    repo = ship.app.copies.update(ship.id)
    first, head = run(repo.folder, "rev-parse", "main~1", "main").decode().split()
    packed = pack_new(ship.app.store, repo, [head], [first])
    listed = run(repo.folder, "rev-list", "--objects", "--no-object-names", head, f"^{first}").decode().split()
    assert head in listed
    assert contents(ship, packed, tmp_path) == set(listed)
    assert pack_new(ship.app.store, repo, [head], [head]) is None


def test_packs_in_memory_become_one_in_a_repository(tmp_path: Path) -> None:
    """Several packs are indexed as one pack with all of their objects; an invalid pack is refused."""
    folder = tmp_path / "a.git"
    run(None, "init", "--quiet", "--bare", str(folder))
    _, single_new_pack = initial_commit({"a": b"a"}, ADA)
    _, other = initial_commit({"b": b"b"}, ADA)
    given = [pack.content or b"" for pack in (single_new_pack, other, single_new_pack)]
    (name,) = index_packs(folder, given)
    assert [path.name for path in (folder / "objects" / "pack").glob("*.pack")] == [f"pack-{name}.pack"]
    listed = run(folder, "cat-file", "--batch-all-objects", "--batch-check").splitlines()
    assert len(listed) == single_new_pack.object_count + other.object_count
    with pytest.raises(GitDamaged):
        index_packs(folder, [b"PACK no pack"])


def test_objects_reachable_from_another_branch_are_not_packed(ship: LogRepository) -> None:
    """A commit that a branch reaches is not packed, whether it is the branch head or an older commit."""
    repo = ship.app.copies.update(ship.id)
    tree = run(repo.folder, "rev-parse", "main^{tree}").decode().strip()
    who = "Ada <ada@example.org> 1 +0000"
    older = repo.write("commit", f"tree {tree}\nauthor {who}\ncommitter {who}\n\nolder\n".encode())
    newer = repo.write("commit", f"tree {tree}\nparent {older}\nauthor {who}\ncommitter {who}\n\nnewer\n".encode())
    assert pack_unreachable(ship.app.store, repo, [newer]) is not None
    run(repo.folder, "update-ref", "refs/heads/side", newer)
    for known in ([newer], [older], [older, newer]):
        assert pack_unreachable(ship.app.store, repo, known) is None


def test_objects_missing_from_a_pack_are_packed(ship: LogRepository, tmp_path: Path) -> None:
    """Only unreachable objects that the packs lack are packed, and no pack is made if they lack none."""
    repo = ship.app.copies.update(ship.id)
    folder = repo.folder / "objects" / "pack"
    first, head = run(repo.folder, "rev-parse", "main~1", "main").decode().split()
    blob = repo.write("blob", b"omitted")
    tree = repo.write("tree", b"100644 new\0" + bytes.fromhex(blob))
    who = "Ada <ada@example.org> 1 +0000"
    text = f"tree {tree}\nparent {first}\nauthor {who}\ncommitter {who}\n\nnew\n"
    commit = repo.write("commit", text.encode())

    def pack(*ids: str) -> Path:
        given = "".join(f"{item}\n" for item in ids).encode()
        name = run(repo.folder, "pack-objects", "-q", str(folder / "pack"), input=given).decode().strip()
        return folder / f"pack-{name}.pack"

    for files, omitted in (
        ([pack(commit)], {tree, blob}),
        ([pack(commit, blob)], {tree}),
        ([pack(head)], {commit, tree, blob}),
    ):
        packed = pack_omitted(ship.app.store, repo, [commit, head], files)
        assert contents(ship, packed, tmp_path) == omitted
    for files in ([pack(commit, tree, blob)], [pack(commit, tree), pack(blob)]):
        assert pack_omitted(ship.app.store, repo, [commit], files) is None


IDENTITY = [("user.name", "Ada"), ("user.email", "ada@example.org")]


def delta_packs(tmp_path: Path) -> tuple[str, list[bytes]]:
    """Make two packs in which the same tree is a delta, and return the commit of the first."""
    folder = tmp_path / "made.git"
    run(None, "init", "--quiet", "--bare", str(folder))
    ids: list[str] = []
    for number in range(2):
        blobs = [write_blob(folder, b"%d" % (line + number * (line == 7))) for line in range(60)]
        lines = "".join(f"100644 blob {blob}\tf{line}\n" for line, blob in enumerate(blobs))
        tree = run(folder, "mktree", input=lines.encode()).decode().strip()
        parent = ("-p", ids[-1]) if ids else ()
        created = run(folder, "commit-tree", tree, *parent, "-m", "x", configuration=IDENTITY)
        ids.append(created.decode().strip())
    first = run(folder, "pack-objects", "--revs", "--stdout", "-q", input=f"{ids[1]}\n".encode())
    extra = run(folder, "hash-object", "-w", "--stdin", input=b"extra").decode().strip()
    every = run(folder, "rev-list", "--objects", "--no-object-names", ids[1]).decode()
    second = run(folder, "pack-objects", "--stdout", "-q", input=f"{every}{extra}\n".encode())
    return ids[1], [first, second]


def write_blob(folder: Path, content: bytes) -> str:
    """Write a blob, and return its id."""
    return run(folder, "hash-object", "-w", "--stdin", input=content).decode().strip()


@pytest.mark.parametrize("twice", [False, True], ids=["overlapping", "the same"])
def test_packs_with_the_same_delta_are_added_and_compacted(
    ship: LogRepository, tmp_path: Path, *, twice: bool
) -> None:
    """Overlapping or equal packs work, as when a deleted commit is pushed again."""
    commit, created = delta_packs(tmp_path)
    packed = [created[0], created[0]] if twice else created
    assert any(decode_pack(content) is None for content in packed)
    for number, content in enumerate(packed):
        pack = NewPack(pack_name(content), len(content), object_count(content), content=content)
        assert ship.set(RefUpdate(f"refs/heads/b{number}", ZERO, commit), packs=(pack,)) == []
    assert snapshot(ship.app.copies.update(ship.id).folder) == ship.refs()
    ship.app.copies.discard(ship.id)
    assert snapshot(ship.app.copies.update(ship.id).folder) == ship.refs()
    assert ship.app.compactor.compact(ship.id)
    ship.app.copies.discard(ship.id)
    assert len(ship.packs()) == 1
    assert snapshot(ship.app.copies.update(ship.id).folder) == ship.refs()
