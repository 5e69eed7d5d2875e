"""The result of `validate`: an iterator of findings, and a verdict."""

import io
from pathlib import Path

import pytest

import holdfast.backup as hb
from tests.backup.rules.example_backup import ExampleBackup
from tests.backup.rules.invalid_cases import put
from tests.backup.streams import stream_of


def broken() -> bytes:
    """Write a backup with an error of each of two rules, one of them twice."""
    example = ExampleBackup()
    put("voice.chatItem.authorId", 999)(example)
    put("ben.recipient.contact.profileKey", b"x")(example)
    put("ada.recipient.contact.profileKey", b"x")(example)
    return stream_of(example.records())


def test_a_valid_backup_is_ok(tmp_path: Path) -> None:
    """A valid backup has no findings, and the validation has its edition and count of frames."""
    (tmp_path / "a.binproto").write_bytes(stream_of(ExampleBackup().records()))
    validation = hb.validate(tmp_path / "a.binproto")
    assert validation.ok
    assert (validation.findings, dict(validation.by_rule)) == ((), {})
    assert validation.frames == len(ExampleBackup().records()) - 1
    assert validation.edition is not None


def test_findings_are_grouped_by_rule() -> None:
    """`by_rule` has all findings under the id of their rule, in file order."""
    validation = hb.validate(io.BytesIO(broken()))
    assert not validation.ok
    grouped = {rule: [finding.frame for finding in group] for rule, group in validation.by_rule.items()}
    assert set(grouped) == {"contact.profile-key.length", "chat-item.author.known"}
    assert len(grouped["contact.profile-key.length"]) == 2
    assert validation.counts == {hb.Severity.ERROR: 3}
    assert [finding for group in validation.by_rule.values() for finding in group] == list(validation.findings)


def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    """A missing file is an error when the first finding is requested, not before."""
    validation = hb.validate(tmp_path / "nowhere")
    with pytest.raises(hb.UnreadableBackup):
        next(iter(validation))


def test_findings_come_while_the_backup_is_read() -> None:
    """The first finding is returned before the whole file is read."""
    seen: list[int] = []
    records = ExampleBackup().records()
    data = stream_of([*records, b"\x22\x00", *([records[-1]] * 100_000)])
    validation = hb.validate(io.BytesIO(data), edition="current", threads=1, progress=seen.append)
    first = next(iter(validation))
    assert first.frame is not None
    assert max(seen) < len(data)


def test_each_iteration_reads_the_backup_anew() -> None:
    """Each iteration over a validation gives the same findings, and the counts are those of one reading."""
    validation = hb.validate(io.BytesIO(broken()))
    assert list(validation) == list(validation) == list(validation.findings)
    assert sum(validation.counts.values()) == 3


def test_an_open_backup_is_validated_and_stays_open() -> None:
    """A backup that the caller opened is still readable after its validation."""
    with hb.open(io.BytesIO(broken())) as backup:
        assert not hb.validate(backup).ok
        assert len(list(backup)) == hb.validate(backup).frames


def test_the_repr_tells_the_verdict_and_no_content() -> None:
    """`repr` shows the verdict and the count of errors once the backup was read, and never the key."""
    validation = hb.validate(io.BytesIO(broken()), "recovery-key = " + "abcd" * 16)
    assert repr(validation) == "Validation(not read yet)"
    assert not validation.ok
    assert repr(validation) == "Validation(ok=False, errors=3)"
