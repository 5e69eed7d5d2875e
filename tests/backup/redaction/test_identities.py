"""Equal identifiers get equal pseudonyms, and different ones different pseudonyms."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.redaction.identities import Identities, read_number, write_number
from holdfast.backup.wire.varint import encode_varint
from tests.examples import examples

NIL = bytes(16)
USERNAME = re.compile(r"(?!\d)[A-Za-z0-9_]{1,48}\.(?!0+$)(?:\d\d|[1-9]\d{2,18})")


@pytest.fixture
def identities() -> Identities:
    """Return a new set of pseudonyms."""
    return Identities(random.Random(1))


def test_a_person_has_one_new_id_in_every_spelling(identities: Identities) -> None:
    """An id has the same pseudonym alone and after the byte that marks an ACI or a PNI."""
    old = bytes(range(16))
    new = identities.service_id(old)
    assert new != old
    assert identities.service_id(old) == new
    assert identities.service_id(b"\x01" + old) == b"\x01" + new
    assert identities.service_id(b"\x00" + old) == b"\x00" + new


def test_a_uuid_keeps_its_version(identities: Identities) -> None:
    """A replaced UUID has the version and variant of the original."""
    old = bytes.fromhex("11111111111141118111111111111111")
    new = identities.uuid(old)
    assert (new[6] >> 4, new[8] >> 6) == (4, 2)
    replaced = identities.uuid(b"\x11" * 16)
    assert (replaced[6] >> 4, replaced[8] >> 6) == (1, 0)


def test_the_uuid_of_zeros_stays(identities: Identities) -> None:
    """The nil UUID is kept, since it names the built-in story list."""
    assert identities.uuid(NIL) == NIL
    assert identities.service_id(b"\x01" + NIL) == b"\x01" + NIL


@settings(max_examples=50)
@given(values=st.lists(st.binary(max_size=3), unique=True, max_size=300))
def test_ids_of_a_wrong_size_stay_as_many(values: list[bytes]) -> None:
    """Different ids stay different and keep their length, even if nearly all ids of that length are used."""
    identities = Identities(random.Random(1))
    new = [identities.service_id(value) for value in values]
    assert [len(value) for value in new] == [len(value) for value in values]
    assert len(set(new)) == len(values)


def test_all_ids_of_one_byte_are_renamed(identities: Identities) -> None:
    """All 256 ids of one byte are mapped to 256 different ids."""
    values = [bytes((number,)) for number in range(256)]
    assert {identities.key(value) for value in values} == set(values)


@settings(max_examples=examples(200))
@given(numbers=st.lists(st.integers(0, (1 << 64) - 1), unique=True, max_size=20), padding=st.integers(0, 3))
def test_telephone_numbers_keep_their_digits_and_their_bytes(numbers: list[int], padding: int) -> None:
    """Replaced telephone numbers keep their count of digits and bytes, and stay distinct."""
    identities = Identities(random.Random(1))
    new = []
    for number in numbers:
        size = min(len(encode_varint(number)) + padding, 10)
        replaced = identities.telephone(write_number(number, size))
        assert len(replaced) == size
        new.append(read_number(replaced))
        assert len(str(new[-1])) == len(str(number))
        assert (new[-1] == 0) == (number == 0)
        assert number < 10_000 or new[-1] != number
    assert len(set(new)) == len(numbers)


@pytest.mark.parametrize(
    ("number", "prefix"), [(12025550123, "1555"), (4917012345678, "999"), (491701234567, "999")]
)
def test_new_telephone_numbers_belong_to_nobody(identities: Identities, number: int, prefix: str) -> None:
    """New numbers have a prefix that is not assigned, if such a number has as many bytes."""
    new = str(read_number(identities.telephone(encode_varint(number))))
    assert new.startswith(prefix) or len(encode_varint(int("999".ljust(len(new), "0")))) != len(
        encode_varint(number)
    )


@pytest.mark.parametrize("number", [0, 1, 5, 127, 128, 1 << 35, (1 << 64) - 1])
def test_other_numbers_keep_their_size(identities: Identities, number: int) -> None:
    """Every other number is replaced by one of as many bytes, but 0 stays 0, since it means none."""
    old = encode_varint(number)
    new = identities.number(old)
    assert len(new) == len(old)
    assert (new == old) == (number == 0)


@settings(max_examples=examples(100))
@given(name=st.from_regex(USERNAME, fullmatch=True))
def test_a_valid_username_becomes_a_valid_one(name: str) -> None:
    """The new username is valid and of the same length, and the case of the original makes no difference."""
    if not name.isascii():
        return
    identities = Identities(random.Random(1))
    new = identities.username(name.encode()).decode()
    assert USERNAME.fullmatch(new), (name, new)
    assert len(new) == len(name)
    assert identities.username(name.upper().encode()).decode() == new


@pytest.mark.parametrize(
    "name",
    ["nodot", "1abc.42", "abc.0", "abc.00", "abc.012", "ab c.42", "äbc.42", "abc.", ".42", "abc.4x", "", "a.b.c"],
)
def test_a_wrong_username_is_wrong_in_the_same_way(identities: Identities, name: str) -> None:
    """In an invalid username each character is replaced by one of its class."""
    new = identities.username(name.encode()).decode()
    assert [character_class(sign) for sign in new] == [character_class(sign) for sign in name]
    assert [index for index, sign in enumerate(new.partition(".")[2]) if sign == "0"] == [
        index for index, sign in enumerate(name.partition(".")[2]) if sign == "0"
    ]


def character_class(sign: str) -> str:
    """Return the class of a character of a username."""
    if not sign.isascii():
        return str(len(sign.encode()))
    return "letter" if sign.isalpha() else "digit" if sign.isdigit() else sign if sign in "._" else "other"


@pytest.mark.parametrize("number", ["18446744073709551615", "18446744073709551616", "99999999999999999999"])
def test_the_number_of_a_username_stays_on_its_side_of_the_largest(identities: Identities, number: str) -> None:
    """A number that fits into 64 bits is replaced by one that fits, and a larger one by a larger one."""
    new = identities.username(f"abc.{number}".encode()).decode().partition(".")[2]
    assert (int(new) < 1 << 64) == (int(number) < 1 << 64)


def test_short_usernames_do_not_run_out(identities: Identities) -> None:
    """The 26 usernames of one letter are mapped to different usernames."""
    names = [f"{letter}.01".encode() for letter in "abcdefghijklmnopqrstuvwxyz"]
    assert len({identities.username(name) for name in names}) == len(names)
