"""The schema of releases."""

from collections.abc import Sequence
from urllib.parse import quote

import msgspec

from holdfast.hosting.schemas.attachments import AttachmentSchema, release_asset
from holdfast.hosting.schemas.git import repository_api, repository_page
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.schemas.users import UserSchema, user
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.attachments import Attachment
from holdfast.hosting.store.releases import Release
from holdfast.hosting.store.repositories import Repository

__all__ = ["ReleaseSchema", "release"]


class ReleaseSchema(msgspec.Struct, frozen=True):
    """A release with its files."""

    id: int
    tag_name: str
    target_commitish: str
    name: str
    body: str
    url: str
    html_url: str
    tarball_url: str
    zipball_url: str
    upload_url: str
    draft: bool
    prerelease: bool
    created_at: Time
    published_at: Time
    author: UserSchema
    assets: list[AttachmentSchema]


def release(
    viewer: Viewer, repository: Repository, stored: Release, author: Account | None, assets: Sequence[Attachment]
) -> ReleaseSchema:
    """Encode a release."""
    page, tag = repository_page(viewer, repository), quote(stored.tag_name)
    url = f"{repository_api(viewer, repository)}/releases/{stored.id}"
    return ReleaseSchema(
        id=stored.id,
        tag_name=stored.tag_name,
        target_commitish=stored.target,
        name=stored.name,
        body=stored.body,
        url=url,
        html_url=f"{page}/releases/tag/{tag}",
        tarball_url=f"{page}/archive/{tag}.tar.gz",
        zipball_url=f"{page}/archive/{tag}.zip",
        upload_url=f"{url}/assets",
        draft=stored.is_draft,
        prerelease=stored.is_prerelease,
        created_at=moment(stored.created_at),
        published_at=moment(stored.published_at),
        author=user(viewer, author),
        assets=[release_asset(viewer, repository, stored.tag_name, attachment) for attachment in assets],
    )
