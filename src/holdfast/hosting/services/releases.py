"""Releases: create, edit, publish and delete them, each with its tag."""

import time
from collections.abc import Callable
from typing import Final

import msgspec
from sqlalchemy.exc import IntegrityError

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchRelease, Outdated, RefMoved, ReleaseTaken
from holdfast.hosting.git import refs
from holdfast.hosting.git.commits import Signature, tag_content
from holdfast.hosting.git.identities import commit_email, commit_name
from holdfast.hosting.git.packs import PackedObject, object_id
from holdfast.hosting.services import ref_updates
from holdfast.hosting.services.fields import check_body, check_length, check_ref_field, check_required
from holdfast.hosting.services.retries import retry
from holdfast.hosting.services.revisions import open_latest, resolve_commit
from holdfast.hosting.storage.pack_files import new_pack
from holdfast.hosting.store import releases
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.prepared_statements import Link
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.releases import Release, ReleaseFields
from holdfast.hosting.store.repository_log import NewPack

__all__ = ["ReleaseEdit", "create", "delete", "edit", "find", "find_latest", "find_tagged", "may_see_drafts"]

NAME_LENGTH: Final = 255
TAG_LENGTH: Final = 100
BODY_LENGTH: Final = 2**20


class ReleaseEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Changes to a release; None keeps a value, and a version requires that the release still has it."""

    tag_name: str | None = None
    target: str | None = None
    name: str | None = None
    body: str | None = None
    is_draft: bool | None = None
    is_prerelease: bool | None = None
    version: str = ""


def may_see_drafts(target: RepositoryAccess) -> bool:
    """Return whether the actor may see drafts, which requires write access to releases."""
    return target.permissions.may_write(Unit.RELEASES)


def visible(target: RepositoryAccess, release: Release | None, name: str) -> Release:
    """Return a release if the actor may see it; otherwise raise the error of a missing release."""
    if release is None or (release.is_draft and not may_see_drafts(target)):
        raise NoSuchRelease(f"release does not exist [{name}]")
    return release


def find(app: App, target: RepositoryAccess, number: int) -> Release:
    """Return a release by id."""
    access.require_read(target, Unit.RELEASES)
    return visible(target, releases.find_release(app.database, target.repository, number), f"id: {number}")


def find_tagged(app: App, target: RepositoryAccess, tag_name: str) -> Release:
    """Return the release of a tag."""
    access.require_read(target, Unit.RELEASES)
    release = releases.find_by_tag(app.database, target.repository, tag_name)
    return visible(target, release, f"tag_name: {tag_name}")


def find_latest(app: App, target: RepositoryAccess) -> Release:
    """Return the newest release that is neither a draft nor a pre-release."""
    access.require_read(target, Unit.RELEASES)
    return visible(target, releases.latest_release(app.database, target.repository), "latest")


def require_release_write(actor: Actor, target: RepositoryAccess) -> Account:
    """Return the acting user; raise an error unless they may change the repository's releases."""
    access.require_read(target, Unit.RELEASES)
    access.require_unarchived(target)
    user = access.require_login(actor)
    access.require_write(target, Unit.RELEASES)
    return user


def check_fields(fields: ReleaseFields, current: Release | None = None) -> None:
    """Raise an error for invalid field values; those of `current` may stay: imports have no limits."""
    check_required(fields.tag_name, "TagName")
    if current is None or fields.tag_name != current.tag_name:
        check_ref_field(fields.tag_name, "TagName", TAG_LENGTH)
    if current is None or fields.name != current.name:
        check_length(fields.name, "Title", NAME_LENGTH)
    check_body(fields.body, BODY_LENGTH, "" if current is None else current.body, field="Note")
    if current is None or fields.target != current.target:
        check_length(fields.target, "Target", NAME_LENGTH)


def create(
    app: App, actor: Actor, target: RepositoryAccess, fields: ReleaseFields, *, tag_message: str = ""
) -> Release:
    """Create a release; its tag is created at the target unless it exists or the release is a draft.

    A tag with a message is annotated. The tag and the release are created in one transaction, and the tag again if
    it is deleted at the same time.
    """
    user = require_release_write(actor, target)
    check_fields(fields)
    check_length(tag_message, "TagMessage", BODY_LENGTH)
    if not fields.target:
        fields = msgspec.structs.replace(fields, target=target.repository.default_branch)

    def try_to_create() -> Release:
        return with_tag(
            app,
            target,
            user,
            fields,
            tag_message,
            lambda link: releases.add_release(link, target.repository, user, fields),
        )

    return retry(try_to_create)


def edit(app: App, actor: Actor, target: RepositoryAccess, release: Release, changes: ReleaseEdit) -> Release:
    """Edit a release; the tag is created if it is missing and the release is no longer a draft.

    The edit is applied to the current state of the release, so what another request has changed meanwhile is kept.
    Raises `Outdated` if a version is given and the release is not of it any more.
    """
    user = require_release_write(actor, target)

    def read_again() -> None:
        nonlocal release
        release = find(app, target, release.id)

    return retry(
        lambda: try_to_edit(app, target, user, release, changes),
        on=(Outdated, RefMoved),
        before_next=read_again,
    )


def try_to_edit(
    app: App, target: RepositoryAccess, user: Account, release: Release, changes: ReleaseEdit
) -> Release:
    """Edit a release; raise `Outdated` or `RefMoved` if another request has changed it, or its tag."""
    if changes.version not in {"", release.version}:
        raise Outdated("the release was changed in the meantime")
    names = ReleaseFields.__struct_fields__
    chosen = {name: value for name in names if (value := getattr(changes, name)) is not None}
    fields = ReleaseFields(**{**{name: getattr(release, name) for name in names}, **chosen})
    check_fields(fields, release)
    return with_tag(
        app,
        target,
        user,
        fields,
        "",
        lambda link: releases.change_release(link, target.repository, user, release, fields),
    )


def delete(app: App, actor: Actor, target: RepositoryAccess, release: Release) -> None:
    """Delete a release with its files; its tag stays."""
    user = require_release_write(actor, target)
    with app.database.quick_write() as link:
        releases.delete_release(link, target.repository, user, release)


def with_tag(  # noqa: PLR0917  # both callers name them in this order
    app: App,
    target: RepositoryAccess,
    user: Account,
    fields: ReleaseFields,
    tag_message: str,
    write: Callable[[Link], Release],
) -> Release:
    """Write a release, in one transaction with its tag if that is missing."""
    written: list[Release] = []

    def write_release(link: Link) -> None:
        written.append(write(link))

    repository = target.repository
    try:
        repo = None if fields.is_draft else open_latest(app, target)
        if repo is None or refs.tag(repo, fields.tag_name) is not None:
            with app.database.quick_write() as link:
                if repo is not None:
                    releases.require_tag(link, repository, fields.tag_name)
                write_release(link)
        else:
            refs.check_new_tag(fields.tag_name)
            at = resolve_commit(repo, target, fields.target)
            packs: list[NewPack] = []
            parents = [at]
            if tag_message.strip():
                tagger = Signature(commit_name(user), commit_email(user), int(time.time()), 0)
                content = tag_content(at, fields.tag_name, tagger, tag_message.strip())
                at = object_id("tag", content)
                packs = [new_pack([PackedObject("tag", content)])]
            update = RefUpdate(f"refs/tags/{fields.tag_name}", ref_updates.zero_id(repository), at)
            ref_updates.update_refs(
                app, repository, user, [update], packs=packs, parents=parents, within=write_release
            )
    except IntegrityError as error:
        # Concurrent requests on PostgreSQL.
        raise ReleaseTaken(f"release tag already exists [tag_name: {fields.tag_name}]") from error
    return written[0]
