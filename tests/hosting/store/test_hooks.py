"""Webhooks in the database, by owner."""

import pytest

from holdfast.hosting.errors import GoneMeanwhile, NoSuchHook
from holdfast.hosting.store import hooks
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.hooks import HookOwner
from holdfast.hosting.store.repositories import add_repository

COLUMNS: dict[str, str | int | bool] = {
    "type": "gitea",
    "url": "https://ci.example",
    "content_type": "json",
    "events": "push",
}


def test_a_hook_is_found_only_under_its_owner(database: Database, ada: Account) -> None:
    """A hook is found with all its columns under its owner, and not under another owner or kind of owner."""
    owner = HookOwner("owner", ada.id)
    hook = hooks.add_hook(database, owner, COLUMNS)
    assert hooks.find_hook(database, owner, hook.id) == hook
    assert (hook.scope, hook.owner_id, hook.repository_id, hook.is_active) == ("owner", ada.id, None, False)
    for other in (HookOwner("repository", ada.id), HookOwner("owner", ada.id + 1), HookOwner("service")):
        with pytest.raises(NoSuchHook):
            hooks.find_hook(database, other, hook.id)


def test_a_hook_of_a_deleted_owner_is_not_created(database: Database) -> None:
    """A hook of a repository that does not exist raises GoneMeanwhile."""
    with pytest.raises(GoneMeanwhile):
        hooks.add_hook(database, HookOwner("repository", 999), COLUMNS)


def test_a_deleted_hook_cannot_be_changed(database: Database, ada: Account) -> None:
    """A deleted hook can neither be changed nor resumed, and deleting it again is no error."""
    owner = HookOwner("owner", ada.id)
    hook = hooks.add_hook(database, owner, COLUMNS)
    hooks.remove_hook(database, hook)
    hooks.remove_hook(database, hook)
    with pytest.raises(NoSuchHook):
        hooks.change_hook(database, owner, hook, {"name": "x"})
    with pytest.raises(NoSuchHook):
        hooks.resume_hook(database, owner, hook)


def test_the_total_is_right_on_every_page(database: Database, ada: Account) -> None:
    """The total is right on a full page, a page that is not full, and one beyond the end."""
    owner = HookOwner("owner", ada.id)
    assert hooks.hooks_of(database, owner, skip=0, limit=2) == ([], 0)
    created_hooks = [hooks.add_hook(database, owner, COLUMNS) for _ in range(3)]
    pages = [hooks.hooks_of(database, owner, skip=skip, limit=2) for skip in (0, 2, 4)]
    shown = [([item.id for item in entry], total) for entry, total in pages]
    assert shown == [([item.id for item in created_hooks[:2]], 3), ([created_hooks[2].id], 3), ([], 3)]


def test_copies_are_new_hooks(database: Database, ada: Account) -> None:
    """A new repository gets copies of the default hooks with their settings, a new id and a new time."""
    columns = {**COLUMNS, "name": "one", "secret": "sealed", "created_at": 1}
    pattern = hooks.add_hook(database, HookOwner("service"), columns)
    hooks.add_hook(database, HookOwner("service"), COLUMNS, is_system=True)
    with database.write() as connection:
        number = add_repository(connection, ada, "notes", default_branch="main")
        hooks.copy_defaults(connection, number)
    owner = HookOwner("repository", number)
    ((shown,), _) = hooks.hooks_of(database, owner, skip=0, limit=10)
    copy = hooks.find_hook(database, owner, shown.id)
    assert (copy.scope, copy.name, copy.secret, copy.url) == ("repository", "one", "sealed", pattern.url)
    assert copy.id != pattern.id
    assert copy.created_at > pattern.created_at
