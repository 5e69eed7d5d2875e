"""The plain stream of an encrypted backup."""

import io

import pytest

from holdfast.backup.container.decryption import open_decrypted
from holdfast.backup.container.faults import Fault
from holdfast.backup.container.gunzip import GunzipLimits
from holdfast.backup.container.metadata import LocalMetadata
from holdfast.backup.errors import DamagedContainer, KeyIncomplete, OversizedBackup
from holdfast.backup.parts import Part
from tests.backup.streams import KEYS, LOCAL_KEYS, container_of, small_sample, stream_of

RECORDS = small_sample()
STREAM = stream_of(RECORDS)
LIMITS = GunzipLimits()


def no_metadata() -> LocalMetadata | None:
    """Return what stands for no metadata file."""
    return None


def damaged_metadata() -> LocalMetadata | None:
    """Fail as a damaged metadata file does."""
    raise DamagedContainer("the local metadata is not a readable record", part=Part.METADATA, offset=0)


def test_a_container_is_decrypted_and_decompressed() -> None:
    """The result is the plain stream, without the padding."""
    source = io.BytesIO(container_of(RECORDS))
    plain = open_decrypted(source, KEYS, no_metadata, limits=LIMITS, on_fault=None)
    assert plain.read() == STREAM


def test_missing_keys_are_named() -> None:
    """Without keys, and with a recovery key but no account id, the error says what is missing."""
    for keys in (None, LOCAL_KEYS):
        with pytest.raises(KeyIncomplete):
            open_decrypted(io.BytesIO(container_of(RECORDS)), keys, no_metadata, limits=LIMITS, on_fault=None)


def test_a_damaged_metadata_file_is_not_needed_with_the_account_id() -> None:
    """The damage is reported and the account id used; without one, the damage is the error."""
    data = container_of(RECORDS)
    faults: list[Fault] = []
    plain = open_decrypted(io.BytesIO(data), KEYS, damaged_metadata, limits=LIMITS, on_fault=faults.append)
    assert plain.read() == STREAM
    assert [fault.part for fault in faults if isinstance(fault, DamagedContainer)] == [Part.METADATA]
    plain = open_decrypted(io.BytesIO(data), KEYS, damaged_metadata, limits=LIMITS, on_fault=None)
    assert plain.read() == STREAM
    for on_fault in (None, faults.append):
        with pytest.raises(DamagedContainer, match="local metadata"):
            open_decrypted(io.BytesIO(data), LOCAL_KEYS, damaged_metadata, limits=LIMITS, on_fault=on_fault)


def test_the_limit_of_decompression_applies() -> None:
    """A container that decompresses to more than the limit is refused."""
    source = io.BytesIO(container_of(RECORDS))
    plain = open_decrypted(source, KEYS, no_metadata, limits=GunzipLimits(100), on_fault=None)
    with pytest.raises(OversizedBackup):
        plain.read()
