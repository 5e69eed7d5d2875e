"""Release attachments: upload, rename and delete them with write access to releases."""

from pathlib import Path

from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.services import attachments as files
from holdfast.hosting.services.releases import require_release_write
from holdfast.hosting.store import attachments
from holdfast.hosting.store.attachments import Attachment
from holdfast.hosting.store.releases import Release, holder_of

__all__ = ["add", "delete", "find", "rename"]


def find(app: App, release: Release, number: int) -> Attachment:
    """Return a file of a release by id."""
    return attachments.find_attachment(app.database, holder_of(release), number)


def add(
    app: App, actor: Actor, target: RepositoryAccess, release: Release, *, name: str, path: Path
) -> Attachment:
    """Add a file to a release; its name must be unique in the release."""
    user = require_release_write(actor, target)
    return files.add(app, target, user, holder_of(release), name=name, path=path)


def rename(app: App, actor: Actor, target: RepositoryAccess, asset: Attachment, name: str) -> Attachment:
    """Rename a file of a release."""
    require_release_write(actor, target)
    return attachments.rename_attachment(app.database, asset, files.check_file_name(name))


def delete(app: App, actor: Actor, target: RepositoryAccess, asset: Attachment) -> None:
    """Delete a file of a release."""
    require_release_write(actor, target)
    attachments.delete_attachment(app.database, asset)
