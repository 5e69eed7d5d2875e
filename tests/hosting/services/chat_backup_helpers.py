"""Helpers that upload chat backups through the services."""

from collections.abc import Mapping
from pathlib import Path

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.services import chat_uploads
from holdfast.hosting.services.chat_uploads import ChosenFile, ChosenFiles
from holdfast.hosting.store.chat_backups import ChatBackup

__all__ = ["begun", "send", "uploaded"]


def begun(app: App, actor: Actor, name: str, sizes: Mapping[str, int], *, is_folder: bool = False) -> ChatBackup:
    """Begin an upload."""
    files = [ChosenFile(path, size) for path, size in sizes.items()]
    return chat_uploads.begin(app, actor, ChosenFiles(name, files, is_folder))


def send(  # noqa: PLR0917  # as short as the tests that are full of it
    app: App, actor: Actor, upload: ChatBackup, position: int, offset: int, content: bytes
) -> int:
    """Send a chunk, as a request does."""
    path = Path(app.settings.data) / "chunk"
    path.write_bytes(content)
    try:
        return chat_uploads.add_chunk(app, actor, upload.uuid, position, offset=offset, path=path)
    finally:
        path.unlink()


def uploaded(app: App, actor: Actor, name: str, content: bytes) -> ChatBackup:
    """Upload a backup of one file."""
    upload = begun(app, actor, name, {name: len(content)})
    send(app, actor, upload, 0, 0, content)
    return chat_uploads.complete(app, actor, upload.uuid, kind="plain")
