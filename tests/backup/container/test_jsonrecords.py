"""JSON records are read like a frame stream, and never quoted in an error."""

import io
import json
import tracemalloc
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.container import jsonrecords
from holdfast.backup.container.jsonrecords import Item, JsonRecords, array_items, line_items
from holdfast.backup.errors import BackupError, DamagedBackup, UnreadableBackup
from holdfast.backup.wire import StreamLimits
from holdfast.backup.wire.salvage import Gap
from tests.backup.streams import array_of, json5_of, lines_of, sample, small_sample, stream_of

SECRET = "nobody must read this"
HEADER = '{"version":"1","backupTimeMs":"1700000000000"}'


@pytest.fixture(params=["small", "large"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read arrays whole, and one record at a time, as those too large for that are."""
    if request.param == "large":
        monkeypatch.setattr(jsonrecords, "JSON5_LIMIT", 1)
        monkeypatch.setattr(jsonrecords, "CHUNK", 5)
    return str(request.param)


def read_lines(data: bytes, limits: StreamLimits | None = None) -> tuple[bytes, ...]:
    """Read JSON Lines whole."""
    return all_of(JsonRecords(line_items(io.BytesIO(data), limits or StreamLimits()), "lines"))


def read_array(data: bytes, limits: StreamLimits | None = None) -> tuple[bytes, ...]:
    """Read an array whole."""
    return all_of(JsonRecords(array_items(io.BytesIO(data), limits or StreamLimits()), "array"))


def all_of(records: JsonRecords) -> tuple[bytes, ...]:
    """Put header and frames together."""
    return (records.header, *(frame.raw for block in records.blocks() for frame in block))


def test_lines_are_the_records_they_were_made_of() -> None:
    """JSON Lines of a sample are read back byte for byte."""
    assert read_lines(lines_of(sample())) == sample()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.removesuffix(b"\n"),
        lambda data: b"\n\n" + data.replace(b"\n", b"\n\n  \n"),
        lambda data: data.replace(b"\n", b"  \n\t"),
    ],
    ids=["crlf", "bom", "no final newline", "blank lines", "spaces"],
)
def test_lines_may_be_laid_out_in_other_ways(change: Callable[[bytes], bytes]) -> None:
    """CRLF, a byte order mark, blank lines, spaces and a missing final newline are accepted."""
    assert read_lines(change(lines_of(small_sample()))) == small_sample()


@pytest.mark.parametrize("chunk", [1, 7, 64, 1000])
def test_lines_are_read_in_chunks_of_any_size(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    """A chunk may end inside a line, and lines that the compiled core passes on may be mixed with others."""
    monkeypatch.setattr(jsonrecords, "CHUNK", chunk)
    header, *frames = lines_of(small_sample()).splitlines(keepends=True)
    negative = b'{"chatFolder":{"folderType":-1}}\n'
    records = read_lines(header + b"\n" + negative.join(frames))
    assert [raw for raw in records if raw != b"\x42\x0b\x30" + b"\xff" * 9 + b"\x01"] == list(small_sample())
    assert len(records) == 2 * len(frames)


@pytest.mark.parametrize("chunk", [1, 64, 1000])
def test_gaps_are_told_where_they_are_in_chunks_of_any_size(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    """Invalid and overlong lines are reported with their numbers, and the lines after them are read."""
    monkeypatch.setattr(jsonrecords, "CHUNK", chunk)
    chat = b'{"chat":{"id":"7"}}\n'
    long = b"{" + b" " * 500 + b"}\n"
    data = HEADER.encode() + b"\n" + chat + b"{\n" + chat + long + chat + long.strip()
    gaps: list[Gap] = []
    records = JsonRecords(line_items(io.BytesIO(data), StreamLimits(frame_bytes=100)), "lines", on_gap=gaps.append)
    assert [frame.raw for block in records.blocks() for frame in block] == [b"\x1a\x02\x08\x07"] * 3
    problems = [gap.problem for gap in gaps]
    assert [problem.offset for problem in problems if isinstance(problem, DamagedBackup)] == [3, 5, 7]
    assert [gap.frame for gap in gaps] == [2, 3, 4]


def test_blocks_say_where_their_frames_would_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes and offsets are those of the plain stream, over any number of blocks."""
    monkeypatch.setattr(jsonrecords, "BLOCK", 500)
    monkeypatch.setattr(jsonrecords, "CHUNK", 500)
    records = JsonRecords(line_items(io.BytesIO(lines_of(sample())), StreamLimits()), "lines")
    plain = stream_of(sample())
    blocks = list(records.blocks())
    assert len(blocks) > 5
    index = 1
    for block in blocks:
        assert block.index == index
        assert plain[block.offset : block.offset + len(block.data)] == block.data
        index += block.count
    assert records.offset == len(plain)


def test_lines_are_not_read_before_they_are_needed() -> None:
    """Only the first line is read for the header."""
    reads: list[int] = []

    def items() -> Iterator[Item]:
        for number in range(1, 100):
            reads.append(number)
            yield number, HEADER if number == 1 else "{}"

    JsonRecords(items(), "lines")
    assert reads == [1]


def test_an_array_is_the_records_it_was_made_of(path: str) -> None:
    """A small and a large array are read back, also indented and with a byte order mark."""
    assert read_array(array_of(small_sample())) == small_sample()
    pretty = json.dumps(json.loads(array_of(small_sample())), indent=3, ensure_ascii=False).encode()
    assert read_array(pretty) == small_sample()
    assert read_array(b"\xef\xbb\xbf \n" + pretty + b"\n \n") == small_sample()


@pytest.mark.parametrize(
    "text",
    [
        "[{version: '1', backupTimeMs: 1700000000000,},]",
        '// a comment\n[ /* one */ {"version": 1, // another\n "backupTimeMs": 0x18bcfe56800}]',
        '[{"version": +1, "backupTimeMs": 1700000000000., "currentAppVersion": "a\\\nb"}]',
        '[{"version": 1, "backupTimeMs": "1700000000000", "currentAppVersion": "a\u2028b\u2029"}]',
    ],
)
def test_a_small_array_may_be_json5(text: str) -> None:
    """A small array may have comments, bare keys, single quotes, trailing commas and line separators."""
    assert read_array(text.encode())[0].startswith(b"\x08\x01\x10\x80\xd0\x95\xff\xbc1")


def test_json5_of_a_sample_is_read() -> None:
    """JSON5 as test tools write it is read to the same records."""
    assert read_array(json5_of(small_sample())) == small_sample()


@pytest.mark.parametrize("text", ["[]", " [ ] ", "[\n]\n"])
def test_an_array_without_records_has_no_header(path: str, text: str) -> None:
    """An empty array is an error that says that the header is missing."""
    with pytest.raises(UnreadableBackup, match="no record: the first one must be the header"):
        read_array(text.encode())


def test_a_file_of_blank_lines_has_no_header() -> None:
    """A file of blank lines is an error that says that the header is missing."""
    with pytest.raises(UnreadableBackup, match="no record"):
        read_lines(b"\n\n")


DEEP = '{"a":' * 10_000
WRONG_RECORDS = [
    ("{", "not well-formed|not JSON"),
    (f'{{"nonsense": "{SECRET}"}}', "nonsense is not a field the format has"),
    (f'{{"account": "{SECRET}"}}', "account is not an object"),
    (f'{{"recipient": {{"id": "{SECRET}"}}}}', "recipient.id is not an integer"),
    (f'{{"account": {{"givenName": 1, "familyName": "{SECRET}"}}}}', "account.givenName is not text"),
    (f'{{"account": {{"profileKey": "{SECRET}"}}}}', "account.profileKey is not base64"),
    (f'{{"account": {{}}, "account": {{"givenName": "{SECRET}"}}}}', "stands twice|neither JSON nor JSON5"),
    ('{"recipient": {"id": ' + "1" * 5000 + "}}", "well-formed|absurd length|neither JSON nor JSON5"),
    (DEEP, "not well-formed|nested too deep|not JSON here"),
    (DEEP + "1" + "}" * 10_000, "not well-formed|nested too deep|not a field"),
    ("[1]", "not a JSON object|not an object"),
    ('{"account": {"givenName": "\\ud800"}}', "half of a surrogate pair"),
    ('{"@raw": "####"}', "@raw is not base64"),
    ('{"@raw": "/w=="}', "@raw does not hold a record"),
]


@pytest.mark.parametrize(("line", "pattern"), WRONG_RECORDS)
def test_a_wrong_line_is_named_and_never_quoted(line: str, pattern: str) -> None:
    """The error has the number of the line in the file, blank lines included, and none of its text."""
    with pytest.raises(DamagedBackup, match=rf"(?s)({pattern}).*\(line 4 of the file\)$") as caught:
        read_lines(f"{HEADER}\n\n{{}}\n{line}\n{{}}\n".encode())
    assert (caught.value.offset, caught.value.frame, caught.value.unit) == (4, None, "line")
    assert SECRET not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(("item", "pattern"), WRONG_RECORDS)
def test_a_wrong_record_of_an_array_is_named_and_never_quoted(path: str, item: str, pattern: str) -> None:
    """The error has the number of the record, with the header as 0, unless the small array cannot be parsed."""
    with pytest.raises(BackupError, match=f"(?s){pattern}|neither JSON nor JSON5|nested too deep") as caught:
        read_array(f"[{HEADER},{{}},{item},{{}}]".encode())
    assert SECRET not in str(caught.value)
    assert len(str(caught.value)) < 200
    if isinstance(caught.value, DamagedBackup):
        assert str(caught.value).endswith("(record 2 of the array)")
    else:
        assert path == "small"


@pytest.mark.parametrize("cut", range(1, 60))
def test_an_array_cut_anywhere_is_an_error(path: str, cut: int) -> None:
    """A truncated array is an error, unless only the final newline is missing."""
    text = f"[{HEADER},\n{{}},{{}}]\n".encode()
    if cut == 1:
        assert len(read_array(text[:-cut])) == 3
        return
    with pytest.raises(BackupError):
        read_array(text[:-cut])


@pytest.mark.parametrize("rest", ["x", "[]", ",{}", "]"])
def test_what_follows_an_array_is_an_error(path: str, rest: str) -> None:
    """Text after the array is an error, since a second file would be lost otherwise."""
    with pytest.raises(BackupError, match=r"something follows|neither JSON nor JSON5"):
        read_array(f"[{HEADER},{{}}] \n{rest}".encode())


def test_json5_names_the_line_of_a_mistake() -> None:
    """The error about invalid JSON5 has the line number."""
    with pytest.raises(UnreadableBackup, match="neither JSON nor JSON5 at line 3"):
        read_array(f"[{HEADER},\n{{}},\n{{,}}]".encode())


def test_json_that_is_no_array_of_objects_is_refused(path: str) -> None:
    """An object, a number, and an array with items that are not objects are errors."""
    for text in ("{}", "1", f"[{HEADER}, 5]", "[[]]", "[null]"):
        with pytest.raises(BackupError):
            read_array(text.encode())


@pytest.mark.parametrize("data", [b'["\xff"]', b"[{}, \xff]", b'[{"a": "\xc3'])
def test_bytes_that_are_not_utf8_are_said_not_to_be(path: str, data: bytes) -> None:
    """Invalid UTF-8 is an error in an array and in lines, where it has the line number."""
    with pytest.raises(BackupError):
        read_array(data)
    with pytest.raises(DamagedBackup, match=r"not UTF-8 \(line 2 of the file\)"):
        read_lines(HEADER.encode() + b"\n" + data.replace(b"\xc3", b"\xff"))


def test_a_line_over_the_limit_is_refused() -> None:
    """A line over the limit of a frame is an error that names the line."""
    with pytest.raises(DamagedBackup, match=r"longer than is allowed \(line 2 of the file\)"):
        read_lines(HEADER.encode() + b"\n" + b"{" + b" " * 1000 + b"}\n", StreamLimits(frame_bytes=500))


def test_a_record_over_the_limit_is_refused_in_a_large_array(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record without an end is an error once it exceeds the limit, and is not read further."""
    monkeypatch.setattr(jsonrecords, "JSON5_LIMIT", 1)
    monkeypatch.setattr(jsonrecords, "CHUNK", 64)
    data = f'[{HEADER},{{"account":{{"givenName":"'.encode() + b"x" * 1_000_000
    source = io.BytesIO(data)
    with pytest.raises(DamagedBackup, match="record 1 of the array"):
        all_of(JsonRecords(array_items(source, StreamLimits(frame_bytes=1000)), "array"))
    assert source.tell() < 10_000


def test_a_large_array_is_read_in_flat_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a large array needs far less memory than its size."""
    monkeypatch.setattr(jsonrecords, "JSON5_LIMIT", 1 << 16)
    monkeypatch.setattr(jsonrecords, "CHUNK", 1 << 16)
    monkeypatch.setattr(jsonrecords, "BLOCK", 1 << 16)
    frame = b',{"account":{"givenName":"' + b"x" * 1000 + b'"}}'
    source = io.BytesIO(b"[" + HEADER.encode() + frame * 10_000 + b"]")
    tracemalloc.start()
    try:
        records = JsonRecords(array_items(source, StreamLimits()), "array")
        assert sum(block.count for block in records.blocks()) == 10_000
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20


@given(
    texts=st.lists(st.text(max_size=40), max_size=8),
    chunk=st.integers(1, 50),
    space=st.sampled_from(["", " ", "\n\t "]),
)
def test_a_large_array_is_the_same_wherever_its_pieces_end(texts: list[str], chunk: int, space: str) -> None:
    """A chunk may end in the middle of a character or of an escape."""
    records = [{"account": {"givenName": text}} for text in texts]
    joined = f"{space},{space}".join(json.dumps(item, ensure_ascii=bool(chunk & 1)) for item in records)
    text = f"[{HEADER}{',' if records else ''}{space}{joined}{space}]{space}"
    data = text.encode("utf-8", "surrogatepass")
    expected = read_array(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonrecords, "JSON5_LIMIT", 1)
        patch.setattr(jsonrecords, "CHUNK", chunk)
        assert read_array(data) == expected
