"""Permissions of the sessions of user keys and deploy keys."""

import pytest

from holdfast.hosting.access import Actor, RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.git_server.key_session import KeySession, open_key_session
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.services import file_commits, forks, pulls, repositories
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import FileCommit
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts, ssh_keys
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.ssh_keys import SshKey
from tests.hosting.repository_helpers import make_people, make_repository
from tests.hosting.ssh_server import add_deploy_key, add_user_key


@pytest.fixture
def ada(app: App) -> Account:
    """Return a user."""
    return make_people(app.database, "ada")[0]


def key_of(app: App, user: Account) -> SshKey:
    """Give a user a key."""
    add_user_key(app, user)
    return ssh_keys.keys_of(app.database, user, skip=0, limit=1)[0][0]


def open_session(app: App, key: SshKey, repository: Repository, *, writing: bool) -> KeySession | int:
    """Open a session, or return the status of the refusal."""
    try:
        return open_key_session(
            app, key.id, key.fingerprint, repository.owner.name, repository.name, writing=writing
        )
    except ApiError as refusal:
        return refusal.status


@pytest.mark.parametrize("columns", [{"archived_at": 1}, {"is_mirror": True}])
def test_archived_repositories_and_mirrors_are_read_only(app: App, ada: Account, columns: dict[str, int]) -> None:
    """The key of the owner may read an archived repository or a mirror, and a write gets 403."""
    repository = make_repository(app.database, ada, "ship", **columns)
    key = key_of(app, ada)
    assert isinstance(open_session(app, key, repository, writing=False), KeySession)
    assert open_session(app, key, repository, writing=True) == 403


def test_a_repository_with_disabled_code_is_not_served(app: App, ada: Account) -> None:
    """A repository without code gives 403 to the key of its owner and to a deploy key."""
    repository = make_repository(app.database, ada, has_code=False)
    for key in (key_of(app, ada), add_deploy_key(app, repository)[1]):
        assert open_session(app, key, repository, writing=False) == 403


def test_a_maintainer_of_the_base_pushes_to_the_head_branch_of_a_fork(app: App, ada: Account) -> None:
    """A maintainer of the base may push to that branch only, a writer of the fork to all, and others to none."""
    bob, eve = make_people(app.database, "bob", "eve")
    base = repositories.create(app, ada, ada, NewRepository(name="ship"), {"a": b"a"})
    fork = forks.fork(app, Actor(bob), access_of(app, bob, base))
    change = FileChange(operation="create", path="b", content=FileContent(b"b"))
    file_commits.commit(app, Actor(bob), access_of(app, bob, fork), FileCommit(changes=[change], new_branch="fix"))
    draft = IssueDraft(title="Fix")
    pulls.create(
        app, Actor(bob), access_of(app, bob, base), draft, head="bob:fix", base="main", allow_maintainer_edit=True
    )
    session = open_session(app, key_of(app, ada), fork, writing=True)
    assert isinstance(session, KeySession)
    assert session.only_branches == frozenset({"fix"})
    own = open_session(app, key_of(app, bob), fork, writing=True)
    assert isinstance(own, KeySession)
    assert own.only_branches is None
    assert open_session(app, key_of(app, eve), fork, writing=True) == 403
    assert isinstance(open_session(app, key_of(app, eve), fork, writing=False), KeySession)


def access_of(app: App, person: Account, repository: Repository) -> RepositoryAccess:
    """Return a repository with the permissions of a user."""
    return RepositoryAccess(repository, repositories.permissions_in(app, Actor(person), repository))


def test_a_deploy_key_may_do_nothing_but_code(app: App, ada: Account) -> None:
    """The session of a deploy key has the owner as its user, but may read only the code and is no admin."""
    repository = make_repository(app.database, ada, is_private=True)
    session = open_session(app, add_deploy_key(app, repository)[1], repository, writing=True)
    assert isinstance(session, KeySession)
    assert (session.user.id, session.is_deploy_key, session.permissions.is_admin) == (ada.id, True, False)
    assert [unit for unit in Unit if session.permissions.may_read(unit)] == [Unit.CODE]


def test_a_former_name_is_served(app: App, ada: Account) -> None:
    """A repository is found over SSH under the former name of its owner, as over HTTP."""
    repository = make_repository(app.database, ada)
    key = key_of(app, ada)
    accounts.rename_account(app.database, ada, "lovelace")
    session = open_session(app, key, repository, writing=True)
    assert isinstance(session, KeySession)
    assert session.repository.owner.name == "lovelace"
