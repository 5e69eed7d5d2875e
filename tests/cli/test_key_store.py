"""Keys in the system keyring, through the `keyring` package."""

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail
from keyring.errors import KeyringLocked

from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.errors import ExtraMissing
from holdfast.cli import key_store
from tests.backup.streams import KEYS, MODERN_KEYS


class MemoryKeyring(KeyringBackend):
    """A keyring in memory."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # of another project
        self.stored: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        """Return the stored password."""
        if self.locked:
            raise KeyringLocked
        return self.stored.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        """Store."""
        if self.locked:
            raise KeyringLocked
        self.stored[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        """Remove."""
        del self.stored[service, username]


@pytest.fixture
def memory_keyring() -> Iterator[MemoryKeyring]:
    """Use a keyring in memory."""
    before = keyring.get_keyring()
    store = MemoryKeyring()
    keyring.set_keyring(store)
    yield store
    keyring.set_keyring(before)


@pytest.mark.parametrize("keys", [KEYS, MODERN_KEYS], ids=["pool and account", "with a token"])
def test_a_key_is_stored_read_and_removed(
    memory_keyring: MemoryKeyring, tmp_path: Path, keys: KeyMaterial
) -> None:
    """A key is stored for one folder only, read back whole, and deleted."""
    assert key_store.has_keyring()
    assert key_store.load_key(tmp_path) is None
    key_store.store_key(tmp_path, keys)
    assert key_store.load_key(tmp_path) == keys
    assert key_store.load_key(tmp_path / "other") is None
    assert key_store.delete_key(tmp_path)
    assert not key_store.delete_key(tmp_path)
    assert key_store.load_key(tmp_path) is None


def test_a_locked_keyring_stops_nothing_but_storing(memory_keyring: MemoryKeyring, tmp_path: Path) -> None:
    """With a locked keyring no key is loaded, and storing one is an error that does not show it."""
    memory_keyring.locked = True
    assert not key_store.has_keyring()
    assert key_store.load_key(tmp_path) is None
    with pytest.raises(key_store.KeyringFailed, match="--key-file") as raised:
        key_store.store_key(tmp_path, KEYS)
    assert KEYS.pool is not None
    assert KEYS.pool.reveal().decode() not in str(raised.value)


def test_what_is_no_key_is_not_used(memory_keyring: MemoryKeyring, tmp_path: Path) -> None:
    """A stored text that is no key is ignored."""
    memory_keyring.stored["holdfast", str(tmp_path.resolve())] = "a word"
    assert key_store.load_key(tmp_path) is None


def test_a_system_without_a_keyring_is_told_from_one_with(tmp_path: Path) -> None:
    """A system without a keyring, such as a server, has no stored keys."""
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())  # type: ignore[no-untyped-call]  # keyring has no annotations there
    try:
        assert not key_store.has_keyring()
        assert key_store.load_key(tmp_path) is None
    finally:
        keyring.set_keyring(before)


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package `keyring` the error names the extra, and no key is loaded."""
    monkeypatch.setitem(__import__("sys").modules, "keyring", None)
    with pytest.raises(ExtraMissing, match=r"holdfast\[keyring\]"):
        key_store.store_key(tmp_path, KEYS)
    assert key_store.load_key(tmp_path) is None
