"""Records are converted to the JSON of protobuf's mapping, without loss."""

import base64
import json
import random
import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from google.protobuf.json_format import MessageToJson
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.errors import DamagedRecord
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire import faults
from holdfast.backup.wire.fromjson import frame_from_json
from tests.backup.wire.core import Core
from tests.backup.wire.encoding import delimited, gradient, nested_items, number, varint
from tests.backup.wire.json_cases import MERGED_FRAMES, NONCANONICAL_FRAMES, SIGNAL_SPELLINGS
from tests.backup.wire.random_frames import random_frames, random_header
from tests.examples import examples

CAP = 1 << 28


def expected(raw: bytes) -> object:
    """Return the JSON that protobuf makes of a frame."""
    return json.loads(MessageToJson(Frame.FromString(raw), preserving_proto_field_name=True))


def rendered(core: Core, raw: bytes) -> object:
    """Render a frame without its bytes."""
    return json.loads(core.tojson.frame_to_json(raw, lossless=False))


def test_the_text_is_compact_and_in_the_order_of_the_fields(core: Core) -> None:
    """Numbers of 64 bits are text, enum values names, empty messages empty objects."""
    frame = Frame()
    item = frame.chatItem
    item.chatId = 7
    item.expiresInMs = 0
    item.sms = True
    item.outgoing.sendStatus.add(recipientId=1).pending.SetInParent()
    item.standardMessage.text.body = "Grüße"
    item.standardMessage.text.bodyRanges.add(start=1, length=2, style=1)
    item.standardMessage.reactions.add(emoji="👍")
    item.standardMessage.reactions.add(authorId=(1 << 64) - 1)
    assert core.tojson.frame_to_json(frame.SerializeToString()).decode() == (
        '{"chatItem":{"chatId":"7","expiresInMs":"0","sms":true,'
        '"outgoing":{"sendStatus":[{"recipientId":"1","pending":{}}]},'
        '"standardMessage":{"text":{"body":"Grüße","bodyRanges":[{"start":1,"length":2,"style":"BOLD"}]},'
        '"reactions":[{"emoji":"👍"},{"authorId":"18446744073709551615"}]}}}'
    )


def test_every_kind_of_frame_is_as_protobuf_writes_it(core: Core) -> None:
    """The JSON of random frames of every kind is that of protobuf."""
    for raw in random_frames(1_500 if core.name == "installed" else 300, seed=17):
        assert rendered(core, raw) == expected(raw)


def test_a_header_is_as_protobuf_writes_it(core: Core) -> None:
    """The JSON of a random header is that of protobuf."""
    for seed in range(100):
        raw = random_header(random.Random(seed))
        assert json.loads(core.tojson.header_to_json(raw)) == json.loads(MessageToJson(BackupInfo.FromString(raw)))


def test_an_empty_frame_is_an_empty_object(core: Core) -> None:
    """Empty frames and headers are written as `{}`, as in the plain exports of Signal's clients."""
    assert core.tojson.frame_to_json(b"") == b"{}"
    assert core.tojson.header_to_json(b"") == b"{}"


@settings(max_examples=examples(300))
@given(text=st.text(st.characters(codec="utf-8") | st.sampled_from('\u2028\u2029\u2027\u202a\0\x1f"\\/\x7f')))
def test_any_text_is_a_valid_string(core: Core, text: str) -> None:
    """A text is read back unchanged, and its JSON has no control characters and no line separators."""
    written = core.tojson.frame_to_json(delimited(8, delimited(1, text.encode()))).decode()
    assert json.loads(written)["chatFolder"] == ({"name": text} if text else {})
    assert not any(ord(character) < 32 or character in "\u2028\u2029" for character in written)


def test_only_what_must_be_escaped_is(core: Core) -> None:
    """Only quotes, backslashes, control characters and line separators are escaped."""
    raw = delimited(8, delimited(1, '"\\/\b\f\n\r\t\x01\x7f\u2027\u2028\u2029é😀'.encode()))
    assert core.tojson.frame_to_json(raw).decode() == (
        '{"chatFolder":{"name":"\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f\u2027\\u2028\\u2029é😀"}}'
    )


@settings(max_examples=200)
@given(value=st.binary(max_size=40))
def test_bytes_are_base64(core: Core, value: bytes) -> None:
    """Bytes are written as base64 in the standard alphabet, with padding."""
    raw = delimited(5, delimited(1, value))
    encoded = json.loads(core.tojson.frame_to_json(raw, lossless=False))["stickerPack"].get("packId", "")
    assert encoded == base64.b64encode(value).decode()


@settings(max_examples=examples(300))
@given(
    value=st.integers(0, (1 << 64) - 1)
    | st.sampled_from([10**size - back for size in range(20) for back in (0, 1)])
)
def test_numbers_have_all_their_digits(core: Core, value: int) -> None:
    """Numbers of one to twenty digits are written in full, at the end of a buffer and before other fields."""
    raw = delimited(3, number(6, value))
    text = b'{"chat":{"muteUntilMs":"%d"}}' % value
    assert core.tojson.frame_to_json(raw) == text
    more = delimited(3, number(6, value) + number(7, 1) + delimited(9999, bytes(8)))
    assert rendered(core, more) == expected(more)


@settings(max_examples=examples(500))
@given(bits=st.integers(0, (1 << 32) - 1))
def test_floats_have_the_fewest_digits(core: Core, bits: int) -> None:
    """The text is the one protobuf finds, and gives back the same four bytes."""
    raw = gradient(delimited(3, struct.pack("<I", bits)))
    assert rendered(core, raw) == expected(raw)


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        (0x3E4CCCCD, "0.2"),
        (0x3F800000, "1.0"),
        (0x80000000, "-0.0"),
        (0x7F7FFFFF, "3.4028235e+38"),
        (0x00000001, "1.4013e-45"),
        (0x7F800000, '"Infinity"'),
        (0xFF800000, '"-Infinity"'),
        (0x7FC00000, '"NaN"'),
    ],
)
def test_a_float_is_written_plainly(core: Core, bits: int, text: str) -> None:
    """A float is written with few digits, and infinity and NaN by their names."""
    raw = gradient(delimited(3, struct.pack("<I", bits)))
    assert core.tojson.frame_to_json(raw).decode().endswith(f'"positions":[{text}]}}}}]}}}}}}')


def test_an_enum_value_without_a_name_is_a_number(core: Core) -> None:
    """Unknown enum values in a list are written as numbers, negative ones too, cut to 32 bits."""
    raw = delimited(7, delimited(11, varint(3) + varint(99) + varint((1 << 64) - 1) + varint(1 << 63 | 1 << 31)))
    assert rendered(core, raw) == expected(raw)
    assert rendered(core, raw) == {
        "notificationProfile": {"scheduleDaysEnabled": ["WEDNESDAY", 99, -1, -(1 << 31)]}
    }


@pytest.mark.parametrize("spec", SIGNAL_SPELLINGS)
def test_names_are_spelled_either_way(core: Core, spec: str) -> None:
    """The specification's spelling of names is the default, and Signal's is an option."""
    signal, raw = SIGNAL_SPELLINGS[spec]
    line = core.tojson.frame_to_json(raw).decode()
    assert f'"{spec}"' in line
    assert core.tojson.frame_to_json(raw, "signal").decode() == line.replace(spec, signal)


@pytest.mark.parametrize("name", MERGED_FRAMES)
def test_fields_that_must_be_merged_are_merged_by_protobuf(core: Core, name: str) -> None:
    """Duplicate fields are merged as by protobuf, and "@raw" has the original bytes."""
    raw = MERGED_FRAMES[name]
    assert rendered(core, raw) == expected(raw)
    document = json.loads(core.tojson.frame_to_json(raw))
    assert base64.b64decode(document.pop("@raw")) == raw
    assert document == expected(raw)


def test_a_header_is_merged_too(core: Core) -> None:
    """Of two versions in a header the last counts, and "@raw" has the original bytes."""
    raw = number(1, 1) + number(1, 2)
    assert json.loads(core.tojson.header_to_json(raw, lossless=False)) == {"version": "2"}
    assert base64.b64decode(json.loads(core.tojson.header_to_json(raw))["@raw"]) == raw


def test_fields_out_of_order_are_keys_in_that_order(core: Core) -> None:
    """The keys are in the order in which the fields are written, and are read back in it."""
    raw = delimited(2, delimited(2, number(10, 1) + number(5, 1)) + number(1, 5))
    assert (
        core.tojson.frame_to_json(raw)
        == b'{"recipient":{"contact":{"profileSharing":true,"blocked":true},"id":"5"}}'
    )
    assert frame_from_json(core.tojson.frame_to_json(raw)) == raw


@pytest.mark.parametrize("name", NONCANONICAL_FRAMES)
def test_odd_frames_carry_their_bytes(core: Core, name: str) -> None:
    """Without `lossless` a noncanonical frame is as in protobuf, and otherwise "@raw" is added."""
    raw = NONCANONICAL_FRAMES[name]
    assert rendered(core, raw) == expected(raw)
    document = json.loads(core.tojson.frame_to_json(raw))
    assert base64.b64decode(document.pop("@raw")) == raw
    assert document == expected(raw)


def test_a_nan_json_has_no_word_for_keeps_its_bytes(core: Core) -> None:
    """A NaN with other bits than the usual one is kept in "@raw", since JSON has only one NaN."""
    plain = gradient(delimited(3, bytes.fromhex("0000c07f")))
    assert b"@raw" not in core.tojson.frame_to_json(plain)
    for bits in ("0100c07f", "0000c0ff", "0100807f"):
        raw = gradient(delimited(3, bytes.fromhex(bits)))
        assert core.walk.walk_record(raw).canonical
        assert b"@raw" in core.tojson.frame_to_json(raw)


def test_canonical_frames_carry_nothing_extra(core: Core) -> None:
    """A frame as protobuf writes it has no "@raw"."""
    # An unusual NaN is kept in "@raw" too; frames with bytes of one are left out.
    frames = [raw for raw in random_frames(200, seed=19) if b"\xc0" not in raw and b"\x80" not in raw]
    assert len(frames) > 50
    assert not [raw for raw in frames if b"@raw" in core.tojson.frame_to_json(raw)]


def test_a_malformed_record_has_no_json(core: Core) -> None:
    """The error says what is wrong and where, and nothing of what the record holds."""
    with pytest.raises(DamagedRecord, match="ends in the middle of a field") as caught:
        core.tojson.frame_to_json(delimited(8, delimited(1, b"secret") + b"\x4a"))
    assert caught.value.offset == 11
    assert "secret" not in str(caught.value)
    with pytest.raises(DamagedRecord, match="not UTF-8"):
        core.tojson.header_to_json(delimited(4, b"\xff"))


def stream(records: Sequence[bytes]) -> bytes:
    """Put records behind each other."""
    return b"".join(varint(len(record)) + record for record in records)


@pytest.mark.parametrize("names", ["spec", "signal"])
@pytest.mark.parametrize("lossless", [True, False])
def test_lines_are_what_single_frames_are(core: Core, names: str, lossless: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """The lines of a stream are the JSON of its single frames."""
    raws = [*random_frames(100, seed=23), *MERGED_FRAMES.values(), *NONCANONICAL_FRAMES.values(), b""]
    random.Random(1).shuffle(raws)
    data = b"xx" + stream(raws)
    lines = core.tojson.to_json_lines(data, 2, CAP, names, lossless=lossless)
    assert lines[1:] == (len(raws), len(data), 0, 0, len(data))
    assert lines.text == b"".join(core.tojson.frame_to_json(raw, names, lossless=lossless) + b"\n" for raw in raws)


def test_lines_stop_at_a_fault_and_at_what_is_not_whole(core: Core) -> None:
    """A fault or an incomplete record ends the lines, and the lines before it are returned."""
    for before in ([delimited(3, b"")], [MERGED_FRAMES["a number twice"]]):
        head = stream(before)
        broken = head + stream([delimited(3, b"\x08")])
        lines = core.tojson.to_json_lines(broken, 0, CAP, lossless=False)
        assert lines.text.count(b"\n") == lines.frames == 1
        assert (lines.rest, lines.fault, lines.at) == (len(head), faults.CUT, len(broken))
        cut = head + stream([delimited(3, b"\x08\x01")])
        lines = core.tojson.to_json_lines(cut[:-1], 0, CAP)
        assert (lines.frames, lines.rest, lines.needed, lines.fault) == (1, len(head), len(cut), 0)
    assert core.tojson.to_json_lines(b"", 0, CAP) == (b"", 0, 0, 0, 0, 0)


def test_a_frame_with_a_fault_and_a_knot_is_a_fault(core: Core) -> None:
    """A truncated frame with a duplicate field is a fault, and is not passed to protobuf."""
    data = stream([delimited(3, number(1, 1) + number(1, 2)) + b"\x80"])
    lines = core.tojson.to_json_lines(data, 0, CAP)
    assert (lines.text, lines.frames, lines.fault) == (b"", 0, faults.CUT)


LONG = {
    "escapes": delimited(8, delimited(1, b"\x01" * 5_000)),
    "separators": delimited(8, delimited(1, "\u2028".encode() * 3_000)),
    "plain text": delimited(8, delimited(1, b"x" * 5_000)),
    "bytes": delimited(5, delimited(1, bytes(5_000))),
    "empty messages": delimited(4, delimited(9, delimited(1, b"") * 2_000)),
    "names": delimited(4, delimited(15, delimited(2, delimited(1, delimited(33, b"")) * 500))),
    "truths": delimited(7, delimited(11, b"\x03" * 3_000)),
    "floats": gradient(delimited(3, b"\x01\x00\x00\x00" * 300)),
    "knots": nested_items(1, delimited(6, b"\x08\x01" * 2) * 300),
    "a knot and escapes": delimited(8, number(2, 1) * 2 + delimited(1, b"\x01" * 5_000)),
    "deep": nested_items(100, number(1, 1)),
}


@pytest.mark.parametrize("name", LONG)
def test_the_page_grows_as_needed(core: Core, name: str) -> None:
    """Text far longer than its bytes is written whole, alone and between other frames."""
    raw = LONG[name]
    assert rendered(core, raw) == expected(raw)
    raws = [delimited(3, b""), raw, delimited(3, b""), raw]
    lines = core.tojson.to_json_lines(stream(raws), 0, CAP, lossless=False).text.splitlines()
    assert [json.loads(line) for line in lines] == [expected(raw_frame) for raw_frame in raws]


@pytest.mark.parametrize("size", range(0, 400, 7))
def test_a_page_may_be_full_anywhere(core: Core, size: int) -> None:
    """Escaped text is written the same wherever the first buffer ends."""
    tail = number(2, 1) + number(6, 2) + delimited(7, varint((1 << 64) - 1)) + delimited(9, b"12345")
    for text in (b"\x01" * size, "\u2028".encode() * (size // 3), b"x" * size):
        raw = delimited(8, delimited(1, text) + tail + tail[2:4] * size)
        assert rendered(core, raw) == expected(raw)
        raw = nested_items(
            1, delimited(9, delimited(1, b"") * size) + delimited(11, delimited(2, delimited(1, text)))
        )
        assert rendered(core, raw) == expected(raw)


def text_of(letter: bytes, size: int) -> bytes:
    """Make a frame with a long text."""
    return delimited(4, delimited(11, delimited(2, delimited(1, letter * size))))


def test_a_page_is_written_again_without_what_was_on_it(core: Core) -> None:
    """A large buffer is reused, also by other threads, and text returned before does not change."""
    raws = [text_of(b"%c" % (97 + n), 270_000 + 1_000 * (n * 7 % 5)) for n in range(12)]
    expected_lines = [core.tojson.frame_to_json(raw) + b"\n" for raw in raws]

    def line(raw: bytes) -> bytes:
        text: bytes = core.tojson.to_json_lines(stream([raw]), 0, CAP).text
        return text

    core.render.SPARE_PAGES.clear()
    assert line(raws[0]) == expected_lines[0]
    (page,) = core.render.SPARE_PAGES
    assert line(raws[5]) == expected_lines[5]
    assert len(core.render.SPARE_PAGES) == 1
    assert core.render.SPARE_PAGES[0] is page
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(line, raws)) == expected_lines


def test_pages_that_are_small_or_huge_are_not_kept(core: Core) -> None:
    """Spare buffers are kept only within limits of their size and number."""
    core.render.SPARE_PAGES.clear()
    core.tojson.to_json_lines(stream([text_of(b"a", 1_000)]), 0, CAP)
    assert core.render.SPARE_PAGES == []
    renderer = core.render.Renderer(b"", core.render.LARGEST_SPARE_PAGE + 1, "spec")
    assert renderer.written() == b""
    assert core.render.SPARE_PAGES == []
    for _ in range(2 * core.render.MOST_SPARE_PAGES):
        core.render.SPARE_PAGES.append(bytearray(core.render.SMALLEST_SPARE_PAGE))
    core.render.Renderer(b"", core.render.LARGEST_SPARE_PAGE, "spec").written()
    assert len(core.render.SPARE_PAGES) == 2 * core.render.MOST_SPARE_PAGES - 1
    core.render.SPARE_PAGES.clear()
