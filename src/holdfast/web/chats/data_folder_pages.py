"""The pages of archives and backups in the data folder, for site administrators."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import quote

from holdfast.backup.container.folder import MAIN, find_snapshots, phone_folders
from holdfast.backup.container.takeout import LINES, find_export
from holdfast.backup.errors import BackupError
from holdfast.backup.path_text import path_text
from holdfast.hosting.guards import site_admin
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.web.chats.cache_entries import ConversationSource
from holdfast.web.chats.file_kinds import FileKind, kind_of_path
from holdfast.web.chats.host_pages import (
    ConversationPages,
    KeyForm,
    handle_form,
    show_archive,
    show_source,
    viewer_of,
)
from holdfast.web.chats.open_archive import OpenArchive, open_archive_file
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
    """An archive or backup of the data folder, in the list."""

    name: str
    address: str
    words: str
    size: int | None
    changed: datetime
    kind: FileKind | None


def backups_folder(request: RequestContext) -> Path:
    """Return the folder of archives and backups."""
    return request.app.settings.data / "backups"


def list_entries(folder: Path) -> list[DataFolderEntry]:
    """List the folder by name, without the attachment folders of archives."""
    if not folder.is_dir():
        return []
    data_folder_entries = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name.endswith(("-media", "-journal", "-wal", "-shm")):
            continue
        data_folder_entries += [make_entry(folder, part) for part in several_phones(path) or [path]]
    return data_folder_entries


def make_entry(folder: Path, path: Path) -> DataFolderEntry:
    """Return the entry of a file or folder; one whose name has no address, as it is not UTF-8, has no link."""
    # A symbolic link may lead nowhere.
    status = path.stat() if path.exists() else path.lstat()
    name = path.relative_to(folder).as_posix()
    shown = path_text(name)
    kind = kind_of_path(path) if shown == name else None
    words = WORDS[kind] if shown == name else "Name is not UTF-8"
    size = None if path.is_dir() else status.st_size
    return DataFolderEntry(shown, f"{ROOT}/{quote(shown)}", words, size, moment(status.st_mtime), kind)


def several_phones(path: Path) -> list[Path]:
    """Return the backup folders in a folder with those of several phones; none for anything else."""
    try:
        folders = phone_folders(path) if path.is_dir() else []
    except BackupError:
        return []
    return folders if len(folders) > 1 else []


@endpoint("GET /-/archives", guards=(site_admin,), slow=True)
def page_archives(request: RequestContext) -> RawResponse:
    """List the archives and backups of the data folder."""
    return page(
        request, "chats/data_folder.html", title="Chat archives", entries=list_entries(backups_folder(request))
    )


@endpoint("GET /-/archives/{name}", guards=(site_admin,), slow=True)
def page_archive(request: RequestContext, name: str) -> RawResponse:
    """Show the first page of a conversation."""
    return show_archive_page(request, name, "")


@endpoint("GET /-/archives/{name}/{inner...}", guards=(site_admin,), slow=True)
def page_archive_part(request: RequestContext, name: str, inner: str) -> RawResponse:
    """Show a page of a conversation."""
    return show_archive_page(request, name, inner)


@endpoint("POST /-/archives/{name}/{inner...}", guards=(site_admin,), slow=True)
def act_on_archive(request: RequestContext, name: str, inner: str, body: KeyForm) -> RawResponse:
    """Handle the forms of a conversation: submit a key, forget it, or import again."""
    viewer = viewer_of(request, may_write=True)
    path, inner = find_file(request, name, inner)
    return handle_form(conversation_pages(request, path), make_source(path), viewer, inner, body)


def show_archive_page(request: RequestContext, name: str, inner: str) -> RawResponse:
    """Show a page of an archive in place, or of an imported backup."""
    path, inner = find_file(request, name, inner)
    source = make_source(path)
    frame = conversation_pages(request, path)
    if source.kind is FileKind.ARCHIVE:
        return show_archive(frame, open_cached_archive(path), inner)
    return show_source(frame, source, viewer_of(request, may_write=True), inner)


def find_file(request: RequestContext, name: str, inner: str) -> tuple[Path, str]:
    """Return the path of a file of the folder and the rest of the address; raise a 404 error for any other name.

    In a folder with the backups of several phones, it is the folder of one of them.
    """
    if not name or "/" in name or "\x00" in name or name.startswith("."):
        raise ApiError(404)
    path = backups_folder(request) / name
    if not path.exists():
        raise ApiError(404)
    first, _, rest = inner.partition("/")
    phone = next((folder for folder in several_phones(path) if folder.name == first), None)
    return (path, inner) if phone is None else (phone, rest)


def conversation_pages(request: RequestContext, path: Path) -> ConversationPages:
    """Return the page renderer for one archive."""
    name = path.relative_to(backups_folder(request)).as_posix()

    def draw(template: str, title: str, status: int, values: Mapping[str, object]) -> RawResponse:
        return page(
            request,
            template,
            title=title,
            status=status,
            layout="chats/data_folder_layout.html",
            top="h1",
            **values,
        )

    return ConversationPages(request, f"{ROOT}/{quote(name)}", draw)


def make_source(path: Path) -> ConversationSource:
    """Return the source of a file, identified by its digest."""
    kind = kind_of_path(path)
    if kind is None:
        raise ApiError(404)
    main = identifying_file(path) if path.is_dir() else path
    status = main.stat()
    if kind is FileKind.ARCHIVE:
        return ConversationSource("", path.name, kind, path=path)
    return ConversationSource(file_digest(main, status.st_size, status.st_mtime_ns), path.name, kind, path=path)


def identifying_file(folder: Path) -> Path:
    """Return the file whose digest identifies a folder."""
    for snapshot in find_snapshots(folder):
        return snapshot.path / MAIN
    export = find_export(folder)
    return folder if export is None else export.path / LINES


@lru_cache(maxsize=256)
def file_digest(path: Path, _size: int, _changed: int) -> str:
    """Return the digest of a file; cached until its size or modification time changes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=16)
def open_cached_archive(path: Path) -> OpenArchive:
    """Open an archive in place; one is kept open per path."""
    return open_archive_file(path, path.name)
