"""Encryption of secrets at rest, and the key file."""

import threading
from pathlib import Path

import pytest

from holdfast.hosting.errors import DecryptionFailed, KeyMissing, KeyUnusable
from holdfast.hosting.store.encryption import SecretCipher, make_key_file
from holdfast.secret import Secret

OLD, NEW = Secret("o" * 40), Secret("n" * 40)


def test_encrypted_text_can_be_decrypted_and_not_read(tmp_path: Path) -> None:
    """Another cipher with the same key decrypts it, and encrypting twice gives different results."""
    cipher = SecretCipher(tmp_path / "key")
    encrypted = cipher.encrypt("hünter2")
    assert "hünter2" not in encrypted
    assert encrypted != cipher.encrypt("hünter2")
    assert SecretCipher(tmp_path / "key").decrypt(encrypted) == "hünter2"


def test_an_empty_text_stays_empty(tmp_path: Path) -> None:
    """An empty text is neither encrypted nor decrypted, and no key file is created for it."""
    cipher = SecretCipher(tmp_path / "key")
    assert cipher.encrypt("") == ""
    assert cipher.decrypt("") == ""
    assert not (tmp_path / "key").exists()


def test_the_key_file_is_private(tmp_path: Path) -> None:
    """The key file has mode 0600, and is the only file in its folder."""
    SecretCipher(tmp_path / "data" / "key").encrypt("x")
    assert (tmp_path / "data" / "key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["key"]


def test_processes_that_start_together_make_one_key(tmp_path: Path) -> None:
    """Of eight concurrent attempts to create the key file one succeeds."""
    created: list[bool] = []
    threads = [threading.Thread(target=lambda: created.append(make_key_file(tmp_path / "key"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(created) == [False] * 7 + [True]


def test_a_key_in_the_settings_needs_no_file(tmp_path: Path) -> None:
    """Machines without a common folder can share the key by the setting."""
    encrypted = SecretCipher(tmp_path / "one", OLD).encrypt("x")
    assert not (tmp_path / "one").exists()
    assert SecretCipher(tmp_path / "two", OLD).decrypt(encrypted) == "x"


def test_a_key_can_be_replaced(tmp_path: Path) -> None:
    """The first key encrypts, and all keys of the settings and that of the file decrypt."""
    by_file, by_old = (
        SecretCipher(tmp_path / "key").encrypt("x"),
        SecretCipher(tmp_path / "none", OLD).encrypt("y"),
    )
    both = SecretCipher(tmp_path / "key", Secret(f"{NEW.reveal()}, {OLD.reveal()}"))
    assert (both.decrypt(by_file), both.decrypt(by_old)) == ("x", "y")
    assert SecretCipher(tmp_path / "none", NEW).decrypt(both.encrypt("z")) == "z"


def test_a_wrong_key_is_reported(tmp_path: Path) -> None:
    """A wrong key and a missing key have errors that say what to do and do not contain the secret."""
    encrypted = SecretCipher(tmp_path / "none", OLD).encrypt("hunter2")
    with pytest.raises(DecryptionFailed, match="another key") as excinfo:
        SecretCipher(tmp_path / "none", NEW).decrypt(encrypted)
    assert "hunter2" not in str(excinfo.value)
    with pytest.raises(KeyMissing, match="restore it from a backup"):
        SecretCipher(tmp_path / "none").decrypt(encrypted)
    assert not (tmp_path / "none").exists(), "a new key would not open it either"


def test_a_damaged_key_is_reported(tmp_path: Path) -> None:
    """A short key, a key that is not text, and a path that cannot be created raise KeyUnusable."""
    path = tmp_path / "key"
    path.write_text("short\n")
    with pytest.raises(KeyUnusable, match="shorter than 32"):
        SecretCipher(path).encrypt("x")
    path.write_bytes(b"\xff" * 40)
    with pytest.raises(KeyUnusable, match="cannot be read"):
        SecretCipher(path).encrypt("x")
    with pytest.raises(KeyUnusable, match="cannot be created"):
        make_key_file(path / "below" / "a file")


def test_signatures_are_those_of_a_purpose_and_survive_a_new_key(tmp_path: Path) -> None:
    """The first key signs, all keys verify, and another purpose or content does not verify."""
    old = SecretCipher(tmp_path / "key", OLD)
    signature = old.sign(b"purpose", b"content")
    assert old.verify(b"purpose", b"content", signature)
    assert not old.verify(b"another", b"content", signature)
    assert not old.verify(b"purpose", b"Content", signature)
    assert not old.verify(b"purpose", b"content", b"")
    both = SecretCipher(tmp_path / "key", Secret(f"{NEW.reveal()},{OLD.reveal()}"))
    assert both.verify(b"purpose", b"content", signature)
    assert both.sign(b"purpose", b"content") != signature
    assert not SecretCipher(tmp_path / "key", NEW).verify(b"purpose", b"content", signature)
