"""Reading, writing and merging packs, compared with git."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import GitDamaged
from holdfast.hosting.git.packs import (
    PackedObject,
    decode_pack,
    encode_pack,
    entry_header,
    merge_packs,
    object_count,
    object_id,
    pack_name,
)
from holdfast.hosting.git.program import run

blobs = st.lists(st.binary(max_size=300), max_size=8).map(lambda some: [PackedObject("blob", one) for one in some])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Make an empty bare repository."""
    folder = tmp_path / "made.git"
    run(None, "init", "--quiet", "--bare", "--", str(folder))
    return folder


@given(blobs)
def test_packed_objects_are_read_unchanged(objects: list[PackedObject]) -> None:
    """Objects with any content are read from a pack in the order they were written in."""
    pack = encode_pack(objects)
    assert decode_pack(pack) == objects
    assert object_count(pack) == len(objects)


@given(st.lists(blobs, min_size=1, max_size=4))
def test_a_merged_pack_has_the_objects_of_all(several: list[list[PackedObject]]) -> None:
    """The objects of the packs follow each other in the order of the packs."""
    merged = merge_packs([encode_pack(objects) for objects in several])
    assert decode_pack(merged) == [entry for objects in several for entry in objects]


@given(st.integers(0, 2**40))
def test_the_size_of_an_entry_is_written_in_seven_bits_a_byte(size: int) -> None:
    """The first byte has four bits of the size, each further one seven, as in the pack format of git."""
    header = entry_header("tree", size)
    read, shift = header[0] & 0x0F, 4
    for byte in header[1:]:
        read |= (byte & 0x7F) << shift
        shift += 7
    assert read == size
    assert header[0] >> 4 & 7 == 2
    assert [byte >> 7 for byte in header] == [1] * (len(header) - 1) + [0]


def test_git_reads_a_pack(repository: Path) -> None:
    """`git index-pack` accepts a pack and finds its objects of all sizes under the computed ids."""
    objects = [PackedObject("blob", content) for content in (b"", b"a", b"x" * 15, b"y" * 16, bytes(300_000))]
    pack = encode_pack(objects)
    printed = run(repository, "index-pack", "--stdin", "--strict", input=pack)
    assert printed.decode().split()[1] == pack_name(pack)
    for entry in objects:
        assert run(repository, "cat-file", "blob", object_id("blob", entry.content)) == entry.content


def test_a_pack_with_deltas_is_decoded_by_git(repository: Path) -> None:
    """A pack without deltas is decoded in Python, and one with deltas gives None, so that git decodes it."""
    ids = [
        run(repository, "hash-object", "-w", "--stdin", input=b"line\n" * 2000 + b"%d" % number).decode()
        for number in range(3)
    ]
    whole = run(repository, "pack-objects", "--stdout", "--window=0", input="".join(ids).encode())
    assert decode_pack(whole) is not None
    with_deltas = run(repository, "pack-objects", "--stdout", "--no-reuse-delta", input="".join(ids).encode())
    assert len(with_deltas) < len(whole)
    assert decode_pack(with_deltas) is None


@pytest.mark.parametrize("place", [0, 8, 12, 14, -1])
def test_a_damaged_pack_is_refused(place: int) -> None:
    """A changed byte anywhere in a pack is detected by its checksum."""
    pack = bytearray(encode_pack([PackedObject("blob", b"abc" * 100)]))
    pack[place] ^= 0xFF
    with pytest.raises(GitDamaged):
        decode_pack(bytes(pack))
    with pytest.raises(GitDamaged):
        merge_packs([encode_pack([]), bytes(pack)])


@pytest.mark.parametrize("size", [0, 4, 11, 20, 40])
def test_a_truncated_pack_is_refused(size: int) -> None:
    """A pack that ends early is refused and never taken for an empty one, even without its object count."""
    pack = encode_pack([PackedObject("blob", b"abc" * 100)])[:size]
    for read in (decode_pack, lambda one: merge_packs([one])):
        with pytest.raises(GitDamaged):
            read(pack)


def test_an_id_is_the_one_git_computes() -> None:
    """The id of a blob equals the output of `git hash-object`."""
    completed = subprocess.run(["git", "hash-object", "--stdin"], input=b"hello", capture_output=True, check=True)
    assert object_id("blob", b"hello") == completed.stdout.decode().strip()
