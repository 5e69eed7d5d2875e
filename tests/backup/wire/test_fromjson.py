"""JSON is converted back to the original bytes, and handwritten JSON is accepted."""

import base64
import json
import random
import struct
from functools import partial

import pytest
from google.protobuf.json_format import ParseDict
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.errors import BackupError, DamagedRecord, UnfitJson
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire import fromjson
from holdfast.backup.wire.fromjson import frame_from_json, header_from_json
from holdfast.backup.wire.names import SPELLINGS
from holdfast.backup.wire.tojson import frame_to_json
from tests.backup.wire.core import Core
from tests.backup.wire.encoding import delimited, nested_items, number
from tests.backup.wire.json_cases import (
    MERGED_FRAMES,
    NONCANONICAL_FRAMES,
    SIGNAL_SPELLINGS,
    UNFIT_DOCUMENTS,
    Json,
    chat_document,
)
from tests.backup.wire.mutations import mutate
from tests.backup.wire.random_frames import random_frames, random_header


def test_random_frames_come_back(core: Core) -> None:
    """Frames are read back byte for byte, in either spelling of the names."""
    for raw in random_frames(500 if core.name == "installed" else 150, seed=29):
        assert frame_from_json(core.tojson.frame_to_json(raw)) == raw
        assert frame_from_json(core.tojson.frame_to_json(raw, "signal").decode()) == raw


def test_headers_come_back(core: Core) -> None:
    """Headers with and without an unknown field are read back byte for byte."""
    for seed in range(100):
        raw = random_header(random.Random(seed))
        assert header_from_json(core.tojson.header_to_json(raw)) == raw
        assert header_from_json(core.tojson.header_to_json(raw + number(99, 1))) == raw + number(99, 1)


@pytest.mark.parametrize(
    "raw", [*MERGED_FRAMES.values(), *NONCANONICAL_FRAMES.values()], ids=[*MERGED_FRAMES, *NONCANONICAL_FRAMES]
)
def test_odd_frames_come_back(core: Core, raw: bytes) -> None:
    """A frame that JSON cannot represent is read back from "@raw"."""
    assert frame_from_json(core.tojson.frame_to_json(raw)) == raw


def read_twice(line: bytes, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Read a line as it is read, and as if every line were parsed: bytes and whether edited, or the error."""
    results: list[object] = []
    for parsed in (False, True):
        with monkeypatch.context() as patched:
            if parsed:
                patched.setattr(fromjson, "original_bytes", lambda *_: None)
            edited: list[bool] = []
            try:
                raw = frame_from_json(line, on_edited=partial(edited.append, True))
            except UnfitJson as error:
                results.append(str(error))
            else:
                results.append((raw, bool(edited)))
    return results


def test_lines_with_their_bytes_are_read_as_if_they_were_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shortcut by "@raw" gives the bytes or the error that parsing gives, also for an edited line."""
    rng = random.Random(59)
    carried = edited = 0
    for raw in random_frames(1500, seed=61):
        changed = mutate(rng, raw)
        try:
            line = frame_to_json(changed, rng.choice(SPELLINGS))
        except DamagedRecord:
            continue
        if b'"@raw"' not in line:
            continue
        carried += 1
        fast, slow = read_twice(line, monkeypatch)
        assert fast == slow == (changed, False)
        offset = rng.randrange(len(line))
        inserted = rng.choice((b"", b"1", b"A", b'"', b" ", b"=", line[offset : offset + 1]))
        damaged = line[:offset] + inserted + line[offset + 1 :]
        fast, slow = read_twice(damaged, monkeypatch)
        assert fast == slow
        edited += damaged != line
    assert carried > 200
    assert edited > 150


def test_any_nan_comes_back(core: Core) -> None:
    """A NaN is read back with its bits."""
    for bits in ("0000c07f", "0100c07f", "0000c0ff"):
        raw = delimited(1, delimited(9, delimited(19, delimited(3, delimited(3, bytes.fromhex(bits))))))
        assert frame_from_json(core.tojson.frame_to_json(raw)) == raw


def test_the_deepest_frame_comes_back(core: Core) -> None:
    """A frame at protobuf's limit of nesting is read back, and one level more is refused."""
    raw = nested_items(100, number(1, 1))
    text = core.tojson.frame_to_json(raw)
    assert frame_from_json(text) == raw
    deeper = text.replace(b'"chatId":"1"', b'"revisions":[{}]')
    with pytest.raises(UnfitJson, match=r"revisions\[0\] is nested too deep"):
        frame_from_json(deeper)


def test_what_is_read_is_what_protobuf_reads() -> None:
    """The two agree on random frames, but that protobuf does not read the largest float it writes."""
    for raw in random_frames(300, seed=31):
        document = json.loads(frame_to_json(raw, lossless=False))
        if "3.4028235e+38" not in json.dumps(document):
            assert frame_from_json(document) == ParseDict(document, Frame()).SerializeToString()


@pytest.mark.parametrize("spec", SIGNAL_SPELLINGS)
def test_both_spellings_are_read(spec: str) -> None:
    """Lines in both spellings of names are read."""
    signal, raw = SIGNAL_SPELLINGS[spec]
    text = frame_to_json(raw).decode()
    assert frame_from_json(text) == frame_from_json(text.replace(spec, signal)) == raw


def test_integers_are_read_from_numbers_and_text() -> None:
    """Integers of 32 and 64 bits are read from numbers and from text."""
    expected = delimited(3, number(1, 7) + number(4, 8))
    for seven, eight in (("7", 8), (7, "8"), (7.0, 8.0), ("07", "08")):
        assert frame_from_json(chat_document(id=seven, pinnedOrder=eight)) == expected
    assert frame_from_json('{"chat":{"id":7e0,"pinnedOrder":8}}') == expected
    assert frame_from_json(chat_document(id=(1 << 64) - 1)) == delimited(3, number(1, (1 << 64) - 1))


def test_enum_values_are_read_from_names_and_numbers() -> None:
    """Enum values are read from names and from numbers, also from unknown numbers."""
    assert frame_from_json({"chatFolder": {"folderType": "CUSTOM"}}) == delimited(8, number(6, 2))
    assert frame_from_json({"chatFolder": {"folderType": 2}}) == delimited(8, number(6, 2))
    assert frame_from_json({"chatFolder": {"folderType": -1}}) == delimited(8, number(6, -1))


@settings(max_examples=200)
@given(value=st.binary(min_size=1, max_size=20))
def test_base64_is_read_in_any_form(value: bytes) -> None:
    """Standard and URL-safe base64 are read with or without padding."""
    expected = delimited(5, delimited(1, value))
    for text in (base64.b64encode(value).decode(), base64.urlsafe_b64encode(value).decode()):
        assert frame_from_json({"stickerPack": {"packId": text}}) == expected
        assert frame_from_json({"stickerPack": {"packId": text.rstrip("=")}}) == expected


@settings(max_examples=200)
@given(value=st.floats(width=32, allow_nan=False))
def test_floats_are_read_from_numbers_and_text(value: float) -> None:
    """Floats are read from numbers and text, and infinity from its name."""
    expected = struct.pack("<f", value)
    name = {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(value, repr(value))
    for spelling in (value, name):
        settings_ = {"customChatColors": [{"gradient": {"positions": [spelling]}}]}
        assert frame_from_json({"account": {"accountSettings": settings_}}).endswith(expected)


def test_null_stands_for_a_field_that_is_not_there() -> None:
    """`null` means an absent field of any type, and is an error in a list."""
    document = {"id": "1", "pinnedOrder": None, "style": None, "archived": None}
    assert frame_from_json({"chat": document, "recipient": None, "@raw": None}) == delimited(3, number(1, 1))
    with pytest.raises(UnfitJson, match=r"allowedMembers\[1\] is not an integer"):
        frame_from_json({"notificationProfile": {"allowedMembers": [1, None]}})


def test_an_empty_object_is_an_empty_record() -> None:
    """`{}` is an empty frame, header or record."""
    assert frame_from_json("{}") == header_from_json(b"{}") == b""
    assert frame_from_json({"chat": {}}) == delimited(3, b"")
    assert frame_from_json({"chat": {"pinnedOrder": 0}}) == delimited(3, number(4, 0))
    assert header_from_json({"version": "1"}) == BackupInfo(version=1).SerializeToString()


FLOATS = {
    "text": "secret",
    "a truth": True,
    "an object": {},
    "too large": 1e39,
    "far too large": 10**400,
    "a list": [],
}


@pytest.mark.parametrize("name", UNFIT_DOCUMENTS)
def test_what_does_not_fit_is_refused_with_its_path(name: str) -> None:
    """The error has the path of the wrong value and does not repeat the value."""
    document, path, problem = UNFIT_DOCUMENTS[name]
    assert isinstance(document, dict)
    with pytest.raises(UnfitJson) as caught:
        frame_from_json(document)
    assert isinstance(caught.value, BackupError)
    assert caught.value.path == path
    assert problem in caught.value.problem
    assert str(caught.value) == f"{path} {caught.value.problem}"
    assert "secret" not in str(caught.value).lower()


@pytest.mark.parametrize("name", FLOATS)
def test_what_is_no_float_is_refused(name: str) -> None:
    """A value that is not a number, or is too large for a float of 32 bits, is refused."""
    stops = {"gradient": {"positions": [0.5, FLOATS[name]]}}
    with pytest.raises(
        UnfitJson, match=r"customChatColors\[0\].gradient.positions\[1\] is (not a number|too large)"
    ):
        frame_from_json({"account": {"accountSettings": {"customChatColors": [stops]}}})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is not well-formed JSON"),
        ('{"chat": secret}', "is not well-formed JSON"),
        (b'{"chatFolder": {"name": "\xff"}}', "is not well-formed JSON"),
        ('{"chat": {"id": ' + "9" * 5000 + "}}", "is not well-formed JSON"),
        ('{"a":' * 100_000, "is not well-formed JSON"),
        ("[]", "is not a JSON object"),
        ('"secret"', "is not a JSON object"),
        ('{"chat": {"id": 1, "id": 2}}', "has a key that stands twice"),
        ('{"chat": {"id": NaN}}', "holds NaN without quotes"),
    ],
    ids=range(9),
)
def test_text_that_is_no_object_is_refused(text: str | bytes, problem: str) -> None:
    """The error says what is wrong with the text and does not repeat it."""
    with pytest.raises(UnfitJson) as caught:
        frame_from_json(text)
    assert (caught.value.path, caught.value.problem) == ("", problem)
    assert "secret" not in str(caught.value)


def edited_or_not(document: Json) -> tuple[bytes, bool]:
    """Read a frame, and note whether it was found edited."""
    calls: list[bool] = []
    raw = frame_from_json(document, on_edited=lambda: calls.append(True))
    return raw, bool(calls)


def test_raw_bytes_count_while_the_rest_says_the_same() -> None:
    """`@raw` is used while the other keys mean the same in another spelling, order or type."""
    raw = delimited(1, number(99, 5) + delimited(12, number(2, 1)) + delimited(4, b"Ada"))
    document = json.loads(frame_to_json(raw))
    assert edited_or_not(document) == (raw, False)
    same = {
        "@raw": document["@raw"],
        "account": {"androidSpecificSettings": {"screenshotSecurity": True}, "givenName": "Ada"},
    }
    assert edited_or_not(same) == (raw, False)


def test_an_edited_object_counts_more_than_its_raw_bytes() -> None:
    """Fields that differ from "@raw" take precedence, and the frame is reported as edited."""
    raw = delimited(3, number(99, 5) + number(1, 7))
    document = json.loads(frame_to_json(raw))
    document["chat"]["id"] = "8"
    assert edited_or_not(document) == (delimited(3, number(1, 8)), True)
    assert frame_from_json(document) == delimited(3, number(1, 8))
    del document["chat"]
    assert edited_or_not(document) == (b"", True)


def test_reading_leaves_the_object_as_it_was() -> None:
    """The caller's object is not changed."""
    document = json.loads(frame_to_json(number(99, 1)))
    before = dict(document)
    assert frame_from_json(document) == number(99, 1)
    assert document == before
