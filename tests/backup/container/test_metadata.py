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
    """A built record is parsed to the same pairs, IV and bytes."""
    built = ForwardSecrecy.build(pairs, iv)
    assert (pairs, iv) == (built.pairs, built.iv)
    assert built == ForwardSecrecy.parse(built.raw)


def test_a_record_of_one_pair_is_a_hundred_bytes() -> None:
    """A record with one pair has 100 bytes, as in the published file."""
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
    """The number of tokens, each token with its salt, and the IV are checked; the error names the wrong part."""
    with pytest.raises(DamagedBackup) as caught:
        ForwardSecrecy.parse(raw, offset=9)
    assert f"the forward-secrecy metadata {problem} (byte 9 of the file)" == str(caught.value)


def test_the_published_metadata_file_is_read_and_written() -> None:
    """The published file gives the published id, and sealing that id with its IV gives the same bytes."""
    assert LocalMetadata.parse(FILE_A).backup_id(KEY_A) == ID_A
    iv = bytes(range(12))
    assert LocalMetadata.seal(ID_A, KEY_A, iv=iv).to_bytes() == FILE_A


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=32, max_size=32), st.sampled_from([12, 16]))
def test_a_backup_id_comes_back_with_either_length_of_iv(backup_id: bytes, key: bytes, size: int) -> None:
    """The id is read with an IV of 12 bytes and with one of 16, as older desktop builds wrote it."""
    metadata_key = LocalMetadataKey(key)
    sealed = LocalMetadata.seal(BackupId(backup_id), metadata_key, iv=secrets.token_bytes(size))
    assert LocalMetadata.parse(sealed.to_bytes()).backup_id(metadata_key) == BackupId(backup_id)


def test_a_long_iv_is_the_short_one_with_its_counter() -> None:
    """An IV of twelve bytes and the same one with a counter of zero give the same id."""
    short = LocalMetadata.parse(FILE_A)
    assert LocalMetadata(short.iv + bytes(4), short.encrypted_id).backup_id(KEY_A) == ID_A


def test_every_snapshot_has_an_iv_of_its_own() -> None:
    """Two metadata files for the same id have different IVs."""
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
    """The error names the invalid part and says that the account id helps without it."""
    with pytest.raises(DamagedBackup) as caught:
        LocalMetadata.parse(raw)
    assert caught.value.problem.startswith(f"{problem}; give the account id beside the recovery key")


def test_a_newer_version_is_not_guessed_at() -> None:
    """A metadata file of a newer version is refused with its version number."""
    with pytest.raises(UnreadableBackup, match="of version 2; this program reads version 1"):
        LocalMetadata.parse(local(2, 1, 1))
