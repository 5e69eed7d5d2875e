"""Sealing secrets the service must be able to read again: what the database keeps is of no use without the key.

The key is a line of text: in a file of the data folder that the first start makes, or in the setting `secret_key`,
or in both. With several keys the first one seals and all of them open, so a key can be replaced without losing
what the old one sealed.
"""

import base64
import os
import secrets
import tempfile
from pathlib import Path
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from holdfast.hosting.errors import KeyMissing, KeyUnusable, SealBroken
from holdfast.secret import Secret
from holdfast.settings import SHORTEST_KEY

__all__ = ["INSTANCE_FILE", "KEY_FILE", "Sealer", "make_key_file"]

KEY_FILE: Final = "secret.key"
PURPOSE: Final = b"holdfast: secrets at rest"
FINGERPRINT: Final = b"holdfast: key fingerprint"
# The data folder has it once a service was started on it, and then it has had its key.
INSTANCE_FILE: Final = "instance.json"


def make_key_file(path: Path) -> bool:
    """Make a key nobody else can read where there is none; return whether that was needed.

    Of several processes that start together one makes it, and it appears only when it is whole.
    """
    if path.exists():
        return False
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(32) + "\n")
                file.flush()
                os.fsync(file.fileno())
            os.link(name, path)
        finally:
            Path(name).unlink()
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except FileExistsError:
        return False
    except OSError as error:
        raise KeyUnusable(f"the key {path} cannot be made: {error.strerror}") from error
    return True


class Sealer:
    """Seals and opens texts with the keys of a service, which are read when the first text needs them."""

    def __init__(self, path: Path, given: Secret | None = None) -> None:
        self._path = path
        self._given = given
        self._keys: MultiFernet | None = None

    def seal(self, text: str) -> str:
        """Seal a text; nothing stays nothing."""
        if not text:
            return ""
        if self._given is None and not self._path.with_name(INSTANCE_FILE).exists():
            make_key_file(self._path)
        return self._loaded().encrypt(text.encode()).decode("ascii")

    def open(self, text: str) -> str:
        """Open what was sealed."""
        if not text:
            return ""
        try:
            return self._loaded().decrypt(text.encode()).decode()
        except InvalidToken:
            raise SealBroken(
                f"a secret was sealed with another key than the one in {self._path.name} or secret_key; "
                "bring that key back, or set the secret anew"
            ) from None

    def fingerprints(self) -> list[str]:
        """Return a fingerprint of each key, the one that seals first; no key can be found from it."""
        return [
            HKDF(SHA256(), 16, salt=None, info=FINGERPRINT).derive(key.encode()).hex() for key in self._lines()
        ]

    def _loaded(self) -> MultiFernet:
        """Read the keys, once."""
        if self._keys is None:
            self._keys = MultiFernet([self._derived(key) for key in self._lines()])
        return self._keys

    def _lines(self) -> list[str]:
        """Read the texts of all keys; there must be one."""
        lines = [] if self._given is None else self._given.reveal().split(",")
        try:
            lines += self._path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            pass
        except (OSError, UnicodeDecodeError) as error:
            raise KeyUnusable(f"the key {self._path} cannot be read") from error
        keys = [line.strip() for line in lines if line.strip()]
        if not keys:
            raise KeyMissing(f"there is no key in {self._path}; restore it from a backup")
        return keys

    def _derived(self, key: str) -> Fernet:
        """Make a key of the right size from a line of text."""
        if len(key) < SHORTEST_KEY:
            raise KeyUnusable(
                f"a key in {self._path.name} or secret_key is shorter than {SHORTEST_KEY} characters"
            )
        derived = HKDF(SHA256(), 32, salt=None, info=PURPOSE).derive(key.encode())
        return Fernet(base64.urlsafe_b64encode(derived))
