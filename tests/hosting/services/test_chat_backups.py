"""Chat backups: permissions, shares and deletion."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    AccessDenied,
    Forbidden,
    InvalidField,
    InvalidValue,
    LoginRequired,
    NoSuchAccount,
    NoSuchChatBackup,
    TooManyAtOnce,
)
from holdfast.hosting.services import chat_backups, chat_uploads, users
from holdfast.hosting.storage.backup_lease import backup_lease
from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.chat_backups import ChatBackup
from holdfast.secret import Secret
from tests.hosting.repository_helpers import make_people
from tests.hosting.services.chat_backup_helpers import begun, uploaded

NAMES = ("ada", "bob", "eve", "admin")


@dataclass
class BackupScenario:
    """A backup of Ada, and the names of the users it is shared with."""

    app: App
    people: dict[str, Account]
    backup: ChatBackup
    readers: set[str] = field(default_factory=set)

    def actor(self, name: str) -> Actor:
        """Return a user as the actor of a request."""
        return Actor(self.people[name])


@pytest.fixture
def backup_scenario(app: App) -> BackupScenario:
    """Create the users and a backup."""
    created = dict(zip(("ada", "bob", "eve"), make_people(app.database, "ada", "bob", "eve"), strict=True))
    people = {**created, "admin": accounts.find_user(app.database, "admin")}
    return BackupScenario(app, people, uploaded(app, Actor(people["ada"]), "one", b"content"))


def is_refused(service: Callable[..., object], *arguments: object) -> bool:
    """Return whether a service raises NoSuchChatBackup."""
    try:
        service(*arguments)
    except NoSuchChatBackup:
        return True
    return False


def check_access(backup_scenario: BackupScenario) -> None:
    """Check that each user sees exactly what was shared with them."""
    app, uuid = backup_scenario.app, backup_scenario.backup.uuid
    for name in NAMES:
        actor = backup_scenario.actor(name)
        reads = name == "ada" or name in backup_scenario.readers
        assert is_refused(chat_backups.find, app, actor, uuid) is not reads
        assert is_refused(chat_backups.content_of, app, actor, backup_scenario.backup) is not reads
        assert is_refused(chat_backups.find_own, app, actor, uuid) is (name != "ada")
        assert is_refused(chat_backups.list_shares, app, actor, uuid) is (name != "ada")
        listed = chat_backups.list_visible(app, actor)
        assert [item.uuid for item in listed.own] == ([uuid] if name == "ada" else [])
        assert [item.uuid for item, _ in listed.shared] == ([uuid] if name in backup_scenario.readers else [])
    shared = chat_backups.list_shares(app, backup_scenario.actor("ada"), uuid)
    assert [item.name for item in shared] == sorted(backup_scenario.readers)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(["share", "unshare", "rename", "delete"]),
        st.sampled_from(["bob", "eve", "admin"]),
    ),
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(steps=STEPS)
def test_only_the_owner_changes_it_and_only_those_it_is_shared_with_read_it(
    backup_scenario: BackupScenario, steps: list[tuple[str, str, str]]
) -> None:
    """After any sequence of attempts only the owner has changed a backup; an administrator has no more rights."""
    app = backup_scenario.app
    for reader in list(backup_scenario.readers):
        chat_backups.unshare(
            app, backup_scenario.actor("ada"), backup_scenario.backup.uuid, backup_scenario.people[reader].id
        )
    backup_scenario.readers.clear()
    for name, deed, whom in steps:
        actor, uuid = backup_scenario.actor(name), backup_scenario.backup.uuid
        deeds: dict[str, Callable[[], object]] = {
            "share": partial(chat_backups.share, app, actor, uuid, whom),
            "unshare": partial(chat_backups.unshare, app, actor, uuid, backup_scenario.people[whom].id),
            "rename": partial(chat_backups.rename, app, actor, uuid, whom),
            "delete": partial(chat_backups.delete, app, actor, uuid),
        }
        assert is_refused(deeds[deed]) is (name != "ada")
        if name != "ada":
            continue
        if deed == "share":
            backup_scenario.readers.add(whom)
        elif deed == "unshare":
            backup_scenario.readers.discard(whom)
        elif deed == "delete":
            assert is_refused(chat_backups.find_own, app, actor, uuid)
            backup_scenario.backup = uploaded(app, backup_scenario.actor("ada"), "one", b"content")
            backup_scenario.readers.clear()
        check_access(backup_scenario)
    check_access(backup_scenario)


def test_tokens_visitors_and_impersonating_administrators_are_refused(backup_scenario: BackupScenario) -> None:
    """None of them can see, read or upload a backup, not even with a token of its owner."""
    app, uuid = backup_scenario.app, backup_scenario.backup.uuid
    ada, admin = backup_scenario.people["ada"], backup_scenario.people["admin"]
    token, _ = tokens.create_token(app.database, ada, "all", ("all",))
    for actor in (ANONYMOUS, Actor(ada, impersonated_by=admin), Actor(ada, token=token)):
        for attempt in (
            partial(chat_backups.find, app, actor, uuid),
            partial(chat_backups.find_own, app, actor, uuid),
            partial(chat_backups.list_visible, app, actor),
            partial(chat_backups.content_of, app, actor, backup_scenario.backup),
            partial(begun, app, actor, "x", {"x": 1}),
        ):
            with pytest.raises((AccessDenied, LoginRequired)):
                attempt()


def test_administrators_see_sizes_and_nobody_else_does(backup_scenario: BackupScenario) -> None:
    """The list of sizes includes uploads in progress, and users who are not administrators may not see it."""
    app = backup_scenario.app
    half = begun(app, backup_scenario.actor("bob"), "half", {"half": 5_000_000})
    assert is_refused(chat_backups.find, app, backup_scenario.actor("bob"), half.uuid)
    assert chat_backups.find_own(app, backup_scenario.actor("bob"), half.uuid) == half
    usage = chat_backups.list_usage(app, backup_scenario.actor("admin"), skip=0, limit=1)
    assert (usage.total, usage.size) == (2, 5_000_007)
    assert [(owner.name, item.state, item.size) for item, owner in usage.found] == [
        ("bob", "uploading", 5_000_000)
    ]
    rest = chat_backups.list_usage(app, backup_scenario.actor("admin"), skip=1, limit=5)
    assert [(owner.name, item.state) for item, owner in rest.found] == [("ada", "complete")]
    with pytest.raises(Forbidden):
        chat_backups.list_usage(app, backup_scenario.actor("ada"), skip=0, limit=1)


def test_names_and_people_are_checked(backup_scenario: BackupScenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is not empty, has at most 255 characters and no control characters.

    A backup is shared with a limited number of visible users, and not with its owner.
    """
    app, ada, uuid = backup_scenario.app, backup_scenario.actor("ada"), backup_scenario.backup.uuid
    for name in ("", " ", "x" * 256):
        with pytest.raises(InvalidField):
            chat_backups.rename(app, ada, uuid, name)
    for name in ("a\nb", "a\ufffdb"):
        with pytest.raises(InvalidValue):
            chat_backups.rename(app, ada, uuid, name)
    assert chat_backups.rename(app, ada, uuid, " two ").name == "two"
    accounts.create_user(app.database, "hidden", Secret("long enough"), visibility="private")
    for name in ("nobody", "hidden"):
        with pytest.raises(NoSuchAccount):
            chat_backups.share(app, ada, uuid, name)
    with pytest.raises(InvalidValue):
        chat_backups.share(app, ada, uuid, "Ada")
    monkeypatch.setattr(chat_backups, "MOST_SHARES", 1)
    chat_backups.share(app, ada, uuid, "bob")
    chat_backups.share(app, ada, uuid, "bob")
    with pytest.raises(TooManyAtOnce):
        chat_backups.share(app, ada, uuid, "eve")


def test_a_deleted_backup_leaves_no_bytes(backup_scenario: BackupScenario) -> None:
    """A deleted backup leaves no bytes in the object store.

    While a backup of the whole service is made, which may need them, they stay; garbage collection deletes them
    later.
    """
    app, ada = backup_scenario.app, backup_scenario.actor("ada")
    assert len(list(chat_uploads.stored(app))) == 1
    with backup_lease(app.database):
        chat_backups.delete(app, ada, backup_scenario.backup.uuid)
        assert len(list(chat_uploads.stored(app))) == 1
    ((number, part),) = chat_uploads.stored(app)
    assert chat_uploads.collect_garbage(app, now=part.written_at + chat_uploads.GRACE - 1) == 0
    assert chat_uploads.collect_garbage(app, now=part.written_at + chat_uploads.GRACE + 1) == 1
    other = uploaded(app, ada, "other", b"more")
    assert number not in dict(chat_uploads.stored(app))
    chat_backups.delete(app, ada, other.uuid)
    assert list(chat_uploads.stored(app)) == []


def test_the_backups_of_a_deleted_user_go_with_them(backup_scenario: BackupScenario) -> None:
    """The rows of the backups are deleted with the user, and garbage collection deletes the bytes later."""
    app = backup_scenario.app
    chat_backups.share(app, backup_scenario.actor("ada"), backup_scenario.backup.uuid, "bob")
    users.delete(app, backup_scenario.actor("admin"), backup_scenario.people["ada"])
    assert chat_backups.list_visible(app, backup_scenario.actor("bob")).shared == []
    assert chat_backups.list_usage(app, backup_scenario.actor("admin"), skip=0, limit=1).total == 0
    ((_, part),) = chat_uploads.stored(app)
    assert chat_uploads.collect_garbage(app, now=part.written_at + chat_uploads.GRACE + 1) == 1
