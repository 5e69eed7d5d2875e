"""Faults of encryption, compression and folders are findings, and readable frames are still validated."""

import gzip
import hmac
import io
import random
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from holdfast import backup
from holdfast.backup import KeyMaterial
from holdfast.backup.container.manifest import write_manifest
from holdfast.backup.errors import BackupError, FolderIncomplete, UnreadableBackup, WrongKey
from holdfast.backup.parts import Part
from holdfast.backup.rules import RULES, Finding, Severity
from holdfast.backup.rules.container import RULE_OF
from holdfast.backup.rules.validator import start_validation
from tests.backup.container.vectors import SET_A
from tests.backup.rules.example_backup import ExampleBackup
from tests.backup.rules.invalid_cases import put
from tests.backup.streams import KEYS, LOCAL_KEYS, MODERN_KEYS, container_of, folder_of, sample, stream_of

FRAMES = 900


def validate_file(
    source: bytes | Path, keys: KeyMaterial | None = KEYS, *, media: bool = False
) -> tuple[list[Finding], int]:
    """Validate, and return the findings and how many frames were read."""
    given = io.BytesIO(source) if isinstance(source, bytes) else source
    with start_validation(given, keys, media=media) as validation:
        findings = list(validation)
        assert validation.valid == (not any(finding.severity is Severity.ERROR for finding in findings))
        return findings, validation.frames


def rules(source: bytes | Path, keys: KeyMaterial | None = KEYS, *, media: bool = False) -> list[str]:
    """Name the rules that are broken."""
    return [finding.rule.id for finding in validate_file(source, keys, media=media)[0]]


def flip_byte(data: bytes, offset: int) -> bytes:
    """Change one byte."""
    return data[:offset] + bytes([data[offset] ^ 0x40]) + data[offset:][1:]


@pytest.fixture(scope="module")
def sealed() -> bytes:
    """Encrypt a sample that has a fault of its own in its first frames."""
    header, *frames = sample(FRAMES)
    return container_of([header, frames[0], b"", *frames[1:]])


def test_every_part_has_its_rule() -> None:
    """Every part of a container has a rule, and these rules are in the list of all rules."""
    assert set(RULE_OF) == set(Part)
    assert set(RULE_OF.values()) <= {rule.id for rule in RULES}


def test_a_wrong_mac_is_found_and_the_frames_are_judged(sealed: bytes) -> None:
    """A changed MAC is a finding, and all frames are checked."""
    findings, frames = validate_file(flip_byte(sealed, len(sealed) - 1))
    rows = [(finding.rule.id, finding.frame) for finding in findings]
    assert rows == [("container.mac", None), ("frame.item.set", 2)]
    assert frames == len(sample(FRAMES))


def test_a_changed_byte_is_judged_up_to_there(sealed: bytes) -> None:
    """A changed byte gives a finding for the MAC and one for the position of damaged compression."""
    findings, frames = validate_file(flip_byte(sealed, len(sealed) // 2))
    assert [finding.rule.id for finding in findings][:2] == ["container.mac", "frame.item.set"]
    assert findings[-1].rule.id in {"container.compression", "container.checksum"}
    assert 10 < frames <= len(sample(FRAMES))
    assert findings[-1].frame == frames + 1
    assert findings[-1].detail.startswith("byte ")


@pytest.mark.parametrize(("cut", "rule"), [(1, "container.length"), (16, "container.mac")])
def test_a_cut_file_is_judged_up_to_there(sealed: bytes, cut: int, rule: str) -> None:
    """The frames before a cut are checked, whether the cut is between two blocks or inside one."""
    findings, frames = validate_file(sealed[: len(sealed) // 32 * 16 + 16 - cut])
    assert [finding.rule.id for finding in findings] == [rule, "frame.item.set", "container.compression"]
    assert 10 < frames < len(sample(FRAMES))


def test_what_is_left_of_a_header_is_too_little() -> None:
    """A container cut in its first bytes is an error of its tokens or its length, without frames."""
    data = container_of(sample(), modern=True)
    for size in (16, 150, 170):
        findings, frames = validate_file(data[:size], MODERN_KEYS)
        assert findings[0].rule.id in {"container.tokens", "container.length"}
        assert findings[0].severity is Severity.ERROR
        assert frames == 0


def test_damaged_tokens_are_found_and_the_frames_are_judged() -> None:
    """Damaged forward-secrecy metadata is a finding, and the frames are checked if the token is given."""
    data = bytearray(container_of(sample(), modern=True))
    offset = data.index(b"\x0a", 8)
    data[offset + 1] += 1
    findings, frames = validate_file(bytes(data), MODERN_KEYS)
    assert [finding.rule.id for finding in findings] == ["container.tokens"]
    assert frames == len(sample()) - 1


def test_wrong_padding_is_found_and_the_frames_are_judged() -> None:
    """Wrong padding under a right MAC is a finding, and all frames are checked."""
    keys = KEYS.message_keys(modern=False)
    content = gzip.compress(stream_of(sample()))
    content += bytes(-len(content) % 16)
    iv = bytes(16)
    encryptor = Cipher(algorithms.AES256(keys.aes), modes.CBC(iv)).encryptor()
    data = iv + encryptor.update(content + bytes(16))
    data += hmac.digest(keys.hmac, data, "sha256")
    findings, frames = validate_file(data)
    assert [finding.rule.id for finding in findings] == ["container.padding"]
    assert frames == len(sample()) - 1


def test_a_wrong_checksum_loses_no_frame() -> None:
    """A wrong gzip checksum is a finding, and all frames before it are checked."""
    packed = gzip.compress(stream_of(sample()))
    findings, frames = validate_file(flip_byte(packed, len(packed) - 6), None)
    assert [finding.rule.id for finding in findings] == ["container.checksum"]
    assert frames == len(sample()) - 1


def test_damage_at_the_very_beginning_leaves_nothing_to_judge(sealed: bytes) -> None:
    """Damage that hides even the header is reported as findings, with no edition and no frames."""
    with start_validation(io.BytesIO(flip_byte(sealed, 40)), KEYS) as validation:
        assert [finding.rule.id for finding in validation] == ["container.mac", "container.compression"]
        assert not validation.readable
        assert (validation.edition, validation.frames) == (None, 0)
    packed = gzip.compress(stream_of(sample()))
    assert rules(packed[:14], None) == ["container.compression"]


def test_another_key_is_still_an_error(sealed: bytes) -> None:
    """A wrong key is an error and not a finding, also for a damaged container."""
    other = KeyMaterial(pool=KEYS.pool, aci=SET_A.aci)
    for data in (sealed, flip_byte(sealed, len(sealed) - 1)):
        with pytest.raises(WrongKey):
            validate_file(data, other)
    with pytest.raises(UnreadableBackup):
        validate_file(sealed[:-1], other)


def test_no_changed_byte_goes_unnoticed() -> None:
    """A changed byte anywhere is a finding, or a wrong key if it is in the first bytes."""
    data = container_of(ExampleBackup().records())
    assert rules(data) == []
    rng = random.Random(3)
    for offset in rng.sample(range(len(data)), 60):
        try:
            assert "container.mac" in rules(flip_byte(data, offset)), offset
        except WrongKey:
            assert offset < 32


def test_a_folder_without_messages_is_found(tmp_path: Path) -> None:
    """A snapshot without its main file is a finding, and an older snapshot is checked in its place."""
    snapshot = folder_of(sample(), tmp_path)
    newer = snapshot.with_name("signal-backup-2099-01-01-00-00-00")
    newer.mkdir()
    (newer / "metadata").write_bytes((snapshot / "metadata").read_bytes())
    findings, frames = validate_file(snapshot.parent, LOCAL_KEYS)
    assert [finding.rule.id for finding in findings] == ["folder.main.present"]
    assert frames == len(sample()) - 1
    (snapshot / "main").unlink()
    with start_validation(snapshot, LOCAL_KEYS) as validation:
        assert [finding.rule.id for finding in validation] == ["folder.main.present"]
        assert not validation.readable
    with pytest.raises(FolderIncomplete):
        backup.open(newer, LOCAL_KEYS)


@pytest.mark.parametrize(
    ("content", "rule"), [(None, "folder.metadata.present"), (b"\x08\x01", "folder.metadata.readable")]
)
def test_metadata_are_missed_only_by_who_needs_them(tmp_path: Path, content: bytes | None, rule: str) -> None:
    """Missing or damaged metadata is a finding, and the frames are checked if the account id is given."""
    snapshot = folder_of(sample(), tmp_path)
    if content is None:
        (snapshot / "metadata").unlink()
    else:
        (snapshot / "metadata").write_bytes(content)
    assert validate_file(snapshot, LOCAL_KEYS)[1] == 0
    assert rules(snapshot, LOCAL_KEYS) == [rule]
    findings, frames = validate_file(snapshot, KEYS)
    assert ([finding.rule.id for finding in findings], frames) == ([rule], len(sample()) - 1)


def test_the_list_of_attachments_is_looked_at(tmp_path: Path) -> None:
    """A missing manifest is a note, and a damaged or incomplete one is an error."""
    snapshot = folder_of(sample(120), tmp_path)
    names = list((snapshot / "files").read_bytes().split(b"\x42\x0a\x40"))[1:]
    assert rules(snapshot, LOCAL_KEYS, media=True) == []
    with (snapshot / "files").open("wb") as target:
        write_manifest(target, (name.decode() for name in names[1:]))
    findings, _frames = validate_file(snapshot, LOCAL_KEYS, media=True)
    assert [(entry.rule.id, entry.frame is None) for entry in findings] == [("folder.manifest.complete", False)]
    (snapshot / "files").write_bytes(b"\x05abc")
    assert rules(snapshot, LOCAL_KEYS) == ["folder.manifest.readable"]
    (snapshot / "files").unlink()
    (finding,), _frames = validate_file(snapshot, LOCAL_KEYS)
    assert (finding.rule.id, finding.severity) == ("folder.manifest.present", Severity.NOTE)


def test_what_is_no_backup_is_an_error_here_too(tmp_path: Path) -> None:
    """An empty folder, an empty file and a file of another format are errors, not findings."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableBackup):
        rules(tmp_path / "empty")
    for data in (b"", b"hello", b"%PDF-1.4 ..."):
        with pytest.raises(BackupError):
            rules(data)


def test_findings_of_frames_come_with_those_of_the_file() -> None:
    """Findings about the file and about its frames are both reported."""
    example = ExampleBackup()
    put("ada.recipient.contact.profileKey", b"x")(example)
    data = container_of(example.records())
    assert rules(flip_byte(data, len(data) - 3)) == ["container.mac", "contact.profile-key.length"]
