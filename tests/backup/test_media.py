"""Attachments of a backup: listing, verifying and extracting them."""

import hashlib
import io
import ntpath
import time
import unicodedata
import zipfile
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import backup
from holdfast.backup.container.attachments import AttachmentKey, LocalKey
from holdfast.backup.errors import DamagedBackup, UnreadableBackup, UnwritableBackup
from holdfast.backup.media import (
    ExtractedAttachment,
    Pointer,
    attachment_of,
    chat_names,
    extension_of,
    extract,
    place,
    pointers,
    safe_name,
    sniffed,
)
from holdfast.backup.schema.backup_pb2 import AccountData, Chat, ChatItem, Contact, FilePointer, Frame, Recipient
from tests.backup.streams import HEADER, KEYS, folder_of, lines_of, message_stream, record, sample, stream_of
from tests.holdfast_demo.sample import sample_parts

SENT = 1_700_000_000_000


def pointer_to(content: bytes, key: int, name: str = "", content_type: str = "") -> FilePointer:
    """Return a file pointer to content that is encrypted with its own key."""
    pointer = FilePointer(contentType=content_type, fileName=name)
    pointer.locatorInfo.plaintextHash = hashlib.sha256(content).digest()
    pointer.locatorInfo.localKey = bytes([key]) * 64
    pointer.locatorInfo.size = len(content)
    return pointer


def history(*files: tuple[bytes, FilePointer], chat: str = "Choir", sent: int = SENT) -> list[bytes]:
    """Make a backup of one chat with a message for each file."""
    frames = [
        Frame(account=AccountData(givenName="Ada")),
        Frame(recipient=Recipient(id=1, contact=Contact(profileGivenName=chat))),
        Frame(chat=Chat(id=5, recipientId=1)),
    ]
    for _content, pointer in files:
        item = ChatItem(chatId=5, authorId=1, dateSent=sent)
        item.standardMessage.attachments.add().pointer.CopyFrom(pointer)
        frames.append(Frame(chatItem=item))
    return [HEADER, *(frame.SerializeToString() for frame in frames)]


def export(folder: Path, *files: tuple[bytes, FilePointer], chat: str = "Choir", sent: int = SENT) -> Path:
    """Write such a backup as an export."""
    folder.mkdir()
    (folder / "main.jsonl").write_bytes(lines_of(history(*files, chat=chat, sent=sent)))
    for content, pointer in files:
        attachment = attachment_of(pointer.locatorInfo)
        assert attachment is not None
        path = folder / "files" / attachment.name[:2] / attachment.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def written(source: Path, target: Path, *, replace: bool = False) -> list[ExtractedAttachment]:
    """Write out the attachments of a backup."""
    with backup.open(source, KEYS) as reader:
        return list(extract(reader, target, replace=replace))


def names_in(target: Path) -> list[str]:
    """List the files in a folder by relative path."""
    return sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file())


def expected_pointers(records: tuple[bytes, ...]) -> Iterator[tuple[int, int, int, str, str, bool]]:
    """Find every pointer with message objects."""
    for index, raw in enumerate(records[1:], 1):
        frame = Frame.FromString(raw)
        for pointer in sample_parts.pointers(frame):
            locator = pointer.locatorInfo
            is_stored = bool(locator.plaintextHash and locator.localKey)
            item = frame.chatItem
            yield index, item.chatId, item.dateSent, pointer.contentType, pointer.fileName, is_stored


def test_every_pointer_of_a_sample_is_found() -> None:
    """Each pointer has frame, chat, time, type and name, wherever it is in a message."""
    records = sample(1000)
    with backup.open(io.BytesIO(stream_of(records))) as source:
        actual = [
            (each.frame, each.chat, each.sent_ms, each.content_type, each.file_name, each.attachment is not None)
            for each in pointers(source)
        ]
    assert len(actual) > 100
    assert sorted(actual) == sorted(expected_pointers(records))


def test_a_pointer_of_an_older_revision_belongs_to_the_message() -> None:
    """The chat and time of a revision's attachment are those of the message around it."""
    item = ChatItem(chatId=5, dateSent=SENT)
    item.revisions.add(chatId=6, dateSent=3).standardMessage.attachments.add().pointer.fileName = "old"
    with backup.open(io.BytesIO(message_stream(Frame(chatItem=item)))) as source:
        path = "chatItem.revisions[0].standardMessage.attachments[0].pointer"
        assert list(pointers(source)) == [Pointer(1, 5, SENT, "", "old", None, path)]


@pytest.mark.parametrize(
    "change",
    [{"plaintextHash": b""}, {"plaintextHash": b"short"}, {"localKey": b""}, {"localKey": b"short"}],
)
def test_what_was_not_kept_is_no_attachment(change: dict[str, bytes]) -> None:
    """A locator without a valid hash and key is no attachment."""
    locator = pointer_to(b"x", 1).locatorInfo
    assert attachment_of(locator) == AttachmentKey(LocalKey(b"\x01" * 64), hashlib.sha256(b"x").digest(), 1)
    for name, value in change.items():
        setattr(locator, name, value)
    assert attachment_of(locator) is None


def test_a_damaged_pointer_is_located() -> None:
    """The error about a damaged pointer has its frame and byte."""
    raw = history((b"x", pointer_to(b"x", 1, "name")))[-1].replace(b"name", b"na\xffe")
    for damaged, message in ((raw, "not UTF-8"), (b"\x22\x05abc", "middle of a field")):
        with (
            backup.open(io.BytesIO(record(HEADER) + record(damaged))) as opened,
            pytest.raises(DamagedBackup, match=rf"{message} \(frame 1, byte \d+\)"),
        ):
            list(pointers(opened))


def test_chats_are_named_after_who_they_are_with() -> None:
    """A chat has the name of its recipient, or `Unknown` if there is none."""
    records = [*history(), Frame(chat=Chat(id=6, recipientId=9)).SerializeToString()]
    with backup.open(io.BytesIO(stream_of(records))) as source:
        assert chat_names(source) == {5: "Choir", 6: "Unknown"}


def test_a_sample_folder_is_written_out_whole(tmp_path: Path) -> None:
    """Each attachment is written once with its content, in a folder named after its chat."""
    snapshot = folder_of(sample(300), tmp_path)
    results = written(snapshot, tmp_path / "out")
    assert len(results) > 20
    assert all(not item.problem for item in results)
    media = {
        hashlib.sha256(path.read_bytes()).digest() for path in (tmp_path / "out").rglob("*") if path.is_file()
    }
    with backup.open(snapshot, KEYS) as source:
        expected = {pointer.attachment.plaintext_hash for pointer in pointers(source) if pointer.attachment}
        chats = set(chat_names(source).values())
    assert media == expected
    assert len(names_in(tmp_path / "out")) == len(results) == len({item.media_name for item in results})
    assert {path.name for path in (tmp_path / "out").iterdir()} <= {safe_name(chat) for chat in chats} | {"Other"}
    assert all(item.path is not None and item.path.stat().st_size == item.bytes for item in results)


def test_a_second_run_writes_nothing_again(tmp_path: Path) -> None:
    """A second run writes no file again; a changed file is reported, and replaced with `replace`."""
    snapshot = folder_of(sample(100), tmp_path)
    first = written(snapshot, tmp_path / "out")
    files = sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file())
    before = {path: path.stat().st_ino for path in files}
    assert written(snapshot, tmp_path / "out") == first
    assert {path: path.stat().st_ino for path in files} == before
    content = files[0].read_bytes()
    files[0].write_bytes(bytes(len(content)))
    files[1].unlink()
    assert [bool(result.problem) for result in written(snapshot, tmp_path / "out")].count(True) == 1
    assert files[0].read_bytes() == bytes(len(content))
    assert written(snapshot, tmp_path / "out", replace=True) == first
    assert files[0].read_bytes() == content
    assert files[1].is_file()


def test_what_is_missing_or_damaged_is_reported_and_stops_nothing(tmp_path: Path) -> None:
    """Missing, empty, changed and linked files are reported with frame and name, and all others written."""
    files = [
        (f"content {number}".encode(), pointer_to(f"content {number}".encode(), number)) for number in range(6)
    ]
    source = export(tmp_path / "in", *files)
    stored = sorted((source / "files").glob("*/*"))
    stored[0].unlink()
    stored[1].write_bytes(b"")
    stored[2].write_bytes(b"something else")
    stored[3].unlink()
    stored[3].symlink_to("/etc/passwd")
    results = written(source, tmp_path / "out")
    problems = {item.media_name: item.problem for item in results if item.problem}
    assert set(problems) == {path.name for path in stored[:4]}
    assert "not in the export" in problems[stored[0].name]
    assert "fewer than" in problems[stored[1].name]
    assert "not the content" in problems[stored[2].name]
    assert "leads out of" in problems[stored[3].name]
    assert [item.frame for item in results] == [4, 5, 6, 7, 8, 9]
    assert len(names_in(tmp_path / "out")) == 2


def test_a_damaged_zip_gives_what_is_left(tmp_path: Path) -> None:
    """One damaged entry of a ZIP is reported, and the other attachments are written."""
    files = [(bytes([number]) * 5000, pointer_to(bytes([number]) * 5000, number)) for number in range(1, 5)]
    source = export(tmp_path / "in", *files)
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        for path in sorted(source.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(source))
    data = (tmp_path / "in.zip").read_bytes()
    (tmp_path / "in.zip").write_bytes(data.replace(bytes([2]) * 5000, bytes([9]) * 5000))
    results = written(tmp_path / "in.zip", tmp_path / "out")
    assert [bool(item.problem) for item in results] == [False, True, False, False]
    assert len(names_in(tmp_path / "out")) == 3


def test_a_form_without_attachments_says_so(tmp_path: Path) -> None:
    """A frame stream has no attachments, and extracting from it is an error that says so."""
    with (
        backup.open(io.BytesIO(stream_of(history()))) as opened,
        pytest.raises(UnreadableBackup, match="frame stream, which has no attachments"),
    ):
        list(extract(opened, tmp_path))


def test_a_target_that_cannot_be_a_folder_is_said(tmp_path: Path) -> None:
    """A target that is a file is refused with an error."""
    source = export(tmp_path / "in", (b"x", pointer_to(b"x", 1)))
    (tmp_path / "out").write_bytes(b"a file")
    with pytest.raises(UnwritableBackup, match="cannot be made"):
        written(source, tmp_path / "out")


HOSTILE = [
    "../../etc/passwd",
    "/etc/passwd",
    "..",
    ".",
    "...",
    "C:\\Windows\\system32\\x.dll",
    "\\\\server\\share",
    "a/b/../../../c",
    "CON",
    "con.txt",
    "LPT1",
    "Aux.tar.gz",
    "name\0hidden.txt",
    "line\nbreak",
    "esc\x1b[31mred",
    "\u202egpj.exe",
    "\u2066x\u2069",
    "sep\u2028arator",
    "a" * 5000 + ".jpg",
    "ü" * 300,
    "👨‍👩‍👧" * 100,
    "." + "x" * 300,
    "trailing. . .",
    "  ",
    ".hidden",
    "~",
    "-rf",
    'a:b*c?d"e<f>g|h',
]


def test_names_stay_in_their_folder_whatever_they_say(tmp_path: Path) -> None:
    """Hostile names of files and chats cannot lead out of the target folder."""
    for number, text in enumerate(HOSTILE):
        files = [(bytes([key]), pointer_to(bytes([key]), key, text, "image/png")) for key in (1, 2)]
        for sent in (SENT, 0):
            folder = tmp_path / f"{number}-{sent}"
            folder.mkdir()
            results = written(export(folder / "in", *files, chat=text, sent=sent), folder / "out")
            assert all(not item.problem for item in results), text
            inside = [
                path for path in folder.rglob("*") if path.is_file() and "in" not in path.relative_to(folder).parts
            ]
            assert len(inside) == 2
            for path in inside:
                assert path.resolve().is_relative_to((folder / "out").resolve())
                assert len(path.relative_to(folder / "out").parts) == 2
                for part in path.relative_to(folder / "out").parts:
                    check_name(part)


def check_name(name: str) -> None:
    """Check that a name is valid in every file system, and has no control characters."""
    assert name not in {"", ".", ".."}
    assert not set(name) & set('<>:"/\\|?*')
    assert not {unicodedata.category(sign) for sign in name} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert len(name.encode()) < 200
    assert name.partition(".")[0].upper().strip() not in {"CON", "PRN", "AUX", "NUL", "LPT1", "COM1"}
    assert name == name.strip(" .")
    on_windows = PureWindowsPath("C:/out") / name
    assert on_windows.name == name
    assert on_windows.parent == PureWindowsPath("C:/out")
    # Deprecated from Python 3.13 on, which has the function.
    is_reserved = getattr(ntpath, "isreserved", None)
    assert not (on_windows.is_reserved() if is_reserved is None else is_reserved(on_windows))


@given(st.text(max_size=300))
def test_any_text_makes_a_safe_name_or_none(text: str) -> None:
    """A safe name is valid on every system and short, and is not changed if made safe again."""
    name = safe_name(text)
    if name:
        check_name(name)
        assert len(name.encode()) <= 100
        assert safe_name(name) == name


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("Com1.tar.gz", "_Com1.tar.gz"),
        ("LPT\u00b2", "_LPT\u00b2"),
        ("conin$", "_conin$"),
        ("aux .log", "_aux .log"),
        ("console.log", "console.log"),
        ("name. . .", "name"),
        ("..\\..\\boot.ini", "_.._boot.ini"),
        ("C:\\Windows\\system.ini", "C_Windows_system.ini"),
        ("\\\\server\\share", "_server_share"),
        ("photo.jpg:stream", "photo.jpg_stream"),
        ("x" * 99 + ". .", "x" * 99),
        ("x" * 99 + "." + "y" * 11, "x" * 99),
    ],
)
def test_names_follow_the_rules_of_windows(given: str, expected: str) -> None:
    """Names that Windows does not allow are replaced by safe ones."""
    assert safe_name(given) == expected
    check_name(expected)


def test_names_that_differ_only_by_case_are_kept_apart(tmp_path: Path) -> None:
    """Names that differ only by case get numbers, since some file systems ignore the case."""
    contents = [bytes([key]) for key in range(1, 6)]
    texts = ["Photo.jpg", "PHOTO.JPG", "photo.jpg", "Photo.jpg", "straße.jpg"]
    files = [
        (content, pointer_to(content, key, text))
        for key, (content, text) in enumerate(zip(contents, texts, strict=True), 1)
    ]
    written(export(tmp_path / "in", *files), tmp_path / "out")
    names = names_in(tmp_path / "out")
    assert len({name.casefold() for name in names}) == len(names) == 5
    assert "Choir/2023-11-14 22.13.20 Photo.jpg" in names
    assert "Choir/2023-11-14 22.13.20 photo (3).jpg" in names


def test_the_same_attachment_is_written_once(tmp_path: Path) -> None:
    """An attachment that several messages have is written once."""
    files = [(b"x", pointer_to(b"x", 1, "a.txt"))] * 3
    assert len(written(export(tmp_path / "in", *files), tmp_path / "out")) == 1
    assert names_in(tmp_path / "out") == ["Choir/2023-11-14 22.13.20 a.txt"]


@pytest.mark.parametrize(
    ("pointer", "start", "name"),
    [
        (Pointer(1, 1, SENT, "image/jpeg", "holiday.JPG", None), b"", "2023-11-14 22.13.20 holiday.JPG"),
        (Pointer(1, 1, SENT, "image/jpeg", "", None), b"", "2023-11-14 22.13.20.jpg"),
        (Pointer(1, 1, 0, "image/jpeg; x=y", "", None), b"", "attachment.jpg"),
        (Pointer(1, 1, 0, "", "", None), b"%PDF-1.7", "attachment.pdf"),
        (Pointer(1, 1, 0, "text/x-signal-plain", "", None), b"", "attachment.txt"),
        (Pointer(1, 1, 0, "made/up", "", None), b"", "attachment"),
        (Pointer(1, 1, (1 << 64) - 1, "", "x", None), b"", "x"),
    ],
)
def test_a_name_is_made_of_time_name_and_type(pointer: Pointer, start: bytes, name: str) -> None:
    """Time, name and extension are used in the file name as far as they are known."""
    assert place(Path("out"), "Ada", pointer, start, set()) == Path("out") / "Ada" / name


def test_content_is_known_by_how_it_begins() -> None:
    """The extension of common file types is found by their first bytes or by their media type."""
    assert sniffed(b"\x89PNG\r\n\x1a\n....") == ".png"
    assert sniffed(b"RIFF....WEBPVP8 ") == ".webp"
    assert sniffed(b"....ftypisom") == ".mp4"
    assert sniffed(b"") == sniffed(b"hello") == ""
    assert extension_of("IMAGE/JPEG") == ".jpg"
    assert extension_of("nonsense") == ""


def test_a_message_with_many_attachments_is_read_once() -> None:
    """The time to list attachments is proportional to their number, whoever wrote the backup."""
    frame = Frame()
    for number in range(20_000):
        attachment = frame.chatItem.standardMessage.attachments.add()
        attachment.pointer.locatorInfo.size = number
    with backup.open(io.BytesIO(message_stream(frame))) as source:
        started = time.process_time()
        paths = [pointer.path for pointer in pointers(source)]
        assert time.process_time() - started < 10
    assert paths[-1] == "chatItem.standardMessage.attachments[19999].pointer"
    assert len(set(paths)) == 20_000
