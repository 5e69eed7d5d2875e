"""File pointers of a sample, with every kind of location."""

import pytest

from holdfast.backup.schema.backup_pb2 import FilePointer, MessageAttachment
from holdfast_demo.sample.attachments import LOCATIONS, fill_attachment
from holdfast_demo.sample.media import library
from holdfast_demo.sample.seeded_random import SeededRandom
from tests.holdfast_demo.sample.sample_parts import frames, pointers

PHOTO = library(1)["photo"][0]


def set_fields(locator: FilePointer.LocatorInfo) -> frozenset[str]:
    """Return the names of the fields that a locator has."""
    names = ("key", "transitCdnKey", "mediaTierCdnNumber", "localKey", "plaintextHash", "encryptedDigest")
    return frozenset(field.name for field, _ in locator.ListFields() if field.name in names)


SHAPES = {
    frozenset(): "lost",
    frozenset({"key", "transitCdnKey", "encryptedDigest"}): "not_downloaded",
    frozenset({"key", "mediaTierCdnNumber", "plaintextHash"}): "uploaded",
    frozenset({"key", "localKey", "plaintextHash"}): "on_device",
    frozenset({"key", "localKey", "plaintextHash", "mediaTierCdnNumber", "transitCdnKey"}): "all_tiers",
}


def test_each_location_leaves_its_own_traces() -> None:
    """The fields of a locator say where the file is, and whether it was downloaded."""
    for location in LOCATIONS:
        attachment = MessageAttachment()
        fill_attachment(attachment, PHOTO, SeededRandom(1), 1_700_000_000_000, where=location)
        assert attachment.pointer.HasField("locatorInfo")
        assert SHAPES[set_fields(attachment.pointer.locatorInfo)] == location.__name__
        downloaded = attachment.pointer.locatorInfo.HasField("plaintextHash")
        assert attachment.wasDownloaded == downloaded


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_sample_has_files_in_every_place(seed: int) -> None:
    """Four hundred messages have files at each location, and at no other."""
    locations = {set_fields(pointer.locatorInfo) for frame in frames(400, seed) for pointer in pointers(frame)}
    assert locations == set(SHAPES)
