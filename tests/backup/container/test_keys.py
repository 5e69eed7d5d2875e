"""Key derivation, and keys without their value in the repr."""

import copy
import hashlib
import hmac
import pickle
import secrets
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.container.keys import (
    BackupId,
    BackupKey,
    CipherKeys,
    EntropyPool,
    ForwardSecrecyToken,
    KeyBytes,
    LocalMetadataKey,
    MasterKey,
    MediaId,
    MediaKeys,
    MediaRootKey,
    MessageKeys,
    remote_media_name,
)
from holdfast.backup.errors import KeyRefused
from tests.backup.container.vectors import METADATA_KEY_A, SET_A, SET_B, KeySet

KINDS = [BackupId, BackupKey, ForwardSecrecyToken, LocalMetadataKey, MasterKey, MediaId, MediaRootKey]


def hkdf(secret: bytes, info: bytes, size: int) -> bytes:
    """Derive a key with HKDF without salt: a second implementation of RFC 5869."""
    key = hmac.digest(bytes(32), secret, "sha256")
    out = block = b""
    while len(out) < size:
        block = hmac.digest(key, block + info + bytes([len(out) // 32 + 1]), "sha256")
        out += block
    return out[:size]


@pytest.mark.parametrize("vector", [SET_A, SET_B])
def test_everything_is_derived_as_published(vector: KeySet) -> None:
    """The published vectors fix the backup key, the backup id and the message keys of both layouts."""
    key = EntropyPool.parse(vector.pool).backup_key()
    backup_id = key.backup_id(vector.aci)
    legacy = key.message_keys(backup_id)
    modern = key.message_keys(backup_id, ForwardSecrecyToken.parse(vector.token))
    assert vector.backup_key == key.reveal().hex()
    assert vector.backup_id == backup_id.reveal().hex()
    assert vector.legacy == (legacy.hmac.hex(), legacy.aes.hex())
    assert vector.modern == (modern.hmac.hex(), modern.aes.hex())


def test_the_side_branches_are_derived_as_published() -> None:
    """The master key, the local metadata key and a media id of set A have the published values."""
    pool = EntropyPool.parse(SET_A.pool)
    key = pool.backup_key()
    media_id = MediaRootKey(key.reveal()).media_id("example")
    master = "cdfecb856b148ca1c7f7557904f1ec698d0ccc4d4d68ed4c58c74a21e5c1c6c1"
    assert master == pool.master_key().reveal().hex()
    assert key.local_metadata_key().reveal().hex() == METADATA_KEY_A
    assert media_id.reveal().hex() == "b0c9195e94e8d9b73c30463545c472"
    assert media_id.text() == "sMkZXpTo2bc8MEY1RcRy"


def test_the_modern_hmac_key_authenticates_as_published() -> None:
    """The MAC of the published text has the published value."""
    keys = MessageKeys.parse(hmac=SET_A.modern[0], aes=SET_A.modern[1])
    mac = hmac.digest(keys.hmac, b"abcdefghijklmnopqrstuvwxyz", "sha256")
    assert mac.hex() == "9cc04bb3286dfb4f3f2ba292c9ef192bbec3d8b244aa65e69341a935f61f4fda"


@given(st.binary(min_size=32, max_size=32), st.text())
def test_media_keys_follow_from_the_root_and_the_name(root: bytes, name: str) -> None:
    """The media id, the media keys and the thumbnail keys are derived with their own HKDF labels."""
    media_id = hkdf(root, b"20241007_SIGNAL_BACKUP_MEDIA_ID:" + name.encode(), 15)
    medium = hkdf(root, b"20241007_SIGNAL_BACKUP_ENCRYPT_MEDIA:" + media_id, 64)
    thumbnail = hkdf(root, b"20241030_SIGNAL_BACKUP_ENCRYPT_THUMBNAIL:" + media_id, 64)
    key = MediaRootKey(root)
    actual = key.media_id(name)
    assert media_id == actual.reveal()
    assert MediaKeys(hmac=medium[:32], aes=medium[32:]) == key.media_keys(actual)
    assert MediaKeys(hmac=thumbnail[:32], aes=thumbnail[32:]) == key.thumbnail_keys(actual)


def test_a_remote_medium_is_named_after_content_and_key() -> None:
    """A remote name is the hash and the key in hexadecimal, with a suffix for the thumbnail."""
    digest = hashlib.sha256(b"hello world").digest()
    name = remote_media_name(digest, bytes(64))
    assert name == digest.hex() + "00" * 64
    assert remote_media_name(digest, bytes(64), thumbnail=True) == f"{name}_thumbnail"


@pytest.mark.parametrize("kind", KINDS)
def test_no_key_prints_its_value(kind: type[KeyBytes]) -> None:
    """`repr` and `str` mask the value of a key, and pickling or copying it is an error."""
    value = secrets.token_bytes(kind.SIZE)
    key = kind(value)
    assert repr(key) == f"{kind.__name__}('********')" == str(key)
    for leak in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="a key cannot be serialised"):
            leak(key)


def test_key_pairs_and_pools_print_nothing_either() -> None:
    """`repr` masks key pairs and pools too, and a pair cannot be pickled."""
    assert repr(EntropyPool.parse(SET_A.pool)) == "EntropyPool('********')"
    assert repr(MessageKeys.split(bytes(64))) == "MessageKeys('********')"
    with pytest.raises(TypeError, match="a key cannot be serialised"):
        pickle.dumps(MessageKeys.split(bytes(64)))


@pytest.mark.parametrize("kind", KINDS)
def test_keys_are_values(kind: type[KeyBytes]) -> None:
    """Two keys of the same kind and bytes are equal, hash alike and cannot be changed."""
    value = secrets.token_bytes(kind.SIZE)
    assert kind(value) == kind.parse(value.hex())
    assert len({kind(value), kind(value), kind(bytes(kind.SIZE))}) == 2
    with pytest.raises(FrozenInstanceError):
        kind(value)._value = b""  # type: ignore[misc]  # assignment must fail


def test_keys_of_two_kinds_are_never_equal() -> None:
    """A token is not a backup key, whatever its bytes are."""
    keys: set[KeyBytes] = {ForwardSecrecyToken(bytes(32)), BackupKey(bytes(32))}
    pairs: set[CipherKeys] = {MessageKeys.split(bytes(64)), MediaKeys.split(bytes(64))}
    assert (len(keys), len(pairs)) == (2, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_of_another_length_is_refused(kind: type[KeyBytes]) -> None:
    """The error has the expected and the given number of bytes."""
    with pytest.raises(KeyRefused) as caught:
        kind(bytes(kind.SIZE + 1))
    assert str(caught.value) == f"{kind.WHAT} is {kind.SIZE} bytes, but {kind.SIZE + 1} were given"


@pytest.mark.parametrize(("hmac_size", "aes_size", "name"), [(31, 32, "an HMAC key"), (32, 33, "an AES key")])
def test_half_a_pair_of_another_length_is_refused(hmac_size: int, aes_size: int, name: str) -> None:
    """The HMAC key and the AES key must have 32 bytes each, and the error names the wrong one."""
    with pytest.raises(KeyRefused, match=name):
        CipherKeys(hmac=bytes(hmac_size), aes=bytes(aes_size))


def test_a_pool_is_held_in_its_plain_form() -> None:
    """The constructor accepts only lower case, which apps hash; `parse` converts capitals."""
    with pytest.raises(KeyRefused, match="lower case"):
        EntropyPool(b"M" * 64)
    with pytest.raises(KeyRefused, match="64 letters and digits, but 63 were given"):
        EntropyPool(b"m" * 63)
    assert EntropyPool.parse("M" * 64) == EntropyPool(b"m" * 64)
