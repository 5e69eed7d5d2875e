"""Conversation pages of backups and archives in repositories, with the read permission of the file."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import LfsError
from holdfast.hosting.git import trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.encoding import argument
from holdfast.hosting.git.repository import Repo, open_repository
from holdfast.hosting.git.trees import TreeEntry
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.lfs.pointer import MOST_BYTES, LfsPointer
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import lfs
from holdfast.web.chats.cache_entries import ConversationSource, FileOrigin
from holdfast.web.chats.file_kinds import (
    LOOK,
    FileKind,
    is_archive,
    is_plain_backup,
    kind_of_file,
    looks_like_backup,
)
from holdfast.web.chats.host_pages import ConversationPages, KeyForm, handle_form, show_source, viewer_of
from holdfast.web.chats.import_limits import ImportClient
from holdfast.web.chats.locks import open_private
from holdfast.web.chats.revocation import is_public
from holdfast.web.chats.view import TemplateResult
from holdfast.web.code.location import READING, CodeLocation, location_at
from holdfast.web.repository_frame import CODE, show_in

__all__ = ["ConversationLink", "act_on_chats", "conversation_link", "page_chats"]

MB: Final = 1 << 20
# An archive is an SQLite database: views and triggers of an untrusted database run when it is read.
ARCHIVE_REFUSED: Final = TemplateResult(
    "chats/archive_refused.html", "An archive is not opened from a repository", status=422
)


@endpoint("GET /{owner}/{repo}/chats/{kind}/{filepath...}", scope="repository", guards=READING, slow=True)
def page_chats(request: RequestContext, target: RepositoryAccess, kind: str, filepath: str) -> RawResponse:  # noqa: ARG001  # read from the raw path
    """Show a page of the conversation in a file."""
    frame, source, inner = resolve_path(request, target, kind)
    if source.kind is FileKind.ARCHIVE:
        return frame.page(ARCHIVE_REFUSED, archive_name=source.name, sealed=False)
    return show_source(frame, source, repository_viewer(request, target), inner)


@endpoint("POST /{owner}/{repo}/chats/{kind}/{filepath...}", scope="repository", guards=READING, slow=True)
def act_on_chats(
    request: RequestContext,
    target: RepositoryAccess,
    kind: str,
    filepath: str,  # noqa: ARG001  # part of the route; a guard reads it
    body: KeyForm,
) -> RawResponse:
    """Handle the forms of a conversation: submit a key, forget it, or import again."""
    frame, source, inner = resolve_path(request, target, kind)
    if source.kind is FileKind.ARCHIVE:
        raise ApiError(404)
    return handle_form(frame, source, repository_viewer(request, target), inner, body)


def repository_viewer(request: RequestContext, target: RepositoryAccess) -> ImportClient:
    """Return the viewer of a file of a repository, as the import limits count it."""
    return viewer_of(request, may_write=target.permissions.may_write(Unit.CODE))


def resolve_path(
    request: RequestContext, target: RepositoryAccess, kind: str
) -> tuple[ConversationPages, ConversationSource, str]:
    """Split a URL path at the file it starts with; the rest is the path inside the conversation."""
    location = location_at(request, target, kind)
    entry, inner = find_file(location.repo, location.commit, argument(location.path))
    source = source_of(request, target, location, entry)
    exposed = source.kind is not FileKind.SEALED and is_exposed(target)

    def draw(template: str, title: str, status: int, values: Mapping[str, object]) -> RawResponse:
        return show_in(
            request,
            target,
            template,
            tab=CODE,
            title=f"{title} · {target.repository.full_name}",
            status=status,
            layout="chats/repository_layout.html",
            # The heading of the page is the name of the repository.
            top="h2",
            ref=location.name,
            ref_path=f"{location.below}/",
            file_path=entry.path,
            file_address=location.address("src", entry.raw_path),
            exposed=exposed,
            **values,
        )

    return ConversationPages(request, location.address("chats", entry.raw_path), draw), source, inner


def find_file(repo: Repo, commit: str, path: str) -> tuple[TreeEntry, str]:
    """Descend a path to the first file, and return the file and the rest of the path."""
    parts = path.split("/")
    tree = read_commit(repo, commit).tree
    for count in range(1, len(parts) + 1):
        entry = trees.find(repo, tree, "/".join(parts[:count]))
        if not isinstance(entry, TreeEntry):
            break
        if entry.type == "file":
            return entry, "/".join(parts[count:])
        if entry.type != "dir":
            break
    raise ApiError(404)


@dataclass(frozen=True, slots=True)
class ConversationLink:
    """The link from a file's page to its conversation."""

    address: str
    is_archive: bool
    exposed: bool
    """Whether the chats are public, and the viewer may change that."""


def conversation_link(
    request: RequestContext, target: RepositoryAccess, location: CodeLocation, entry: TreeEntry
) -> ConversationLink | None:
    """Return the link from a file page to the chats of the file, if it is a chat backup."""
    if entry.type != "file":
        return None
    stored = find_lfs_object(request, target, location.repo, entry)
    try:
        head = head_of(location.repo.folder, entry.id) if stored is None else lfs_head(request.app, stored)
    except (LfsError, ApiError):
        return None
    if not looks_like_backup(head, entry.name):
        return None
    size = entry.size if stored is None else stored.size
    exposed = is_exposed(target) and is_plain_backup(head, entry.name, size)
    return ConversationLink(location.address("chats"), is_archive(head), exposed)


def find_lfs_object(
    request: RequestContext, target: RepositoryAccess, repo: Repo, entry: TreeEntry
) -> LfsPointer | None:
    """Return the LFS object that a pointer file refers to, if the repository has it."""
    if entry.size > MOST_BYTES:
        return None
    stored = LfsPointer.parse(trees.read_blob(repo, entry.id))
    if stored is None or lfs.linked_at(request.app.database, target.repository, stored.oid) is None:
        return None
    return stored


def is_exposed(target: RepositoryAccess) -> bool:
    """Return whether an unencrypted backup is public, and the viewer may change that."""
    return is_public(target.repository) and target.permissions.may_write(Unit.CODE)


def source_of(
    request: RequestContext, target: RepositoryAccess, location: CodeLocation, entry: TreeEntry
) -> ConversationSource:
    """Return the source of a file: its blob, or the LFS object that it refers to."""
    repo = location.repo
    stored = find_lfs_object(request, target, repo, entry)
    try:
        head = head_of(repo.folder, entry.id) if stored is None else lfs_head(request.app, stored)
    except LfsError as error:
        raise ApiError(503, str(error)) from None
    size = entry.size if stored is None else stored.size
    kind = kind_of_file(head, size)
    if kind is None:
        raise ApiError(404)
    most = request.app.settings.chat_import_output_mb * MB
    if size > most and kind is not FileKind.ARCHIVE:
        raise ApiError(
            413,
            f"{entry.name} is larger than the {most // MB:,} MB that are shown here; "
            "`holdfast archive import` has no such limit",
        )
    repository = target.repository
    origin = FileOrigin(
        repository.id,
        repository.owner.id,
        is_public(repository),
        location.kind,
        location.ref,
        entry.raw_path,
        entry.id,
    )
    if stored is None:
        write = partial(write_blob, repo.folder, entry.id)
        return ConversationSource(f"blob {entry.id}", entry.name, kind, write=write, origin=origin)
    write_stored = partial(write_lfs_object, request.app, stored)
    return ConversationSource(f"lfs {stored.oid}", entry.name, kind, write=write_stored, origin=origin)


@lru_cache(maxsize=64)
def head_of(folder: Path, blob: str) -> bytes:
    """Read the first bytes of a blob."""
    return b"".join(trees.stream_blob(open_repository(folder), blob, 0, LOOK))


def lfs_head(app: App, stored: LfsPointer) -> bytes:
    """Read the first bytes of an LFS object."""

    async def beginning() -> bytes:
        size = await app.lfs.size(stored.oid)
        if size is None:
            raise ApiError(404)
        return await concatenate(app.lfs.read(stored.oid, 0, min(LOOK, size)))

    return asyncio.run(beginning())


def write_blob(folder: Path, blob: str, target: Path) -> None:
    """Write a blob to a file."""
    with open_private(target) as out:
        for piece in trees.stream_blob(open_repository(folder), blob):
            out.write(piece)


def write_lfs_object(app: App, stored: LfsPointer, target: Path) -> None:
    """Write an LFS object to a local file."""

    async def copy() -> None:
        with open_private(target) as out:
            async for piece in app.lfs.read(stored.oid):
                await asyncio.to_thread(out.write, piece)

    asyncio.run(copy())


async def concatenate(chunks: AsyncIterator[bytes]) -> bytes:
    """Concatenate chunks."""
    return b"".join([chunk async for chunk in chunks])
