"""Keys of encrypted archives, derived from a passphrase as in SQLCipher 4.

An encrypted archive is a SQLCipher 4 database with default settings, which any program with SQLCipher opens with
the passphrase. Its first 16 bytes are the salt. The salts of archives begin with a fixed mark, by which they are
distinguished from other files of random bytes.
"""

import hashlib
import hmac
import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast.backup.archives.shared_file import hold
from holdfast.backup.errors import PassphraseRefused
from holdfast.backup.file_types import ENCRYPTED_ARCHIVE
from holdfast.redacted_repr import redacted

__all__ = ["SALT", "ArchiveKey", "derive_key", "is_encrypted", "make_key"]

SALT: Final = 16
# The defaults of SQLCipher 4.
ITERATIONS: Final = 256_000
PAGE: Final = 4096
TAG: Final = 64
HMAC_ITERATIONS: Final = 2
HMAC_SALT_MASK: Final = 0x3A
# Minimum of a new passphrase in characters, and maximum of any in bytes.
SHORTEST: Final = 8
LONGEST: Final = 4096
# How many pages are checked to distinguish damage from a wrong passphrase.
SAMPLED: Final = 64


@redacted
@dataclass(frozen=True, slots=True)
class ArchiveKey:
    """The key of an archive with its salt; its repr shows neither."""

    key: bytes
    salt: bytes

    def literal(self) -> str:
        """Return the raw key in the syntax of SQLCipher, which skips the derivation."""
        return f"x'{self.key.hex()}{self.salt.hex()}'"

    def fits(self, path: Path) -> bool:
        """Return whether the HMAC of any of some pages of the archive matches the key."""
        mac_key = hashlib.pbkdf2_hmac(
            "sha512", self.key, bytes(byte ^ HMAC_SALT_MASK for byte in self.salt), HMAC_ITERATIONS, len(self.key)
        )
        with hold(path) as file:
            pages = file.size // PAGE
            for number in range(0, pages, max(1, pages // SAMPLED)):
                page = file.read(PAGE, number * PAGE)[SALT if number == 0 else 0 :]
                tag = hmac.digest(mac_key, page[:-TAG] + (number + 1).to_bytes(4, "little"), "sha512")
                if hmac.compare_digest(tag, page[-TAG:]):
                    return True
        return False


def is_encrypted(head: bytes) -> bool:
    """Return whether the first bytes of a file are those of an encrypted archive."""
    return head.startswith(ENCRYPTED_ARCHIVE)


def make_key(passphrase: str) -> ArchiveKey:
    """Derive a key with a new salt; raise `PassphraseRefused` if the passphrase is too short."""
    if len(unicodedata.normalize("NFC", passphrase)) < SHORTEST:
        raise PassphraseRefused(
            f"the passphrase has fewer than {SHORTEST} characters; six words that have nothing to do with one "
            "another are a good one"
        )
    return derive_key(passphrase, ENCRYPTED_ARCHIVE + os.urandom(SALT - len(ENCRYPTED_ARCHIVE)))


def derive_key(passphrase: str, salt: bytes) -> ArchiveKey:
    """Derive the key of an archive with PBKDF2, which takes a fifth of a second."""
    # Input methods differ in whether they compose characters (NFC or NFD).
    secret = unicodedata.normalize("NFC", passphrase).encode(errors="surrogatepass")
    if len(secret) > LONGEST:
        raise PassphraseRefused(f"the passphrase has more than {LONGEST:,} bytes")
    return ArchiveKey(hashlib.pbkdf2_hmac("sha512", secret, salt, ITERATIONS, 32), salt)
