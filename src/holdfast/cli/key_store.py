"""Keys of backup folders and passphrases of archives in the system's keyring; needs the extra `keyring`."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from holdfast.backup import KeyMaterial, read_keys
from holdfast.backup.container.keyfile import write_keys
from holdfast.backup.errors import ExtraMissing, KeyRefused
from holdfast.errors import HoldfastError

__all__ = [
    "KeyringFailed",
    "delete_key",
    "delete_passphrase",
    "has_keyring",
    "load_key",
    "load_passphrase",
    "store_key",
    "store_passphrase",
]

SERVICE: Final = "holdfast"
# An account name that is looked up only to probe whether the system has a working keyring.
PROBE: Final = "is there a keyring"


class KeyringFailed(HoldfastError):
    """The system has no keyring, or it is locked or denied access."""


def open_keyring() -> Any:
    """Import the package `keyring`, which selects the keyring of this system."""
    try:
        return import_module("keyring")
    except ModuleNotFoundError:
        raise ExtraMissing("storing a key needs the package keyring: pip install 'holdfast[keyring]'") from None


def has_keyring() -> bool:
    """Return whether the package is installed and the system has a working keyring."""
    try:
        open_keyring().get_password(SERVICE, PROBE)
    except Exception:  # noqa: BLE001  # each keyring fails in its own way
        return False
    return True


def load_key(folder: Path) -> KeyMaterial | None:
    """Return the stored key of a folder; None if there is none, or no keyring."""
    text = load(account_of(folder))
    try:
        return read_keys(text) if text else None
    except KeyRefused:
        return None


def store_key(folder: Path, keys: KeyMaterial) -> None:
    """Store the key of a folder."""
    store(account_of(folder), write_keys(keys), "the key", "--key-file")


def delete_key(folder: Path) -> bool:
    """Delete the key of a folder; return whether there was one."""
    return delete(account_of(folder), "the key")


def load_passphrase(archive: Path) -> str | None:
    """Return the stored passphrase of an archive; None if there is none, or no keyring."""
    return load(archive_account(archive))


def store_passphrase(archive: Path, passphrase: str) -> None:
    """Store the passphrase of an archive."""
    store(archive_account(archive), passphrase, "the passphrase", "--passphrase-file")


def delete_passphrase(archive: Path) -> bool:
    """Delete the passphrase of an archive; return whether there was one."""
    return delete(archive_account(archive), "the passphrase")


def load(account: str) -> str | None:
    """Return the secret of an account; None if there is none, or no keyring."""
    try:
        secret: str | None = open_keyring().get_password(SERVICE, account)
    except Exception:  # noqa: BLE001  # each keyring fails in its own way
        return None
    return secret


def store(account: str, secret: str, label: str, option: str) -> None:
    """Store the secret of an account."""
    keyring = open_keyring()
    try:
        keyring.set_password(SERVICE, account, secret)
    except Exception as error:  # noqa: BLE001  # each keyring fails in its own way
        raise KeyringFailed(
            f"{label} could not be stored in the system's keyring ({type(error).__name__}); use {option}"
        ) from None


def delete(account: str, label: str) -> bool:
    """Delete the secret of an account; return whether there was one."""
    keyring = open_keyring()
    try:
        if keyring.get_password(SERVICE, account) is None:
            return False
        keyring.delete_password(SERVICE, account)
    except Exception as error:  # noqa: BLE001  # each keyring fails in its own way
        raise KeyringFailed(
            f"{label} could not be removed from the system's keyring ({type(error).__name__})"
        ) from None
    return True


def account_of(folder: Path) -> str:
    """Return the account name of the key of a folder."""
    return os.path.realpath(folder)


def archive_account(archive: Path) -> str:
    """Return the account name of the passphrase of an archive."""
    return f"archive {os.path.realpath(archive)}"
