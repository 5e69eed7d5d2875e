"""The archives and backups of the data folder as conversations, for the administrator whose folder it is."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import quote

from holdfast.backup.container.folder import MAIN, find_snapshots
from holdfast.backup.container.takeout import LINES, find_export
from holdfast.backup.errors import BackupError
from holdfast.hosting.guards import site_admin
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.web.chats.cache_entries import ConversationSource
from holdfast.web.chats.file_kinds import LOOK, FileKind, kind_of_file
from holdfast.web.chats.host_pages import ConversationPages, KeyForm, act_on, show_room, show_source, viewer_of
from holdfast.web.chats.open_archive import OpenArchive, room_of_file
from holdfast.web.pages import moment, page

__all__ = ["act_on_archive", "page_archive", "page_archive_part", "page_archives"]

ROOT: Final = "/-/archives"
WORDS: Final = {
    FileKind.ARCHIVE: "Archive",
    FileKind.PLAIN: "Backup",
    FileKind.SEALED: "Encrypted backup",
    None: "Not a backup",
}


@dataclass(frozen=True, slots=True)
class DataFolderEntry:
    """A file or folder of the shelf."""

    name: str
    address: str
    words: str
    size: int | None
    changed: datetime
    kind: FileKind | None


def shelf_of(request: RequestContext) -> Path:
    """Return the folder the shelf is."""
    return request.app.settings.data / "backups"


def kind_at(path: Path) -> FileKind | None:
    """Tell what a file or folder of the shelf is."""
    try:
        if path.is_dir():
            return FileKind.SEALED if find_snapshots(path) else FileKind.PLAIN if find_export(path) else None
        with path.open("rb") as file:
            return kind_of_file(file.read(LOOK), path.stat().st_size)
    except (OSError, BackupError):
        return None


def books(folder: Path) -> list[DataFolderEntry]:
    """List the shelf by name; the folders of attachments belong to their archives."""
    if not folder.is_dir():
        return []
    found = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name.endswith(("-media", "-journal", "-wal", "-shm")):
            continue
        status = path.stat()
        kind = kind_at(path)
        size = None if path.is_dir() else status.st_size
        found.append(
            DataFolderEntry(
                path.name, f"{ROOT}/{quote(path.name, safe='')}", WORDS[kind], size, moment(status.st_mtime), kind
            )
        )
    return found


@endpoint("GET /-/archives", guards=(site_admin,), slow=True)
def page_archives(request: RequestContext) -> RawResponse:
    """List the archives and backups of the data folder."""
    return page(request, "chats/shelf.html", title="Chat archives", books=books(shelf_of(request)))


@endpoint("GET /-/archives/{name}", guards=(site_admin,), slow=True)
def page_archive(request: RequestContext, name: str) -> RawResponse:
    """Show the first page of a conversation."""
    return shown(request, name, "")


@endpoint("GET /-/archives/{name}/{inner...}", guards=(site_admin,), slow=True)
def page_archive_part(request: RequestContext, name: str, inner: str) -> RawResponse:
    """Show a page of a conversation."""
    return shown(request, name, inner)


@endpoint("POST /-/archives/{name}/{inner...}", guards=(site_admin,), slow=True)
def act_on_archive(request: RequestContext, name: str, inner: str, body: KeyForm) -> RawResponse:
    """Take the key of a backup, forget it, or try again to read one."""
    viewer = viewer_of(request, may_write=True)
    return act_on(frame_of(request, name), source_of(file_named(request, name)), viewer, inner, body)


def shown(request: RequestContext, name: str, inner: str) -> RawResponse:
    """Show a page of an archive where it lies, or of what is brought in from a backup."""
    path = file_named(request, name)
    source = source_of(path)
    frame = frame_of(request, name)
    if source.kind is FileKind.ARCHIVE:
        return show_room(frame, room_at(path), inner)
    return show_source(frame, source, viewer_of(request, may_write=True), inner)


def file_named(request: RequestContext, name: str) -> Path:
    """Find a file of the shelf, and nothing beside it."""
    if not name or "/" in name or "\x00" in name or name.startswith("."):
        raise ApiError(404)
    path = shelf_of(request) / name
    if not path.exists():
        raise ApiError(404)
    return path


def frame_of(request: RequestContext, name: str) -> ConversationPages:
    """Show pages below the shelf."""

    def draw(template: str, title: str, status: int, values: Mapping[str, object]) -> RawResponse:
        return page(
            request, template, title=title, status=status, layout="chats/on_shelf.html", top="h1", **values
        )

    return ConversationPages(request, f"{ROOT}/{quote(name, safe='')}", draw)


def source_of(path: Path) -> ConversationSource:
    """Describe a file of the shelf by its content."""
    kind = kind_at(path)
    if kind is None:
        raise ApiError(404)
    main = main_file(path) if path.is_dir() else path
    status = main.stat()
    if kind is FileKind.ARCHIVE:
        return ConversationSource("", path.name, kind, path=path)
    return ConversationSource(digest_of(main, status.st_size, status.st_mtime_ns), path.name, kind, path=path)


def main_file(folder: Path) -> Path:
    """Return the file of a folder that tells it from all others."""
    for snapshot in find_snapshots(folder):
        return snapshot.path / MAIN
    export = find_export(folder)
    return folder if export is None else export.path / LINES


@lru_cache(maxsize=256)
def digest_of(path: Path, _size: int, _changed: int) -> str:
    """Hash a file; the answer is kept until its size or time changes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=16)
def room_at(path: Path) -> OpenArchive:
    """Open an archive where it lies."""
    return room_of_file(path, path.name)
