"""Encryption of secrets at rest, such as webhook secrets (Fernet, keys derived with HKDF).

Keys are lines of text: in the key file of the data folder, created at the first start, or in the setting
`secret_key`, or both. The first key encrypts and all decrypt, so a key can be rotated without losing secrets.
"""

import base64
import hashlib
import hmac
import os
import secrets
import tempfile
from pathlib import Path
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from holdfast.hosting.errors import DecryptionFailed, KeyMissing, KeyUnusable
from holdfast.secret import Secret
from holdfast.settings import SHORTEST_KEY

__all__ = ["INSTANCE_FILE", "KEY_FILE", "SecretCipher", "make_key_file"]

KEY_FILE: Final = "secret.key"
PURPOSE: Final = b"holdfast: secrets at rest"
FINGERPRINT: Final = b"holdfast: key fingerprint"
# Exists once a service has been started with the data folder; from then on the key file must exist too.
INSTANCE_FILE: Final = "instance.json"


def make_key_file(path: Path) -> bool:
    """Create a key file readable only by its owner, if there is none; return whether it was created.

    Of several processes starting at once, one creates it; it is written atomically and synced (`fsync`).
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
        raise KeyUnusable(f"the key file {path} cannot be created: {error.strerror}") from error
    return True


class SecretCipher:
    """Encrypts and decrypts texts; the keys are loaded on first use."""

    def __init__(self, path: Path, configured: Secret | None = None) -> None:
        self._path = path
        self._configured = configured
        self._keys: MultiFernet | None = None

    def encrypt(self, text: str) -> str:
        """Encrypt a text; an empty text stays empty."""
        if not text:
            return ""
        if self._configured is None and not self._path.with_name(INSTANCE_FILE).exists():
            make_key_file(self._path)
        return self._loaded().encrypt(text.encode()).decode("ascii")

    def decrypt(self, text: str) -> str:
        """Decrypt a text."""
        if not text:
            return ""
        try:
            return self._loaded().decrypt(text.encode()).decode()
        except InvalidToken:
            raise DecryptionFailed(
                f"a secret was encrypted with another key than those in {self._path.name} and secret_key; "
                "restore that key, or set the secret again"
            ) from None

    def sign(self, purpose: bytes, content: bytes) -> bytes:
        """Return a signature (HMAC) of content given to clients, with a key derived for this purpose only."""
        return signature_of(self._lines()[0], purpose, content)

    def verify(self, purpose: bytes, content: bytes, signature: bytes) -> bool:
        """Return whether a signature was created by this instance, with any of the keys."""
        return any(hmac.compare_digest(signature_of(key, purpose, content), signature) for key in self._lines())

    def fingerprints(self) -> list[str]:
        """Return a fingerprint of each key, the encrypting one first; a key cannot be derived from it."""
        return [
            HKDF(SHA256(), 16, salt=None, info=FINGERPRINT).derive(key.encode()).hex() for key in self._lines()
        ]

    def _loaded(self) -> MultiFernet:
        """Load the keys once."""
        if self._keys is None:
            self._keys = MultiFernet([self._derived(key) for key in self._lines()])
        return self._keys

    def _lines(self) -> list[str]:
        """Read the key texts; raise `KeyMissing` if there is none."""
        lines = [] if self._configured is None else self._configured.reveal().split(",")
        try:
            lines += self._path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            pass
        except (OSError, UnicodeDecodeError) as error:
            raise KeyUnusable(f"the key file {self._path} cannot be read") from error
        keys = [line.strip() for line in lines if line.strip()]
        if not keys:
            raise KeyMissing(f"there is no key in {self._path}; restore it from a backup")
        return keys

    def _derived(self, key: str) -> Fernet:
        """Derive a Fernet key from a line of text."""
        if len(key) < SHORTEST_KEY:
            raise KeyUnusable(
                f"a key in {self._path.name} or secret_key is shorter than {SHORTEST_KEY} characters"
            )
        derived = HKDF(SHA256(), 32, salt=None, info=PURPOSE).derive(key.encode())
        return Fernet(base64.urlsafe_b64encode(derived))


def signature_of(key: str, purpose: bytes, content: bytes) -> bytes:
    """Sign content with a key derived for a purpose."""
    derived = HKDF(SHA256(), 32, salt=None, info=purpose).derive(key.encode())
    return hmac.digest(derived, content, hashlib.sha256)
