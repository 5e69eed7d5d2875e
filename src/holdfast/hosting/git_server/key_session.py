"""Access with an SSH key: to the repositories of its user, or to the one repository of a deploy key."""

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Actor, Mode, Permissions
from holdfast.hosting.app import App
from holdfast.hosting.authentication import check_state
from holdfast.hosting.errors import NoSuchRepository
from holdfast.hosting.git_server.session import find_repository, only_branches, require_code
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.services.repositories import permissions_in
from holdfast.hosting.store import accounts, ssh_keys
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.ssh_keys import SshKey

__all__ = ["KeySession", "current_key", "key_user", "open_key_session"]


class KeySession(msgspec.Struct, frozen=True):
    """The repository of a session that was opened with an SSH key, and the key's permissions in it."""

    key: SshKey
    repository: Repository
    permissions: Permissions
    user: Account
    """The user of the key; for a deploy key the owner of the repository, as whom its pushes are recorded."""
    only_branches: frozenset[str] | None = None
    """The branches that may be pushed to as a maintainer of a pull request's base; None for all refs."""

    @property
    def is_deploy_key(self) -> bool:
        """Whether the key belongs to the repository."""
        return self.key.repository_id is not None


def current_key(app: App, number: int, fingerprint: str) -> SshKey:
    """Return the stored key; raise a 401 error if it was deleted, even if it was added again since."""
    stored = ssh_keys.key_by_fingerprint(app.database, fingerprint)
    if stored is None or stored.id != number:
        raise ApiError(401, "this key was removed")
    return stored


def key_user(app: App, key: SshKey) -> Account | None:
    """Return the user of a key, who must be allowed to log in; None for a deploy key."""
    if key.user_id is None:
        return None
    user = accounts.account_by_id(app.database, key.user_id)
    if user is None:
        raise ApiError(401, "this key was removed")
    check_state(Actor(user))
    return user


def open_key_session(
    app: App, number: int, fingerprint: str, owner: str, name: str, *, writing: bool
) -> KeySession:
    """Check the permissions of a key in a repository; a repository its user may not read gives 404."""
    key = current_key(app, number, fingerprint)
    user = key_user(app, key)
    try:
        repository = find_repository(app.database, owner, name)
    except NoSuchRepository:
        raise ApiError(404, "repository not found") from None
    only: frozenset[str] | None = None
    if user is not None:
        may = permissions_in(app, Actor(user), repository)
        only = only_branches(app, Actor(user), repository, may) if writing else None
    elif key.repository_id == repository.id:
        may = access.deploy_key_access(repository, writes=not key.is_read_only)
        user = repository.owner
    else:
        raise ApiError(404, "repository not found; a deploy key gives access to one repository only")
    if may.mode == Mode.NONE:
        raise ApiError(404, "repository not found")
    if writing and key.is_read_only:
        raise ApiError(403, "this deploy key may only read")
    require_code(repository, may, writing=writing, only_branches=only)
    return KeySession(key, repository, may, user, only)
