"""The files of a migration: release attachments and LFS objects.

A file is downloaded before it is stored and recorded. An LFS object is downloaded even if another repository
already has it: knowing its pointer must not give access to it.
"""

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidField, InvalidValue, LfsMismatch, RemoteFailed
from holdfast.hosting.lfs.pointer import LfsPointer
from holdfast.hosting.lfs.pushed_pointers import stored_pointers
from holdfast.hosting.services import attachments, lfs_objects
from holdfast.hosting.services.migration_client import API, MigrationClient
from holdfast.hosting.services.migration_sources import SourceAsset, seconds_of
from holdfast.hosting.store import lfs, mirrors
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository
from holdfast.http_client.urls import HttpUrl

__all__ = ["fetch_lfs_objects", "fetch_release_file"]

MEDIA_TYPE: Final = "application/vnd.git-lfs+json"
# Maximum objects per batch request.
BATCH: Final = 100
MISSING: Final = frozenset({404, 410})
CHUNK: Final = 1024 * 1024
MOST_DOWNLOADS: Final = 2**31 - 1


class SourceLfsAction(msgspec.Struct, frozen=True):
    """The URL of an object, and the headers to send."""

    href: str
    header: dict[str, str] = {}


class SourceLfsError(msgspec.Struct, frozen=True):
    """The error for an object that cannot be downloaded."""

    code: int = 0


class SourceLfsObject(msgspec.Struct, frozen=True):
    """An object in the remote service's batch response."""

    oid: str
    actions: dict[str, SourceLfsAction] | None = None
    error: SourceLfsError | None = None


class SourceLfsBatch(msgspec.Struct, frozen=True):
    """The response to an LFS batch request."""

    objects: list[SourceLfsObject] | None = None


def fetch_release_file(
    app: App, client: MigrationClient, repository: Repository, user: Account, asset: SourceAsset
) -> dict[str, Any]:
    """Download a release attachment to the object store, and return its row, without the release id."""
    try:
        name = attachments.check_file_name(asset.name)
    except (InvalidField, InvalidValue):
        raise RemoteFailed("a release has a file whose name cannot be used here") from None
    subject = f"the release file {name}"
    client.check_size(asset.size, subject)
    # GitHub's API returns the file itself for `application/octet-stream`, also of private repositories.
    is_api = bool(asset.url) and asset.state != ""
    headers = {"Accept": "application/octet-stream"}
    number = str(uuid.uuid4())
    with app.store.incoming_path() as path:
        size = client.download(
            asset.url if is_api else asset.browser_download_url, path, subject=subject, headers=headers
        )
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        app.store.put_file(attachments.object_key(number), path)
    return {
        "uuid": number,
        "repository_id": repository.id,
        "name": name,
        "size": size,
        "digest": digest,
        "uploader_id": user.id,
        "download_count": min(max(asset.download_count, 0), MOST_DOWNLOADS),
        "created_at": seconds_of(asset.created_at),
    }


def fetch_lfs_objects(app: App, client: MigrationClient, repository: Repository, endpoint: HttpUrl) -> int:
    """Fetch the LFS objects that the files of a repository point to, and return how many.

    Objects missing in the remote service are skipped; their pointers stay.
    """
    pointers: dict[str, LfsPointer] = {}
    for batch in stored_pointers(app.copies.update(repository.id).folder):
        pointers.update((lfs_pointer.oid, lfs_pointer) for lfs_pointer in batch.values())
    for pointer in pointers.values():
        client.check_size(pointer.size, f"the LFS object {pointer.oid}")
    lfs_pointers, fetched = list(pointers.values()), 0
    for start in range(0, len(lfs_pointers), BATCH):
        some = {lfs_pointer.oid: lfs_pointer for lfs_pointer in lfs_pointers[start : start + BATCH]}
        sizes: dict[str, int] = {}
        for oid, action in download_actions(client, endpoint, list(some.values())):
            if oid in some and oid not in sizes:
                fetch_object(app, client, some[oid], action)
                sizes[oid] = some[oid].size
        fetched += len(sizes)
        with app.database.write() as connection:
            lfs.add_links(connection, repository, sizes)
            mirrors.set_progress(connection, repository.id, phase="LFS objects", done=fetched)
    return fetched


def download_actions(
    client: MigrationClient, endpoint: HttpUrl, pointers: Sequence[LfsPointer]
) -> Iterator[tuple[str, SourceLfsAction]]:
    """Send an LFS batch request, and yield the download actions of the existing objects."""
    url = HttpUrl(endpoint.scheme, endpoint.host, endpoint.port, f"{endpoint.path}/objects/batch")
    objects = [{"oid": pointer.oid, "size": pointer.size} for pointer in pointers]
    body = msgspec.json.encode({"operation": "download", "transfers": ["basic"], "objects": objects})
    headers = {"Accept": MEDIA_TYPE, "Content-Type": MEDIA_TYPE}
    content = client.read(client.request("POST", url, headers, body))
    try:
        answers = msgspec.json.decode(content, type=SourceLfsBatch).objects or []
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise RemoteFailed(f"{API} answered with something else than expected") from None
    for lfs_object in answers:
        action = (lfs_object.actions or {}).get("download")
        if lfs_object.error is not None and lfs_object.error.code not in MISSING:
            raise RemoteFailed(f"an LFS object cannot be fetched: the other service says {lfs_object.error.code}")
        if lfs_object.error is None and action is not None:
            yield lfs_object.oid, action


def fetch_object(app: App, client: MigrationClient, pointer: LfsPointer, action: SourceLfsAction) -> None:
    """Download an object, and store it after checking it against its pointer."""
    subject = f"the LFS object {pointer.oid}"
    client.check_size(pointer.size, subject)
    with app.store.incoming_path() as path:
        client.download(action.href, path, subject=subject, headers=action.header)
        try:
            asyncio.run(lfs_objects.add_object(app, pointer.oid, pointer.size, chunks_of(path)))
        except LfsMismatch:
            raise RemoteFailed(f"{subject} is not what its pointer says") from None


async def chunks_of(path: Path) -> AsyncIterator[bytes]:
    """Yield the content of a file in chunks."""
    with path.open("rb") as file:
        while chunk := await asyncio.to_thread(file.read, CHUNK):
            yield chunk
