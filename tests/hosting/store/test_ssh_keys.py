"""SSH keys in the database."""

import pytest

from holdfast.hosting.errors import GoneMeanwhile, NoSuchSshKey, SshKeyTaken
from holdfast.hosting.store import accounts, ssh_keys
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from tests.hosting.repository_helpers import make_repository


@pytest.fixture
def ada(database: Database) -> Account:
    """Create a user."""
    return accounts.create_user(database, "ada", Secret("a-password-for-tests"))


def test_a_fingerprint_is_unique_among_users_and_repositories(database: Database, ada: Account) -> None:
    """A key identifies who connects, so neither a user nor a repository can add it twice."""
    repository = make_repository(database, ada)
    key = ssh_keys.create_key(database, ada, title="a", content="ssh-ed25519 A", fingerprint="SHA256:a")
    for owner in (ada, repository):
        with pytest.raises(SshKeyTaken):
            ssh_keys.create_key(database, owner, title="b", content="ssh-ed25519 A", fingerprint="SHA256:a")
    assert ssh_keys.key_by_fingerprint(database, "SHA256:a") == key
    assert ssh_keys.key_by_fingerprint(database, "SHA256:b") is None


def test_keys_go_with_their_owner(database: Database, ada: Account) -> None:
    """The SSH keys of a deleted user are deleted, and none can be added."""
    ssh_keys.create_key(database, ada, title="a", content="ssh-ed25519 A", fingerprint="SHA256:a")
    accounts_before = ssh_keys.keys_of(database, ada, skip=0, limit=10)[1]
    with database.write() as connection:
        connection.exec_driver_sql(f"DELETE FROM users WHERE id = {ada.id}")
    assert (accounts_before, ssh_keys.key_by_fingerprint(database, "SHA256:a")) == (1, None)
    with pytest.raises(GoneMeanwhile):
        ssh_keys.create_key(database, ada, title="b", content="ssh-ed25519 B", fingerprint="SHA256:b")


def test_the_last_use_is_written_in_batches(database: Database, ada: Account) -> None:
    """A batch sets the time of the last use, and skips a key that was deleted meanwhile."""
    key = ssh_keys.create_key(database, ada, title="a", content="ssh-ed25519 A", fingerprint="SHA256:a")
    ssh_keys.note_use(database, {key.id: 1234, 999: 5})
    assert ssh_keys.find_key(database, ada, key.id).last_used_at == 1234
    ssh_keys.delete_key(database, key)
    with pytest.raises(NoSuchSshKey):
        ssh_keys.find_key(database, ada, key.id)


def test_the_first_host_keys_stay(database: Database) -> None:
    """A host key of a type that is stored already is not replaced, so that all machines use the same keys."""
    ssh_keys.add_host_keys(database, [("ssh-ed25519", "first"), ("ecdsa", "first")])
    ssh_keys.add_host_keys(database, [("ssh-ed25519", "second"), ("rsa", "second")])
    assert ssh_keys.host_keys(database) == {"ecdsa": "first", "rsa": "second", "ssh-ed25519": "first"}
