"""Packs on their way to the database or the object store.

A small pack is stored in its row; a larger one is put in the object store, with its index, before the transaction
that records it. A pack that is put and never recorded is an orphan, which `compaction` deletes after a grace
period.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from holdfast.hosting.errors import GitFailed
from holdfast.hosting.git import packs, refs
from holdfast.hosting.git.packs import PackedObject, object_id
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.tree_writer import Draft
from holdfast.hosting.storage.object_store import ObjectStore
from holdfast.hosting.store.repository_log import NewPack

__all__ = [
    "INLINE_LIMIT",
    "index_key",
    "index_packs",
    "merge_pack_files",
    "new_pack",
    "new_pack_key",
    "pack_draft",
    "pack_ids",
    "pack_key",
    "pack_new",
    "pack_omitted",
    "pack_tree",
    "pack_unreachable",
    "store_pack_file",
]

INLINE_LIMIT: Final = 256 * 1024
SECONDS: Final = 3600.0


def new_pack_key(name: str) -> str:
    """Return a unique key for a pack.

    An object without a row is deleted some time after it was written. If two writes of the same pack shared a key,
    the second could record an object that is being deleted as an orphan of the first.
    """
    return f"packs/{name[:2]}/{name}-{secrets.token_hex(8)}.pack"


def pack_key(key: str) -> str:
    """Return the key of a pack, given the key of the pack or of its index."""
    return key.removesuffix(".idx").removesuffix(".pack") + ".pack"


def index_key(key: str) -> str:
    """Return the key of the index of a pack."""
    return key.removesuffix(".pack") + ".idx"


def new_pack(objects: Iterable[PackedObject]) -> NewPack:
    """Build a pack of objects in memory, to be stored in its row."""
    content = packs.encode_pack(objects)
    return NewPack(packs.pack_name(content), len(content), packs.object_count(content), content=content)


def pack_draft(store: ObjectStore, draft: Draft, *, to_copy: bool) -> list[NewPack]:
    """Pack the objects of a draft; with `to_copy`, or if they are large, also write them to the local copy."""
    objects = draft.objects()
    is_small = sum(len(packed_object.content) for packed_object in objects) <= INLINE_LIMIT
    if not objects:
        return []
    if to_copy or not is_small:
        draft.add_to_copy()
    if is_small:
        return [new_pack(objects)]
    ids = [object_id(packed_object.kind, packed_object.content) for packed_object in objects]
    pack = pack_ids(store, draft.repo, ids)
    return [] if pack is None else [pack]


def pack_ids(store: ObjectStore, repo: Repo, ids: Iterable[str]) -> NewPack | None:
    """Build a pack of objects of a local copy."""
    return pack_objects(store, repo, "".join(f"{oid}\n" for oid in ids).encode())


def pack_unreachable(store: ObjectStore, repo: Repo, ids: Iterable[str]) -> NewPack | None:
    """Build a pack of all objects reachable from `ids` but from no ref; None if there are none.

    A ref may only point to objects in the log, and objects reachable from a ref are in the log. Other objects of a
    copy (of a push that failed) need not be.
    """
    wanted = list(ids)
    # A new branch mostly starts at a commit of the default branch, which is cheaper to check than all refs.
    default = refs.target(repo, "HEAD")
    if default is not None and leads_to(repo, default, wanted):
        return None
    return pack_objects(store, repo, not_reachable(repo, wanted), "--revs")


def leads_to(repo: Repo, commit: str, ids: Iterable[str]) -> bool:
    """Return whether all of some objects are reachable from a commit."""
    revisions = "".join([*(f"{oid}\n" for oid in ids), f"^{commit}\n"]).encode()
    listing = ("rev-list", "--objects", "--no-object-names", "--max-count=1", "--stdin")
    return not run(repo.folder, *listing, input=revisions, timeout=SECONDS)


def pack_omitted(store: ObjectStore, repo: Repo, ids: Iterable[str], files: Iterable[Path]) -> NewPack | None:
    """Build a pack of objects reachable from `ids` but from no ref, and not in `files`; None if there are none.

    Git accepts a push if the copy has all objects, whatever their origin. A client that omits an object of an
    earlier push, which was rejected or whose branch was deleted, would otherwise move a ref to objects missing
    from the log.
    """
    listing = ("rev-list", "--objects", "--no-object-names", "--stdin")
    omitted = set(run(repo.folder, *listing, input=not_reachable(repo, ids), timeout=SECONDS).split())
    for file in files:
        index = run(repo.folder, "show-index", input=file.with_suffix(".idx").read_bytes())
        omitted.difference_update(line.split()[1] for line in index.splitlines())
    return pack_objects(store, repo, b"".join(b"%b\n" % oid for oid in omitted)) if omitted else None


def not_reachable(repo: Repo, ids: Iterable[str]) -> bytes:
    """Return revisions, for standard input, that select objects reachable from `ids` but from no ref."""
    revisions = "".join(f"{oid}\n" for oid in ids).encode()
    return revisions + run(repo.folder, "for-each-ref", "--format=^%(objectname)")


def pack_new(store: ObjectStore, repo: Repo, ids: Iterable[str], existing_ids: Iterable[str]) -> NewPack | None:
    """Build a pack of all objects reachable from `ids` but not from `existing_ids`; None if there are none."""
    revisions = "".join([*(f"{oid}\n" for oid in ids), "--not\n", *(f"{oid}\n" for oid in existing_ids)])
    return pack_objects(store, repo, revisions.encode(), "--revs")


def pack_tree(store: ObjectStore, repo: Repo, tree: str) -> NewPack | None:
    """Build a pack of a tree and all objects in it."""
    return pack_objects(store, repo, f"{tree}\n".encode(), "--revs")


def pack_objects(store: ObjectStore, repo: Repo, objects: bytes, *options: str) -> NewPack | None:
    """Run `git pack-objects` in a local copy."""
    folder = repo.folder / "objects" / "pack"
    folder.mkdir(exist_ok=True)
    arguments = ("-q", "--non-empty", *options, str(folder / "pack"))
    name = run(repo.folder, "pack-objects", *arguments, input=objects, timeout=SECONDS).decode().strip()
    return store_pack_file(store, folder / f"pack-{name}.pack") if name else None


def index_packs(folder: Path, contents: Sequence[bytes], variables: Mapping[str, str] | None = None) -> list[str]:
    """Add packs in memory to a repository, and return the names of the packs that were written.

    They become one pack, in which an object that several of them contain is repeated. If two of them contain the
    same object as a delta, which git refuses within one pack, each becomes a pack of its own.
    """
    distinct = list({content[-packs.CHECKSUM_BYTES :]: content for content in contents}.values())
    try:
        return [index_pack(folder, packs.merge_packs(distinct), variables)]
    except GitFailed:
        if len(distinct) == 1:
            raise
        return [index_pack(folder, content, variables) for content in distinct]


def index_pack(folder: Path, content: bytes, variables: Mapping[str, str] | None) -> str:
    """Run `git index-pack`, and return the name of the pack."""
    arguments = ("index-pack", "--stdin", "--fix-thin")
    output = run(folder, *arguments, input=content, timeout=SECONDS, variables=variables)
    return output.split()[1].decode()


def merge_pack_files(
    repository: Path,
    target: Path,
    names: Sequence[str],
    *options: str,
    variables: Mapping[str, str] | None = None,
) -> Path:
    """Merge packs of a repository into one pack in a folder, with each object once, and return its path."""
    output = run(
        repository,
        "pack-objects",
        "--stdin-packs",
        "--delta-base-offset",
        "-q",
        *options,
        str(target / "pack"),
        input="".join(f"{name}\n" for name in names).encode(),
        timeout=SECONDS,
        variables=variables,
        configuration=[("pack.threads", "1")],
    )
    return target / f"pack-{output.decode().strip()}.pack"


def store_pack_file(store: ObjectStore, path: Path) -> NewPack:
    """Store a pack that git has written beside its index: in its row if it is small."""
    size = path.stat().st_size
    with path.open("rb") as file:
        count = packs.object_count(file.read(12))
        if size <= INLINE_LIMIT:
            file.seek(0)
            content = file.read()
            return NewPack(packs.pack_name(content), size, count, content=content)
        file.seek(-packs.CHECKSUM_BYTES, 2)
        name = file.read().hex()
    key = new_pack_key(name)
    store.put_file(index_key(key), path.with_suffix(".idx"))
    store.put_file(key, path)
    return NewPack(name, size, count, store_key=key)
