"""Keys of encrypted archives equal those that SQLCipher derives."""

import os
import shutil
from pathlib import Path

import pytest

from holdfast.backup.archives.passphrases import LONGEST, SALT, ArchiveKey, derive_key, is_encrypted, make_key
from holdfast.backup.errors import PassphraseRefused
from holdfast.backup.file_types import ENCRYPTED_ARCHIVE
from tests.backup.archives.histories import PASSPHRASE


def test_a_program_that_has_sqlcipher_opens_an_archive_by_its_passphrase(encrypted_file: Path) -> None:
    """SQLCipher opens an archive with the passphrase and no other settings, without Holdfast."""
    dbapi2 = pytest.importorskip("sqlcipher3.dbapi2")
    connection = dbapi2.connect(str(encrypted_file))
    connection.execute(f"PRAGMA key = '{PASSPHRASE}'")
    assert connection.execute("SELECT count(*) FROM messages").fetchone() == (400,)
    connection.close()


def test_a_key_has_a_salt_of_its_own_that_marks_the_file(encrypted_file: Path) -> None:
    """Two keys of one passphrase differ by their salts, which mark a file as an encrypted archive."""
    key, other = make_key(PASSPHRASE), make_key(PASSPHRASE)
    assert key.salt != other.salt
    assert key.key != other.key
    assert len(key.salt) == SALT
    assert key.salt.startswith(ENCRYPTED_ARCHIVE)
    assert is_encrypted(encrypted_file.read_bytes()[:SALT])
    assert not is_encrypted(b"SQLite format 3\x00")
    assert derive_key(PASSPHRASE, key.salt) == key


def test_letters_of_two_code_points_are_those_of_one() -> None:
    """A composed and a decomposed umlaut in a passphrase give the same key."""
    salt = os.urandom(SALT)
    assert derive_key("Übermorgen", salt) == derive_key("U\u0308bermorgen", salt)


def test_the_shortest_and_the_longest_passphrase_are_accepted() -> None:
    """Passphrases of eight characters and of 4,096 bytes are accepted."""
    assert make_key("u\u0308" * 8).key
    assert make_key("x" * LONGEST).key


@pytest.mark.parametrize("passphrase", ["", "seven c", "u\u0308" * 7, "x" * (LONGEST + 1)])
def test_what_is_too_short_or_too_long_is_refused(passphrase: str) -> None:
    """The error of a refused passphrase names the limit and does not repeat the passphrase."""
    with pytest.raises(PassphraseRefused, match=r"fewer than 8 characters|more than 4,096 bytes") as refused:
        make_key(passphrase)
    assert not passphrase or passphrase not in str(refused.value)


def test_neither_key_nor_salt_is_in_the_repr() -> None:
    """Neither `repr` nor `str` of an archive key shows the key or its salt."""
    key = make_key(PASSPHRASE)
    text = f"{key!r} {key}"
    for value in (key.key, key.salt):
        assert value.hex() not in text
        assert repr(value) not in text


def test_a_key_fits_as_long_as_one_page_is_whole(encrypted_file: Path, tmp_path: Path) -> None:
    """A key fits if any page is intact, so damage is not mistaken for a wrong passphrase."""
    salt = encrypted_file.read_bytes()[:SALT]
    right, wrong = derive_key(PASSPHRASE, salt), derive_key("another passphrase", salt)
    copy = tmp_path / "copy.db"
    shutil.copy(encrypted_file, copy)
    assert right.fits(copy)
    assert not wrong.fits(copy)
    content = bytearray(copy.read_bytes())
    for start in range(0, len(content), 4096):
        content[start + 100] ^= 1
    copy.write_bytes(content)
    assert right.fits(copy) is False
    for start in (0, 4096, 4096 * 7):
        content[start + 100] ^= 1
        copy.write_bytes(content)
        assert right.fits(copy), f"the page at {start} is whole"
        content[start + 100] ^= 1
    content[4096 * 7 + 100] ^= 1
    copy.write_bytes(content)
    assert not ArchiveKey(right.key, wrong.salt[::-1]).fits(copy)
    copy.write_bytes(content[4096:])
    assert not right.fits(copy), "a page in another place is not the page"
