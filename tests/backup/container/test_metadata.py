"""Metadata records: forward secrecy and local metadata."""

import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.container.keys import BackupId, BackupKey, LocalMetadataKey
from holdfast.backup.container.metadata import ForwardSecrecy, LocalMetadata, TokenPair
from holdfast.backup.errors import DamagedBackup, UnreadableBackup
from holdfast.backup.schema.local_pb2 import ForwardSecrecyMetadata, Metadata
from tests.backup.container.vectors import METADATA_KEY_A, ONE_PAIR, SET_A

FILE_A = bytes.fromhex("080112200a0c000102030405060708090a0b12105a3be11edb7561f19fafdb22f862a0a8")
KEY_A = LocalMetadataKey.parse(METADATA_KEY_A)
ID_A = BackupId.parse(SET_A.backup_id)


def record(pairs: list[tuple[int, int]], iv: int) -> bytes:
    """Write a forward-secrecy record with parts of the given lengths."""
    message = ForwardSecrecyMetadata(iv=bytes(iv))
    for token, salt in pairs:
        message.pair.add(ct=bytes(token), pwSalt=bytes(salt))
    return message.SerializeToString()


@given(
    st.lists(
        st.builds(TokenPair, st.binary(min_size=48, max_size=48), st.binary(min_size=32, max_size=32)),
        min_size=1,
        max_size=2,
    ).map(tuple),
    st.binary(min_size=12, max_size=12),
)
def test_a_forward_secrecy_record_comes_back(pairs: tuple[TokenPair, ...], iv: bytes) -> None:
    """What is built is what is read, and its bytes are kept."""
    built = ForwardSecrecy.build(pairs, iv)
    assert (pairs, iv) == (built.pairs, built.iv)
    assert built == ForwardSecrecy.parse(built.raw)


def test_a_record_of_one_pair_is_a_hundred_bytes() -> None:
    """The record of the published file: two tags of four and two bytes, the pair and the iv."""
    assert len(ONE_PAIR.raw) == 100


def test_unknown_fields_are_kept() -> None:
    """A field from a newer app is no damage, and is written back as it was."""
    raw = ONE_PAIR.raw + b"\x9a\x06\x03new"
    assert raw == ForwardSecrecy.parse(raw).raw


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (record([], 3), "has 0 tokens where one or two belong"),
        (record([(1, 1)] * 3, 3), "has 3 tokens where one or two belong"),
        (record([(0, 0)], 3), "has a token of 0 bytes where 48 belong"),
        (record([(47, 31)], 11), "has a token of 47 bytes where 48 belong"),
        (record([(48, 0)], 3), "has a salt of 0 bytes where 32 belong"),
        (record([(48, 33), (1, 1)], 3), "has a salt of 33 bytes where 32 belong"),
        (record([(48, 32), (49, 1)], 3), "has a token of 49 bytes where 48 belong"),
        (record([(48, 32)] * 2, 0), "has an iv of 0 bytes where 12 belong"),
        (record([(48, 32)], 16), "has an iv of 16 bytes where 12 belong"),
        (b"\x00", "is not a readable record"),
        (b"\x0a\x05", "is not a readable record"),
        (ONE_PAIR.raw + b"\x1a\xff\x7f" + bytes(16383), "is 16486 bytes long, more than the 16384 allowed"),
    ],
)
def test_a_forward_secrecy_record_is_checked_part_by_part(raw: bytes, problem: str) -> None:
    """Number of tokens, then each token and its salt, then the iv: the first that is wrong is named."""
    with pytest.raises(DamagedBackup) as caught:
        ForwardSecrecy.parse(raw, offset=9)
    assert f"the forward-secrecy metadata {problem} (byte 9 of the file)" == str(caught.value)


def test_the_published_metadata_file_is_read_and_written() -> None:
    """Its id comes out, and the same id under the same iv gives the same file."""
    assert LocalMetadata.parse(FILE_A).backup_id(KEY_A) == ID_A
    iv = bytes(range(12))
    assert LocalMetadata.seal(ID_A, KEY_A, iv=iv).to_bytes() == FILE_A


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=32, max_size=32), st.sampled_from([12, 16]))
def test_a_backup_id_comes_back_with_either_length_of_iv(backup_id: bytes, key: bytes, size: int) -> None:
    """Older desktop builds wrote the counter out as part of a 16-byte iv."""
    metadata_key = LocalMetadataKey(key)
    sealed = LocalMetadata.seal(BackupId(backup_id), metadata_key, iv=secrets.token_bytes(size))
    assert LocalMetadata.parse(sealed.to_bytes()).backup_id(metadata_key) == BackupId(backup_id)


def test_a_long_iv_is_the_short_one_with_its_counter() -> None:
    """Twelve bytes, and the same twelve followed by a counter of zero, mean the same."""
    short = LocalMetadata.parse(FILE_A)
    assert LocalMetadata(short.iv + bytes(4), short.encrypted_id).backup_id(KEY_A) == ID_A


def test_every_snapshot_has_an_iv_of_its_own() -> None:
    """Two files for one id share nothing but the id."""
    key = BackupKey(secrets.token_bytes(32)).local_metadata_key()
    metadata, other = LocalMetadata.seal(ID_A, key), LocalMetadata.seal(ID_A, key)
    assert metadata.iv != other.iv
    assert metadata.backup_id(key) == other.backup_id(key)


def local(version: int, iv: int, encrypted_id: int) -> bytes:
    """Write a metadata file with parts of the given lengths."""
    sealed = Metadata.EncryptedBackupId(iv=bytes(iv), encryptedId=bytes(encrypted_id))
    return Metadata(version=version, backupId=sealed).SerializeToString()


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", "the local metadata does not say which version it is"),
        (b"\xff", "the local metadata is not a readable record"),
        (b"\x08\x01", "the local metadata has an iv of 0 bytes where 12 belong"),
        (local(1, 13, 16), "the local metadata has an iv of 13 bytes where 12 belong"),
        (local(1, 12, 15), "the local metadata has a backup id of 15 bytes where 16 belong"),
    ],
)
def test_a_metadata_file_is_checked(raw: bytes, problem: str) -> None:
    """Each part that cannot be right is named, and what helps without it."""
    with pytest.raises(DamagedBackup) as caught:
        LocalMetadata.parse(raw)
    assert caught.value.problem.startswith(f"{problem}; give the account id beside the recovery key")


def test_a_newer_version_is_not_guessed_at() -> None:
    """Its number is named, and the part that may have changed its meaning is not read."""
    with pytest.raises(UnreadableBackup, match="of version 2; this program reads version 1"):
        LocalMetadata.parse(local(2, 1, 1))
