"""Parsing of recovery keys, account ids and tokens."""

import base64
import secrets
import string
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.container.key_formats import new_pool, pool_weakness, read_bytes, read_pool, read_uuid
from holdfast.backup.errors import KeyRefused

POOLS = st.text(string.ascii_lowercase + string.digits, min_size=64, max_size=64)


@given(POOLS, st.sampled_from([" ", "-", "\n", " \u00a0", "", " | "]))
def test_a_recovery_key_may_be_grouped_and_in_capitals(pool: str, gap: str) -> None:
    """A recovery key is read in groups of four, with line breaks and in capitals."""
    text = gap.join(pool[start : start + 4] for start in range(0, 64, 4)).upper()
    assert pool == read_pool(text)


@given(POOLS)
def test_the_signs_for_o_and_zero_are_read(pool: str) -> None:
    """A recovery key is read with # for the letter o and = for the digit 0, as newer apps write it."""
    assert pool == read_pool(pool.replace("o", "#").replace("0", "="))


@pytest.mark.parametrize("length", [0, 1, 63, 65, 128])
def test_a_recovery_key_of_another_length_is_refused(length: int) -> None:
    """The error has the number of letters and digits that were given."""
    with pytest.raises(KeyRefused) as caught:
        read_pool("x y-" * (length // 2) + "z" * (length % 2))
    assert str(caught.value) == f"a recovery key has 64 letters and digits, but {length} were given"


@pytest.mark.parametrize("stranger", ["é", "٣", "İ", "\uff41"])
def test_letters_of_other_alphabets_are_refused(stranger: str) -> None:
    """A letter that is not ASCII is an error and is not dropped."""
    with pytest.raises(KeyRefused, match="1 of the characters are not"):
        read_pool("x" * 63 + stranger)


@given(st.binary(min_size=32, max_size=32))
def test_bytes_may_be_hexadecimal_or_base64(value: bytes) -> None:
    """Standard base64 with or without padding, URL-safe base64, and hexadecimal in either case are read."""
    spellings = [
        value.hex(),
        value.hex().upper(),
        f"  {value.hex(' ')}\n",
        base64.b64encode(value).decode(),
        base64.b64encode(value).decode().rstrip("="),
        base64.urlsafe_b64encode(value).decode(),
    ]
    assert [value] * len(spellings) == [read_bytes(text, 32, "a key") for text in spellings]


@pytest.mark.parametrize("size", [15, 16, 32, 64])
def test_every_size_of_key_can_be_read(size: int) -> None:
    """The lengths of the two spellings never meet, so neither is mistaken for the other."""
    value = secrets.token_bytes(size)
    assert value == read_bytes(value.hex(), size, "a key")
    assert value == read_bytes(base64.b64encode(value).decode(), size, "a key")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00" * 31,
        "00" * 33,
        "0g" * 32,
        "A" * 42 + "B",  # bits are left over: a mistyped last letter
        "A" * 20 + "=" + "A" * 22,
        "A" * 43 + "===",
        "ä" * 43,
        "\uff10" * 64,
    ],
)
def test_what_is_neither_is_refused_without_repeating_it(text: str) -> None:
    """The error has the expected formats and the number of characters, and not the text."""
    with pytest.raises(KeyRefused) as caught:
        read_bytes(text, 32, "a backup key")
    assert str(caught.value) == (
        "a backup key is 32 bytes, written as 64 hexadecimal digits or as base64, "
        f"but the {len(text)} characters given are neither"
    )


@given(st.uuids())
def test_a_uuid_may_lack_its_dashes(value: UUID) -> None:
    """A UUID is read with dashes, without, in capitals, and with white space around it."""
    spellings = [str(value), value.hex, str(value).upper(), f" {value}\n"]
    assert [value] * 4 == [read_uuid(text, "an account id") for text in spellings]


@pytest.mark.parametrize("text", ["", "1" * 31, "1" * 33, "g" * 32, "1111-" * 8, "{" + "1" * 32 + "}", "é" * 32])
def test_what_is_not_a_uuid_is_refused_without_repeating_it(text: str) -> None:
    """The error has the expected format and the number of characters, and not the text."""
    with pytest.raises(KeyRefused) as caught:
        read_uuid(text, "an account id")
    assert str(caught.value) == (
        "an account id is a UUID, 32 hexadecimal digits with or without dashes, "
        f"but the {len(text)} characters given are not one"
    )


@pytest.mark.parametrize(
    "pool",
    [
        "m" * 64,
        "wxyz" * 16,
        "0123456789" * 6 + "0123",
        "abcdefghijklmnopqrstuvwxyz0123456789" + "abcdefghijklmnopqrstuvwxyz01",
        "zyxwvutsrqponmlkjihgfedcba" * 2 + "zyxwvutsrqpo",
        "k7x2m9q4w8e3r6t1" * 4,
    ],
)
def test_a_key_that_can_be_guessed_is_weak(pool: str) -> None:
    """A key with few distinct characters, repetition or alphabetical order is weak."""
    assert pool_weakness(pool)


def test_a_new_key_is_random_and_never_weak() -> None:
    """New keys differ, use all letters and digits, and are never weak."""
    pools = {new_pool() for _ in range(2000)}
    assert len(pools) == 2000
    assert all(read_pool(pool) == pool and not pool_weakness(pool) for pool in pools)
    assert set("".join(pools)) == set(string.ascii_lowercase + string.digits)
