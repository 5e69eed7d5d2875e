"""Making and removing repositories: the row in the database and the folder on disk, together or not at all."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.hosting.app import App
from holdfast.hosting.errors import Refused
from holdfast.hosting.git.commits import Signature, first_commit
from holdfast.hosting.git.folders import OBJECT_FORMATS, ObjectFormat
from holdfast.hosting.git.identities import commit_email, commit_name
from holdfast.hosting.git.refs import check_ref_name
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.store import dependencies, hooks
from holdfast.hosting.store import repositories as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Within
from holdfast.hosting.store.repository_events import note_creation, note_deletion
from holdfast.hosting.webhooks.payloads import DeletedEntity, before_deleting

__all__ = ["NewRepository", "create", "remove"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRepository:
    """What a new repository is to be."""

    name: str
    description: str = ""
    is_private: bool = False
    is_template: bool = False
    default_branch: str = "main"
    object_format: ObjectFormat = "sha1"


def create(
    app: App, owner: Account, actor: Account, wanted: NewRepository, files: Mapping[str, bytes] | None = None
) -> store.Repository:
    """Make a repository, with a first commit of some files; the folder is there before anybody finds the row."""
    check_ref_name(wanted.default_branch)
    if wanted.object_format not in OBJECT_FORMATS:
        raise Refused(f"this server cannot keep {wanted.object_format} repositories")
    with app.database.write() as connection:
        number = store.add_repository(
            connection,
            owner,
            wanted.name,
            description=wanted.description,
            is_private=wanted.is_private,
            is_template=wanted.is_template,
            default_branch=wanted.default_branch,
            object_format=wanted.object_format,
            is_empty=not files,
            branch_count=1 if files else 0,
        )
        # A folder of this id can only be what an attempt left behind whose row was never kept.
        app.folders.delete(number)
        folder = app.folders.create(
            number, default_branch=wanted.default_branch, object_format=wanted.object_format
        )
        if files:
            now = int(time.time())
            author = Signature(commit_name(actor), commit_email(actor), now, 0)
            first_commit(
                open_repository(folder),
                files,
                author=author,
                committer=author,
                message="Initial commit",
                branch=wanted.default_branch,
            )
        hooks.copy_defaults(connection, number)
        note_creation(connection, number, owner, actor)
    return store.repository_by_id(app.database, number)


def remove(app: App, repository: store.Repository, actor: Account) -> None:
    """Delete a repository: nobody can find it any more, then its bytes go."""
    settle = before_deleting(app, DeletedEntity(repository_id=repository.id))
    with app.database.write() as connection:
        dependencies.leave_graph(connection, [repository.id], actor)
        store.lock_row(connection, repository)
        settle(connection)
        kept = store.repository_by_id(Within(app.database, connection), repository.id)
        note_deletion(connection, kept, actor)
        store.remove_row(connection, repository)
    app.folders.delete(repository.id)
