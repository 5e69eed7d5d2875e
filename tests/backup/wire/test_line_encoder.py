"""The line encoder gives the bytes of `fromjson`, or leaves a line to it."""

import json
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.errors import UnfitJson
from holdfast.backup.wire.fromjson import frame_from_json
from holdfast.backup.wire.line_encoder import EncodedLines
from holdfast.backup.wire.tojson import frame_to_json
from holdfast.backup.wire.varint import encode_varint
from tests.backup.wire.core import Core
from tests.backup.wire.encoding import nested_items, number
from tests.backup.wire.json_cases import SIGNAL_SPELLINGS, UNFIT_DOCUMENTS
from tests.backup.wire.random_frames import random_frames

NO_CAP = 1 << 28
# What is left to `fromjson` although it can be read: floats and numbers below 0 wherever they stand, and "@raw".
LEFT = re.compile(rb'"positions":\[[^\]]|:-[0-9]|[\[,]-[0-9]|"@raw"')
# Pieces of JSON to put in strange places.
PIECES = (
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b'"',
        b"\\",
        b"\\u0041",
        b"\\ud83d",
        b"\\ude00",
        b"\\n",
        b"\\x",
        b" ",
        b"\t",
    ),
    *(
        b"null",
        b"true",
        b"false",
        b"0",
        b"1",
        b"-",
        b".5",
        b"e1",
        b"=",
        b"/",
        b"_",
        b"\x00",
        b"\x1f",
        b"\x7f",
        b"\xff",
    ),
    *(b"\xc3\xa9", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xc0\xaf", b"\xef\xbb\xbf", b"99999999999999999999"),
    *(b'"id":"1",', b'"chat":null,', b',"chatItem":{}', b'"":1', b"\xe2\x80\xa8", b"\r"),
)


def framed(raw: bytes) -> bytes:
    """Put the length before a frame."""
    return encode_varint(len(raw)) + raw


def encode(core: Core, line: bytes, cap: int = NO_CAP) -> bytes | None:
    """Encode one line; None where it is left to `fromjson`."""
    encoded = core.line_encoder.LineEncoder(line, cap).encode(0)
    if encoded.rest < len(line):
        assert encoded == (b"", 0, 0, 0)
        return None
    assert encoded.lines == 1
    return bytes(encoded.data)


def reference(line: bytes) -> bytes | None:
    """Encode one line the slow way; None where it is refused."""
    try:
        return framed(frame_from_json(line.decode().strip()))
    except (UnfitJson, UnicodeDecodeError):
        return None


def scramble_line(rng: random.Random, line: bytes) -> bytes:
    """Damage a line: bytes are changed, left out, doubled, or replaced by pieces of JSON."""
    data = bytearray(line)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        offset = rng.randrange(len(data) + 1)
        match rng.randrange(6):
            case 0 if offset < len(data):
                data[offset] = rng.choice((rng.randrange(256), 0x22, 0x5C, 0x30, 0x2C))
            case 1:
                del data[offset : offset + rng.choice((1, 1, 2, 10))]
            case 2:
                start = rng.randrange(len(data) + 1)
                data[offset:offset] = data[start : start + rng.randrange(30)]
            case 3:
                data[offset : offset + rng.choice((0, 1, 4))] = rng.choice(PIECES)
            case _:
                data[offset:offset] = rng.choice(PIECES)
    return bytes(data).replace(b"\n", b" ")


def written_differently(rng: random.Random, document: object) -> object:
    """Write it in another way: other orders, numbers for text and text for numbers, nulls, empty lists."""
    if isinstance(document, dict):
        members = [(key, written_differently(rng, value)) for key, value in document.items()]
        if rng.random() < 0.3:
            rng.shuffle(members)
        return {key: None if rng.random() < 0.02 else value for key, value in members}
    if isinstance(document, list):
        return [written_differently(rng, value) for value in document] if rng.random() < 0.95 else []
    if isinstance(document, str) and document.isascii() and document.isdigit() and rng.random() < 0.5:
        return rng.choice((int(document), f"0{document}", document))
    if isinstance(document, int) and not isinstance(document, bool) and rng.random() < 0.5:
        return rng.choice((str(document), float(document), document))
    return document


def test_random_frames_are_encoded_as_they_were(core: Core) -> None:
    """Both spellings are encoded to the original bytes, unless JSON writes a value in a special way."""
    encoded = 0
    frames = random_frames(1000 if core.name == "installed" else 300, seed=37)
    for raw in frames:
        for line in (frame_to_json(raw), frame_to_json(raw, "signal")):
            actual = encode(core, line)
            if LEFT.search(line) is None and not re.search(rb'"[0-9]{20}"', line):
                assert actual == framed(raw)
                encoded += 1
            else:
                assert actual in (None, framed(raw))
    assert encoded > len(frames)


def test_damaged_lines_are_encoded_as_they_would_be_or_left(core: Core) -> None:
    """A damaged line is encoded as `fromjson` does, or left to it."""
    rng = random.Random(41)
    frames = random_frames(400, seed=43)
    encoded = refused = 0
    for _ in range(20_000 if core.name == "installed" else 1_500):
        line = scramble_line(rng, frame_to_json(rng.choice(frames)))
        actual, expected = encode(core, line), reference(line)
        if actual not in (None, b""):
            assert actual == expected
            encoded += 1
        elif actual == b"":
            assert line.strip() == b""
        refused += expected is None
    assert encoded > 50
    assert refused > 500


def test_lines_written_in_other_ways_are_encoded_as_they_would_be_or_left(core: Core) -> None:
    """Lines with another order, spacing, escapes or numbers as text are encoded as `fromjson` does."""
    rng = random.Random(47)
    encoded = 0
    for raw in random_frames(2_000 if core.name == "installed" else 300, seed=53):
        document = written_differently(rng, json.loads(frame_to_json(raw, lossless=False)))
        separators = rng.choice(((",", ":"), (", ", ": "), (" ,\t", " :\r")))
        line = json.dumps(document, ensure_ascii=rng.random() < 0.5, separators=separators).encode()
        actual = encode(core, line)
        if actual is not None:
            assert actual == reference(line)
            encoded += 1
    assert encoded > 100


@settings(max_examples=300)
@given(text=st.text(), ascii_only=st.booleans())
def test_texts_are_encoded_whatever_is_in_them(core: Core, text: str, ascii_only: bool) -> None:  # noqa: FBT001  # drawn
    """Any text is encoded, escaped or not, also characters beyond 16 bits."""
    line = json.dumps({"chatFolder": {"name": text}}, ensure_ascii=ascii_only).encode()
    assert encode(core, line) == reference(line)


@settings(max_examples=300)
@given(text=st.text(alphabet="Az09+/-_=", max_size=12))
def test_base64_is_encoded_in_any_form_or_left(core: Core, text: str) -> None:
    """Both alphabets are accepted with or without padding, and invalid base64 is left to `fromjson`."""
    line = json.dumps({"chatFolder": {"id": text}}).encode()
    assert encode(core, line) == reference(line)


@pytest.mark.parametrize("name", UNFIT_DOCUMENTS)
def test_what_does_not_fit_is_left(core: Core, name: str) -> None:
    """An invalid line is left to `fromjson`, which raises the error with its path."""
    assert encode(core, json.dumps(UNFIT_DOCUMENTS[name][0]).encode()) is None


@pytest.mark.parametrize("spec", SIGNAL_SPELLINGS)
def test_both_spellings_are_encoded(core: Core, spec: str) -> None:
    """Lines in both spellings of names are encoded."""
    signal, raw = SIGNAL_SPELLINGS[spec]
    line = frame_to_json(raw)
    assert encode(core, line) == encode(core, line.replace(spec.encode(), signal.encode())) == framed(raw)


def test_the_deepest_line_is_encoded(core: Core) -> None:
    """A line at protobuf's limit of nesting is encoded, and one level more is left to `fromjson`."""
    line = frame_to_json(nested_items(100, number(1, 1)))
    assert encode(core, line) == framed(nested_items(100, number(1, 1)))
    assert encode(core, line.replace(b'"chatId":"1"', b'"revisions":[{}]')) is None
    assert encode(core, b'{"chatItem":' * 200_000) is None


def test_lines_are_encoded_up_to_one_that_is_left(core: Core) -> None:
    """Encoding stops at a line that is left and can go on after it; blank lines give no frame."""
    lines = b'{"chat":{"id":"7"}}\n\n \t\r\n{}\n{"colour":1}\n{"chat":{}}'
    encoder = core.line_encoder.LineEncoder(lines, NO_CAP)
    offset = lines.index(b'{"colour"')
    assert encoder.encode(0) == EncodedLines(b"\x04\x1a\x02\x08\x07\x00", 2, 4, offset)
    assert encoder.encode(offset) == EncodedLines(b"", 0, 0, offset)
    assert encoder.encode(offset + len(b'{"colour":1}\n')) == EncodedLines(b"\x02\x1a\x00", 1, 1, len(lines))
    assert encoder.encode(len(lines)) == EncodedLines(b"", 0, 0, len(lines))


def test_a_line_over_the_cap_is_left(core: Core) -> None:
    """The newline counts towards the limit of a line."""
    line = b'{"chat":{"id":"7"}}\n'
    assert encode(core, line, cap=len(line)) == b"\x04\x1a\x02\x08\x07"
    assert encode(core, line, cap=len(line) - 1) is None


def test_long_values_get_long_lengths(core: Core) -> None:
    """Values whose length takes more than one byte are encoded as `fromjson` does."""
    for size in (126, 127, 128, 16_383, 16_384, 70_000):
        for text in ("x" * size, "\n" * size):
            line = json.dumps({"chatItem": {"standardMessage": {"text": {"body": text}}}}).encode()
            assert encode(core, line) == reference(line)
