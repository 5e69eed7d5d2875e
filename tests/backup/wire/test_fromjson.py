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
from tests.backup.wire.mutations import mutate
from tests.backup.wire.random_frames import random_frames, random_header
from tests.backup.wire.test_tojson import KNOTTED, ODD, RENAMED

Json = dict[str, object]


def chat(**fields: object) -> Json:
    """Write a frame that holds a chat."""
    return {"chat": fields}


def test_random_frames_come_back(core: Core) -> None:
    """In either spelling, byte for byte."""
    for raw in random_frames(500 if core.name == "installed" else 150, seed=29):
        assert frame_from_json(core.tojson.frame_to_json(raw)) == raw
        assert frame_from_json(core.tojson.frame_to_json(raw, "signal").decode()) == raw


def test_headers_come_back(core: Core) -> None:
    """Also one that has an unknown field."""
    for seed in range(100):
        raw = random_header(random.Random(seed))
        assert header_from_json(core.tojson.header_to_json(raw)) == raw
        assert header_from_json(core.tojson.header_to_json(raw + number(99, 1))) == raw + number(99, 1)


@pytest.mark.parametrize("raw", [*KNOTTED.values(), *ODD.values()], ids=[*KNOTTED, *ODD])
def test_odd_frames_come_back(core: Core, raw: bytes) -> None:
    """What JSON cannot say is in "@raw"."""
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
    """Of whatever frame, in either spelling, edited or not."""
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
    """The bits of a NaN are part of the frame."""
    for bits in ("0000c07f", "0100c07f", "0000c0ff"):
        raw = delimited(1, delimited(9, delimited(19, delimited(3, delimited(3, bytes.fromhex(bits))))))
        assert frame_from_json(core.tojson.frame_to_json(raw)) == raw


def test_the_deepest_frame_comes_back(core: Core) -> None:
    """As deep as protobuf goes, and no deeper."""
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


@pytest.mark.parametrize("spec", RENAMED)
def test_both_spellings_are_read(spec: str) -> None:
    """A file in one spelling may hold lines in the other."""
    signal, raw = RENAMED[spec]
    text = frame_to_json(raw).decode()
    assert frame_from_json(text) == frame_from_json(text.replace(spec, signal)) == raw


def test_integers_are_read_from_numbers_and_text() -> None:
    """Protobuf writes 64 bits as text and fewer as a number; either will do for both."""
    expected = delimited(3, number(1, 7) + number(4, 8))
    for seven, eight in (("7", 8), (7, "8"), (7.0, 8.0), ("07", "08")):
        assert frame_from_json(chat(id=seven, pinnedOrder=eight)) == expected
    assert frame_from_json('{"chat":{"id":7e0,"pinnedOrder":8}}') == expected
    assert frame_from_json(chat(id=(1 << 64) - 1)) == delimited(3, number(1, (1 << 64) - 1))


def test_enum_values_are_read_from_names_and_numbers() -> None:
    """A number need not have a name."""
    assert frame_from_json({"chatFolder": {"folderType": "CUSTOM"}}) == delimited(8, number(6, 2))
    assert frame_from_json({"chatFolder": {"folderType": 2}}) == delimited(8, number(6, 2))
    assert frame_from_json({"chatFolder": {"folderType": -1}}) == delimited(8, number(6, -1))


@settings(max_examples=200)
@given(value=st.binary(min_size=1, max_size=20))
def test_base64_is_read_in_any_form(value: bytes) -> None:
    """Standard or for addresses, with or without padding."""
    expected = delimited(5, delimited(1, value))
    for text in (base64.b64encode(value).decode(), base64.urlsafe_b64encode(value).decode()):
        assert frame_from_json({"stickerPack": {"packId": text}}) == expected
        assert frame_from_json({"stickerPack": {"packId": text.rstrip("=")}}) == expected


@settings(max_examples=200)
@given(value=st.floats(width=32, allow_nan=False))
def test_floats_are_read_from_numbers_and_text(value: float) -> None:
    """What is not finite has a name."""
    expected = struct.pack("<f", value)
    name = {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(value, repr(value))
    for spelling in (value, name):
        settings_ = {"customChatColors": [{"gradient": {"positions": [spelling]}}]}
        assert frame_from_json({"account": {"accountSettings": settings_}}).endswith(expected)


def test_null_stands_for_a_field_that_is_not_there() -> None:
    """Of any type, also beside another of its oneof; in a list it stands for nothing."""
    document = {"id": "1", "pinnedOrder": None, "style": None, "archived": None}
    assert frame_from_json({"chat": document, "recipient": None, "@raw": None}) == delimited(3, number(1, 1))
    with pytest.raises(UnfitJson, match=r"allowedMembers\[1\] is not an integer"):
        frame_from_json({"notificationProfile": {"allowedMembers": [1, None]}})


def test_an_empty_object_is_an_empty_record() -> None:
    """A frame without a record, and a header without fields."""
    assert frame_from_json("{}") == header_from_json(b"{}") == b""
    assert frame_from_json({"chat": {}}) == delimited(3, b"")
    assert frame_from_json({"chat": {"pinnedOrder": 0}}) == delimited(3, number(4, 0))
    assert header_from_json({"version": "1"}) == BackupInfo(version=1).SerializeToString()


UNFIT: dict[str, tuple[object, str, str]] = {
    "an unknown key": ({"chat": {"colour": 1}}, "chat.colour", "is not a field the format has"),
    "an unknown key at the top": ({"chats": {}}, "chats", "is not a field the format has"),
    "raw below the top": ({"chat": {"@raw": "AA=="}}, "chat.@raw", "is not a field the format has"),
    "a null for an unknown key": ({"colour": None}, "colour", "is not a field the format has"),
    "both spellings": (
        {"account": {"androidSpecificSettings": {}, "platformASpecificSettings": {}}},
        "account.platformASpecificSettings",
        "cannot stand beside androidSpecificSettings",
    ),
    "two of a oneof": ({"chat": {}, "recipient": {}}, "recipient", "cannot stand beside chat"),
    "text for an object": ({"chat": "secret"}, "chat", "is not an object"),
    "an object for a list": ({"chatItem": {"revisions": {}}}, "chatItem.revisions", "is not a list"),
    "text in a list of objects": (
        {"chatItem": {"revisions": [{}, "secret"]}},
        "chatItem.revisions[1]",
        "an object",
    ),
    "text for a number": (chat(id="secret"), "chat.id", "is not an integer"),
    "a truth for a number": (chat(id=True), "chat.id", "is not an integer"),
    "half a number": (chat(id=1.5), "chat.id", "is not an integer"),
    "infinity for a number": (chat(id=float("inf")), "chat.id", "is not an integer"),
    "a number below 0": (chat(id=-1), "chat.id", "is not between 0 and 18446744073709551615"),
    "a number over 64 bits": (chat(id=1 << 64), "chat.id", "is not between"),
    "a number over 32 bits": (
        chat(pinnedOrder="4294967296"),
        "chat.pinnedOrder",
        "is not between 0 and 4294967295",
    ),
    "digits of another script": (chat(id="\u0661"), "chat.id", "is not an integer"),
    "far too many digits": (chat(id="9" * 5000), "chat.id", "is not an integer"),
    "a number for a truth": (chat(archived=1), "chat.archived", "is neither true nor false"),
    "a number for text": ({"chatFolder": {"name": 5}}, "chatFolder.name", "is not text"),
    "half a surrogate pair": ({"chatFolder": {"name": "\ud83d"}}, "chatFolder.name", "surrogate"),
    "a name no enum has": (
        {"chatFolder": {"folderType": "SECRET"}},
        "chatFolder.folderType",
        "not a value its enum has",
    ),
    "an enum over 32 bits": ({"chatFolder": {"folderType": 1 << 31}}, "chatFolder.folderType", "is not between"),
    "no base64": ({"chatFolder": {"id": "secret!"}}, "chatFolder.id", "is not base64"),
    "base64 of no length": ({"chatFolder": {"id": "AAAAA"}}, "chatFolder.id", "is not base64"),
    "a number for bytes": ({"chatFolder": {"id": 5}}, "chatFolder.id", "is not base64"),
    "padding inside base64": ({"chatFolder": {"id": "AA==AAAA"}}, "chatFolder.id", "is not base64"),
    "raw that is no base64": ({"@raw": "secret!"}, "@raw", "is not base64"),
    "raw that is no frame": ({"@raw": "/////w=="}, "@raw", "does not hold a record"),
}
FLOATS = {
    "text": "secret",
    "a truth": True,
    "an object": {},
    "too large": 1e39,
    "far too large": 10**400,
    "a list": [],
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_does_not_fit_is_refused_with_its_path(name: str) -> None:
    """The error leads to the place and does not repeat what stands there."""
    document, path, problem = UNFIT[name]
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
    """So are numbers beyond what four bytes can hold."""
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
    """Without repeating it."""
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
    """However the same is written: other spelling, other order, numbers for text."""
    raw = delimited(1, number(99, 5) + delimited(12, number(2, 1)) + delimited(4, b"Ada"))
    document = json.loads(frame_to_json(raw))
    assert edited_or_not(document) == (raw, False)
    same = {
        "@raw": document["@raw"],
        "account": {"androidSpecificSettings": {"screenshotSecurity": True}, "givenName": "Ada"},
    }
    assert edited_or_not(same) == (raw, False)


def test_an_edited_object_counts_more_than_its_raw_bytes() -> None:
    """What a person changed is what they want; that the rest of the bytes is gone is reported."""
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
