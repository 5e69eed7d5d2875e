"""Attachment files of a sample, which fit their pointers."""

from hashlib import sha256

import pytest

from holdfast_demo.sample import sample_media
from holdfast_demo.sample.media import library
from tests.holdfast_demo.sample.sample_parts import frames, pointers


def test_files_are_found_under_their_hash() -> None:
    """The key of a file is the SHA-256 of its content."""
    media = sample_media(3)
    assert {sha256(file.content).digest(): file for file in media.values()} == media


def test_there_are_a_few_dozen_files() -> None:
    """A sample has 20 to 80 different files with less than 300 kB in all."""
    assert 20 <= len(sample_media(1)) <= 80
    assert sum(len(file.content) for file in sample_media(1).values()) < 300_000


def test_a_seed_gives_its_own_files_every_time() -> None:
    """Pictures change with the seed and with nothing else; the digest is the same on every machine."""
    media = sample_media(7)
    library.cache_clear()
    assert sample_media(7) == media
    assert library(7)["photo"] != library(8)["photo"]
    hashes = b"".join(sample_media(1))
    assert sha256(hashes).hexdigest() == "160786481baef782566c6bf726ace0db1ab14036c619c8e7b13260f453ce1bee"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_pointers_tell_the_truth_about_files(seed: int) -> None:
    """A pointer with a hash has a file, with its size and type; keys are 64 bytes, and never used twice."""
    media = sample_media(seed)
    keys: list[bytes] = []
    count = 0
    for pointer in (pointer for frame in frames(1000, seed) for pointer in pointers(frame)):
        locator = pointer.locatorInfo
        if locator.key:
            keys.append(locator.key)
        if locator.HasField("localKey"):
            keys.append(locator.localKey)
            assert locator.plaintextHash
        if locator.plaintextHash:
            count += 1
            file = media[locator.plaintextHash]
            assert (locator.size, pointer.contentType) == (len(file.content), file.content_type)
    assert count > 50
    assert {len(key) for key in keys} == {64}
    assert len(keys) == len(set(keys))


def test_letters_need_a_file() -> None:
    """Every long text has more than the 2048 bytes that fit into a message."""
    assert all(len(letter.content) > 2048 for letter in library(1)["long_text"])
