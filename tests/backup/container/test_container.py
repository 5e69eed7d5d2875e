"""The public names of the container package work together."""

import io
import secrets
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.container.cipher import decrypt, encrypt, find_layout
from holdfast.backup.container.gunzip import GzipWriter, gunzip
from holdfast.backup.container.keys import BackupKey, ForwardSecrecyToken
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.errors import BackupError, DamagedBackup
from tests.backup.container.vectors import ONE_PAIR


@settings(max_examples=25)
@given(st.binary(max_size=5000), st.booleans())
def test_a_stream_round_trips_through_the_container(stream: bytes, modern: bool) -> None:  # noqa: FBT001  # hypothesis fills it
    """A stream is compressed, encrypted and read back in both layouts with derived keys."""
    root = BackupKey(secrets.token_bytes(32))
    token = ForwardSecrecyToken(secrets.token_bytes(32)) if modern else None
    material = KeyMaterial(backup_key=root, aci=uuid4(), token=token)
    file = io.BytesIO()
    keys = material.message_keys(modern=modern)
    with (
        encrypt(file, keys, forward_secrecy=ONE_PAIR if modern else None) as sealer,
        GzipWriter(sealer) as out,
    ):
        out.write(stream)
    layout = find_layout(file)
    assert modern == layout.modern
    assert stream == gunzip(decrypt(file, layout, material.message_keys(modern=layout.modern))).read()


def test_a_change_behind_the_gzip_member_is_noticed() -> None:
    """A change after the gzip member is found at the first read, since the padding is read too."""
    keys = KeyMaterial(backup_key=BackupKey(secrets.token_bytes(32)), aci=uuid4()).message_keys(modern=False)
    file = io.BytesIO()
    with encrypt(file, keys) as sealer, GzipWriter(sealer) as out:
        out.write(b"few words")
    opened = decrypt(file, find_layout(file), keys)
    file.seek(-40, io.SEEK_END)
    file.write(b"!")
    with pytest.raises(DamagedBackup, match="changed while it was being read"):
        gunzip(opened).read(1)


def test_an_unfinished_file_does_not_open() -> None:
    """A container whose writing failed half way has no MAC and is refused."""
    keys = KeyMaterial(backup_key=BackupKey(secrets.token_bytes(32)), aci=uuid4()).message_keys(modern=False)
    file = io.BytesIO()

    def write_and_fail() -> None:
        with encrypt(file, keys) as sealer, GzipWriter(sealer) as out:
            out.write(secrets.token_bytes(10_000))
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        write_and_fail()
    with pytest.raises(BackupError):
        decrypt(file, find_layout(file), keys)
