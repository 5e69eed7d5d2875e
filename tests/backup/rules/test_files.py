"""Attachment files are validated against the pointers and the manifest of a backup."""

import re
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup.container.manifest import write_manifest
from holdfast.backup.errors import AttachmentMismatch
from holdfast.backup.media import attachment_of, kept
from holdfast.backup.rules import Finding, validate
from holdfast.backup.schema.backup_pb2 import FilePointer
from tests.backup.streams import LOCAL_KEYS, folder_of, lines_of, sample


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """Write a phone's folder."""
    return folder_of(sample(120), tmp_path)


def validate_media(snapshot: Path) -> list[Finding]:
    """Validate with media."""
    return list(validate(snapshot, LOCAL_KEYS, media=True))


def files(snapshot: Path) -> list[Path]:
    """List the attachment files."""
    return sorted(path for path in (snapshot.parent / "files").rglob("*") if path.is_file())


def test_whole_files_are_in_order(snapshot: Path) -> None:
    """Intact attachments have no findings, with and without decryption."""
    assert len(files(snapshot)) > 3
    assert validate_media(snapshot) == []
    assert list(validate(snapshot, LOCAL_KEYS)) == []


def test_files_are_looked_for_without_being_asked(snapshot: Path) -> None:
    """Missing and truncated files are found by default without decryption; `media=None` skips the check."""
    missing, cut, changed, *_rest = files(snapshot)
    missing.unlink()
    cut.write_bytes(cut.read_bytes()[:40])
    data = bytearray(changed.read_bytes())
    data[20] ^= 1
    changed.write_bytes(data)
    assert sorted(finding.rule.id for finding in validate(snapshot, LOCAL_KEYS)) == [
        "media.file.present",
        "media.file.whole",
    ]
    assert list(validate(snapshot, LOCAL_KEYS, media=None)) == []


def test_an_export_without_its_files_was_made_so(tmp_path: Path) -> None:
    """In an export without the folder `files`, attachments are not missing; with it they are."""
    folder = tmp_path / "signal-export-2026-01-31-10-00-00"
    folder.mkdir()
    (folder / "main.jsonl").write_bytes(lines_of(sample(120)))
    assert not any(finding.rule.id == "media.file.present" for finding in validate(folder))
    (folder / "files").mkdir()
    assert any(finding.rule.id == "media.file.present" for finding in validate(folder))


def test_missing_cut_and_changed_files_are_told_apart(snapshot: Path) -> None:
    """Missing, truncated and changed files have rules of their own, with frame and path."""
    with backup.open(snapshot, LOCAL_KEYS) as source:
        frames = {frame.index: frame.message for frame in source}
    missing, cut, changed, *_rest = files(snapshot)
    missing.unlink()
    cut.write_bytes(cut.read_bytes()[:40])
    data = bytearray(changed.read_bytes())
    data[20] ^= 1
    changed.write_bytes(data)
    findings = validate_media(snapshot)
    assert sorted(finding.rule.id for finding in findings) == [
        "media.file.opens",
        "media.file.present",
        "media.file.whole",
    ]
    assert all(finding.severity == "error" for finding in findings)
    for finding in findings:
        value: object = frames[finding.frame or 0]
        for name, element in re.findall(r"(\w+)(?:\[(\d+)\])?", finding.path):
            value = getattr(value, name)
            value = value[int(element)] if element else value  # type: ignore[index]  # the path is valid
        assert isinstance(value, FilePointer)
        attachment = attachment_of(value.locatorInfo)
        assert attachment is not None
        assert attachment.name in {missing.name, cut.name, changed.name}


def test_another_file_in_its_place_is_found(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose content has another hash is a finding of its own rule."""
    with backup.open(snapshot, LOCAL_KEYS) as source:
        _pointer, attachment = next(kept(source))
        media = source.media
        assert media is not None
        kind = type(media)

    def refuse(self: object, attachment: object) -> None:
        raise AttachmentMismatch("it is another one")

    monkeypatch.setattr(kind, "open", refuse)
    assert attachment.name
    assert {finding.rule.id for finding in validate_media(snapshot)} == {"media.file.hash"}


def test_files_nobody_refers_to_are_noted(snapshot: Path) -> None:
    """An unused file is a note with its name, unless the manifest of another snapshot lists it."""
    stray = snapshot.parent / "files" / "ab" / ("ab" * 32)
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"x")
    (finding,) = validate_media(snapshot)
    assert (finding.rule.id, finding.severity, finding.detail) == (
        "media.file.unused",
        "note",
        f"ab/{'ab' * 32}",
    )
    other = snapshot.parent / "signal-backup-2020-01-01-00-00-00"
    other.mkdir()
    for name in ("main", "metadata"):
        (other / name).write_bytes((snapshot / name).read_bytes())
    with (other / "files").open("wb") as target:
        write_manifest(target, ["ab" * 32])
    assert validate_media(snapshot) == []


def test_a_manifest_is_there_and_can_be_read(snapshot: Path) -> None:
    """A damaged or missing manifest is the only finding: no file is reported as unlisted or unused."""
    manifest = snapshot / "files"
    content = manifest.read_bytes()
    manifest.write_bytes(content[:-1])
    for media in (True, False):
        rules = {finding.rule.id for finding in validate(snapshot, LOCAL_KEYS, media=media)}
        assert rules == {"folder.manifest.readable"}
    manifest.unlink()
    assert {finding.rule.id for finding in validate_media(snapshot)} == {"folder.manifest.present"}


def test_a_manifest_lists_what_the_backup_refers_to(snapshot: Path) -> None:
    """A used file that the manifest does not list is a finding with frame and path, and not unused."""
    with (snapshot / "files").open("wb") as target:
        write_manifest(target, [])
    findings = validate_media(snapshot)
    assert {finding.rule.id for finding in findings} == {"folder.manifest.complete"}
    assert all(finding.frame and finding.path for finding in findings)
    assert len(findings) >= len(files(snapshot))


def test_only_who_asks_for_it_hears_of_files_nobody_refers_to(snapshot: Path) -> None:
    """Unused files are reported only with `media`, since listing them takes as long as reading them."""
    stray = snapshot.parent / "files" / "ab" / ("ab" * 32)
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"x")
    assert list(validate(snapshot, LOCAL_KEYS)) == []
