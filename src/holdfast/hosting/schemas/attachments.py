"""The schema of attached files."""

from urllib.parse import quote

import msgspec

from holdfast.hosting.schemas.git import repository_page
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store.attachments import Attachment
from holdfast.hosting.store.repositories import Repository

__all__ = ["AttachmentSchema", "attachment", "release_asset"]


class AttachmentSchema(msgspec.Struct, frozen=True):
    """A file attached to a release, an issue or a comment."""

    id: int
    name: str
    size: int
    download_count: int
    created_at: Time
    uuid: str
    browser_download_url: str


def encode(stored: Attachment, url: str) -> AttachmentSchema:
    """Encode a file with its download URL."""
    return AttachmentSchema(
        id=stored.id,
        name=stored.name,
        size=stored.size,
        download_count=stored.download_count,
        created_at=moment(stored.created_at),
        uuid=stored.uuid,
        browser_download_url=url,
    )


def attachment(viewer: Viewer, stored: Attachment) -> AttachmentSchema:
    """Encode a file of an issue or a comment."""
    return encode(stored, f"{viewer.root}/attachments/{stored.uuid}")


def release_asset(viewer: Viewer, repository: Repository, tag_name: str, stored: Attachment) -> AttachmentSchema:
    """Encode a file of a release, which is downloaded by tag and name."""
    page = repository_page(viewer, repository)
    return encode(stored, f"{page}/releases/download/{quote(tag_name)}/{quote(stored.name, safe='')}")
