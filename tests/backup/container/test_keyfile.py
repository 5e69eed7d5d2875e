"""Parsing of key files."""

import pytest

from holdfast.backup.container import keyfile
from holdfast.backup.container.keyfile import NAMES, read_keys
from holdfast.backup.container.keys import BackupKey, EntropyPool
from holdfast.backup.errors import KeyRefused

POOL = "dtjs858asj6tv0jzsqrsmj0ubp335pisj98e9ssnss8myoc08drhtcktyawvx45l"
BACKUP_KEY = "ea26a2ddb5dba5ef9e34e1b8dea1f5ae7f255306a6d2d883e542306eaa9fe985"
ACCOUNT = "659aa5f4-a28d-fcc1-1ea1-b997537a3d95"
TOKEN = "69207061737320746865206b6e69666520746f207468652061786f6c6f746c21"


def format_pool(pool: str) -> str:
    """Write a recovery key as an app shows it."""
    text = pool.upper().replace("O", "#").replace("0", "=")
    return " ".join(text[start : start + 4] for start in range(0, 64, 4))


@pytest.mark.parametrize(
    "text", [POOL, POOL.upper(), format_pool(POOL), f"\n  {format_pool(POOL)}\n", f"{POOL[:32]}\n{POOL[32:]}\n"]
)
def test_a_recovery_key_alone_is_enough(text: str) -> None:
    """A recovery key is read in groups or not, in upper or lower case, on one line or several."""
    assert read_keys(text).pool == EntropyPool.parse(POOL)


@pytest.mark.parametrize("text", [BACKUP_KEY, BACKUP_KEY.upper(), "6iai3bXbpe+eNOG43qH1rn8lUwam0tiD5UIwbqqf6YU="])
def test_a_backup_key_alone_is_told_from_a_recovery_key(text: str) -> None:
    """A backup key in hexadecimal or base64 is not taken for a recovery key."""
    assert read_keys(text).backup_key == BackupKey.parse(BACKUP_KEY)


def test_named_lines_give_everything_a_remote_backup_needs() -> None:
    """Named values separated by line breaks or semicolons give the keys of a modern container."""
    lines = [f"recovery-key = {format_pool(POOL)}", f"account-id: {ACCOUNT}", f"token={TOKEN}"]
    for separator in ("\n", ";", "\r\n"):
        keys = read_keys(separator.join(lines))
        assert keys.given() == ("pool", "aci", "token")
        assert keys.message_keys(modern=True).hmac.hex().startswith("20e6ab57")


def test_the_keys_of_the_container_can_be_given_themselves() -> None:
    """The HMAC key and the AES key of a container can be given in place of a recovery key."""
    keys = read_keys(f"hmac-key = {'ab' * 32}\naes-key = {'cd' * 32}")
    assert keys.message_keys(modern=False).aes == bytes([0xCD] * 32)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("", "no key"),
        ("  \n", "no key"),
        ("hmac-key = " + "ab" * 32, "both"),
        (f"{POOL}\nrecovery-key = {POOL}", "twice"),
        (f"account-id = {ACCOUNT}\naccount-id = {ACCOUNT}", "line 2 .* second time"),
        (f"account-id = {ACCOUNT[:-1]}", "account id is a UUID"),
        (POOL[:-1], "64 letters and digits, but 63"),
        (f"recovery-key = {POOL}\nbackup-key = {BACKUP_KEY}", "not both"),
        (f"{POOL}\nhunter2 = x", "line 2 has a name that is not known; the names are recovery-key, backup-key, "),
        (f"key: {BACKUP_KEY}\naccount: {ACCOUNT}", "line 1 has a name that is not known"),
        (f"Recovery-Key={POOL}", "line 1 has a name that is not known"),
        (f"account-id = {ACCOUNT}\n\nrecovery key: {POOL}", "line 3 has a name that is not known"),
        (
            f"# my phone\nrecovery-key = {POOL}",
            "line 1 has no name, and is not a recovery key: .* but 8 were given",
        ),
        (f"account-id = {ACCOUNT}\n{format_pool(POOL)[:-1]}", "line 2 has no name, .* but 63"),
        (format_pool(POOL)[:-1], "^a recovery key has 64 letters and digits, but 63"),
    ],
)
def test_what_cannot_be_a_key_is_refused_without_repeating_it(text: str, pattern: str) -> None:
    """The error says what is expected and does not show the text."""
    with pytest.raises(KeyRefused, match=pattern) as caught:
        read_keys(text)
    for secret in (POOL[:8], BACKUP_KEY[:8], ACCOUNT[:8], "hunter2"):
        assert secret not in str(caught.value)


def test_every_name_is_documented() -> None:
    """The docstring of the module, which the help shows, has all names of keys."""
    assert keyfile.__doc__ is not None
    for name in NAMES:
        if name != "recovery-key":
            assert name in keyfile.__doc__
