"""Encrypted containers of another program: decrypted, and written with the same bytes."""

import hashlib
import io
from pathlib import Path

import pytest

from holdfast.backup.container.cipher import decrypt, encrypt, find_layout
from holdfast.backup.container.gunzip import gunzip
from holdfast.backup.container.keys import EntropyPool, ForwardSecrecyToken
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.errors import DamagedBackup, KeyIncomplete
from holdfast.backup.wire import FrameStream
from tests.backup.container.vectors import ONE_PAIR, SET_B

FILE_SHA = "4cd6207de26628311fb0860bcc9ae123b94b592b1b8cde1017e31911b1ddc98c"
MODERN_SHA = "9454d388771694bbaddd105efd188e5f36c76aa5f6069e4dcdb826676a1d31ce"
PLAIN_SHA = "0d5d21b85e69e13811e4bd01df6bc022413d174e3216f975efbac6d925d79fd8"

MATERIAL = KeyMaterial(
    pool=EntropyPool.parse(SET_B.pool),
    aci=SET_B.aci,
    token=ForwardSecrecyToken.parse(SET_B.token),
)


@pytest.fixture
def legacy(corpus: Path) -> bytes:
    """Read the file of the corpus."""
    return (corpus / "encrypted" / "legacy-account.binproto.encrypted").read_bytes()


def compressed(raw: bytes) -> bytes:
    """Decrypt a container to its padded gzip member."""
    file = io.BytesIO(raw)
    layout = find_layout(file)
    return decrypt(file, layout, MATERIAL.message_keys(modern=layout.modern)).read()


def test_the_legacy_file_opens(legacy: bytes) -> None:
    """The file is decrypted and decompressed to a header and three frames of known sizes."""
    assert hashlib.sha256(legacy).hexdigest() == FILE_SHA
    padded_member = compressed(legacy)
    assert len(padded_member) == 541
    assert padded_member[133:] == bytes(408)
    plain = gunzip(io.BytesIO(padded_member)).read()
    assert hashlib.sha256(plain).hexdigest() == PLAIN_SHA
    stream = FrameStream(io.BytesIO(plain))
    assert [len(stream.header), *(len(frame.raw) for frame in stream)] == [43, 58, 6, 6]


def test_the_writer_produces_the_same_file(legacy: bytes) -> None:
    """The same content with the same IV is padded and encrypted to the same bytes."""
    target = io.BytesIO()
    with encrypt(target, MATERIAL.message_keys(modern=False), iv=b"I" * 16) as sealer:
        sealer.write(compressed(legacy)[:133])
    assert legacy == target.getvalue()


def test_the_writer_produces_the_published_modern_file(legacy: bytes) -> None:
    """The file in the modern format has the published hash and can be decrypted."""
    target = io.BytesIO()
    with encrypt(target, MATERIAL.message_keys(modern=True), forward_secrecy=ONE_PAIR, iv=b"I" * 16) as sealer:
        sealer.write(compressed(legacy)[:133])
    modern = target.getvalue()
    assert len(modern) == 701
    assert hashlib.sha256(modern).hexdigest() == MODERN_SHA
    assert compressed(legacy) == compressed(modern)


def test_the_error_names_the_missing_key(legacy: bytes) -> None:
    """The recovery key without the account id is not enough, and the message says so."""
    layout = find_layout(io.BytesIO(legacy))
    with pytest.raises(KeyIncomplete, match="besides the recovery key it needs the account id"):
        KeyMaterial(pool=MATERIAL.pool).message_keys(modern=layout.modern)


def test_damage_to_the_file_is_reported(legacy: bytes) -> None:
    """A changed byte is reported as damage and not as a wrong key."""
    with pytest.raises(DamagedBackup, match="the key fits, but the file was changed"):
        compressed(legacy[:300] + bytes([legacy[300] ^ 1]) + legacy[301:])
