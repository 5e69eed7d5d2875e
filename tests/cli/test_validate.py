"""`holdfast backup validate` and `rules`."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from holdfast.backup.errors import UnreadableBackup
from holdfast.backup.rules import RULES
from holdfast.backup.rules.validator import start_validation
from holdfast.cli import validate
from holdfast.cli.exit_codes import ExitCode
from tests.backup.rules.example_backup import ExampleBackup
from tests.backup.rules.invalid_cases import clear, put
from tests.backup.streams import KEY_FILE, container_of, folder_of, sample, stream_of
from tests.cli.conftest import Run


@pytest.fixture
def invalid_backup(tmp_path: Path) -> Path:
    """Write a backup with three errors and a warning."""
    example = ExampleBackup()
    put("pack.stickerPack.packKey", b"geheim")(example)
    clear("hello.chatItem.standardMessage.reactions.0.emoji")(example)
    clear("sent.chatItem.standardMessage.quote.type")(example)
    clear("voice.chatItem.dateSent")(example)
    path = tmp_path / "broken.binproto"
    path.write_bytes(stream_of(example.records()))
    return path


def test_a_good_backup_is_said_to_be_good(run: Run, tmp_path: Path) -> None:
    """A valid backup has exit status 0 and one line with the count of frames and the edition."""
    path = tmp_path / "good.binproto"
    path.write_bytes(stream_of(sample()))
    result = run("backup", "validate", str(path))
    assert (result.status, result.err) == (0, "")
    assert result.out == (
        f"good.binproto is valid: no findings in {len(sample()) - 1} frames, "
        "checked against the current format (strict)\n"
    )


def test_everything_is_listed_counted_and_summed_up(run: Run, invalid_backup: Path) -> None:
    """Findings are listed in file order with place and advice, and without content of the backup."""
    result = run("backup", "validate", str(invalid_backup))
    assert (result.status, result.err) == (ExitCode.NO, "")
    lines = result.out.splitlines()
    rules = [line.rpartition("[")[2].rstrip("]") for line in lines[:4]]
    assert rules == ["sticker-pack.key.length", "reaction.emoji", "quote.type.known", "date.zero"]
    assert lines[0].startswith(
        "error frame 17 stickerPack.packKey: The key of the sticker pack does not have 32 bytes"
    )
    assert "An importer treats it as a normal quote." in result.out
    assert lines[-1].startswith("broken.binproto is not valid: 3 errors, 1 warning in ")
    assert "geheim" not in result.out


def test_findings_can_be_chosen(run: Run, invalid_backup: Path) -> None:
    """`--max`, `--rule` and `--severity` select findings, but the last line counts all of them."""
    for options, rules in (
        (("--max", "1"), ["sticker-pack.key.length"]),
        (("--rule", "reaction", "--rule", "date"), ["reaction.emoji", "date.zero"]),
        (("--severity", "error"), ["sticker-pack.key.length", "reaction.emoji", "quote.type.known"]),
    ):
        result = run("backup", "validate", str(invalid_backup), *options)
        assert re.findall(r"\[([a-z.-]+)\]", result.out) == rules
        assert ("... and 3 more; --max 0 lists them all" in result.out) == ("--max" in options)
        assert "3 errors, 1 warning" in result.out.splitlines()[-1]
    assert run("backup", "validate", str(invalid_backup), "--rule", "nonsense").status == ExitCode.USAGE


def test_in_the_import_profile_only_what_an_importer_rejects_is_an_error(run: Run, invalid_backup: Path) -> None:
    """In the import profile only the wrong key length is an error, and the rest are warnings and notes."""
    result = run("backup", "validate", str(invalid_backup), "--profile", "import")
    assert result.status == ExitCode.NO
    errors = [line for line in result.out.splitlines() if line.startswith("error ")]
    assert [line.rpartition("[")[2] for line in errors] == ["sticker-pack.key.length]"]
    assert "1 error, 1 warning, 2 notes" in result.out


def test_json_of_a_valid_backup_is_an_empty_array(run: Run, tmp_path: Path) -> None:
    """Without findings, and with none that were chosen, `--json` prints a document too."""
    path = tmp_path / "good.binproto"
    path.write_bytes(stream_of(sample()))
    result = run("backup", "validate", str(path), "--json")
    assert (result.status, json.loads(result.out)) == (0, [])


@pytest.mark.parametrize("found", [0, 2])
def test_json_of_a_backup_that_breaks_off_is_one_document(
    run: Run, invalid_backup: Path, monkeypatch: pytest.MonkeyPatch, found: int
) -> None:
    """If an error ends the validation, the findings until then are one document, or else the error is."""
    start = start_validation

    @contextmanager
    def failing(*arguments: Any, **options: Any) -> Iterator[Iterator[Any]]:
        with start(*arguments, **options) as validation:

            def first() -> Iterator[Any]:
                for number, finding in enumerate(validation):
                    if number == found:
                        raise UnreadableBackup("the disk is gone")
                    yield finding

            yield first()

    monkeypatch.setattr(validate, "start_validation", failing)
    result = run("backup", "validate", str(invalid_backup), "--json")
    assert result.status == ExitCode.UNREADABLE
    document = json.loads(result.out)
    assert len(document) == found if found else document["status"] == ExitCode.UNREADABLE


def test_json_is_one_array_with_a_finding_a_line(run: Run, invalid_backup: Path) -> None:
    """With `--json` each item is a finding with its rule, frame, offset, path and repair."""
    result = run("backup", "validate", str(invalid_backup), "--json")
    assert result.status == ExitCode.NO
    findings = json.loads(result.out)
    assert [json.loads(line.rstrip(",")) for line in result.out.splitlines()[1:-1]] == findings
    assert [item["rule"] for item in findings] == [
        "sticker-pack.key.length",
        "reaction.emoji",
        "quote.type.known",
        "date.zero",
    ]
    assert findings[1]["path"] == "chatItem.standardMessage.reactions[0].emoji"
    assert [(item["repair"], item["drop"]) for item in findings[:3]] == [
        (None, "drop-record"),
        (None, "drop-element"),
        ("put", None),
    ]
    assert set(findings[0]) == {
        *(
            "rule",
            "severity",
            "frame",
            "offset",
            "path",
            "detail",
            "problem",
            "advice",
            "importer",
            "repair",
            "drop",
            "consequence",
        )
    }


def test_a_gap_does_not_drown_what_else_is_wrong(run: Run, tmp_path: Path) -> None:
    """Five findings that a gap may have caused are listed, all with `--max 0`, and the last line counts them."""
    path = tmp_path / "a.binproto"
    records = sample(300)
    path.write_bytes(stream_of(records[:4]) + b"\xff" * 12 + stream_of([*records[6:], records[-1] + b"\x22\x00"]))
    result = run("backup", "validate", str(path))
    assert result.status == ExitCode.NO
    listed = [line for line in result.out.splitlines() if line.startswith("error ")]
    assert sum("It may be among what could not be read." in line for line in listed) == 5
    assert "12 bytes skipped at byte" in listed[0]
    assert "[chat-item.direction.set]" in result.out
    assert "--max 0 lists them all" in result.out
    assert " of them maybe only because of what could not be read)" in result.out.splitlines()[-1]
    output = run("backup", "validate", str(path), "--max", "0").out
    assert output.count("It may be among what could not be read.") > 5
    assert "--max 0" not in output


def test_purpose_and_edition_are_options(run: Run, tmp_path: Path) -> None:
    """`--purpose` and `--edition` change which rules apply to the same file."""
    path = tmp_path / "a.binproto"
    path.write_bytes(stream_of(ExampleBackup().records()))
    assert run("backup", "validate", str(path)).status == ExitCode.FINE
    takeout = run("backup", "validate", str(path), "--purpose", "takeout")
    assert takeout.status == ExitCode.NO
    assert "[view-once.takeout]" in takeout.out
    spec = run("backup", "validate", str(path), "--edition", "spec")
    assert "checked against the specification" in spec.out
    assert "[schema.field.newer]" in spec.out


def test_encrypted_backups_and_folders_are_validated(run: Run, tmp_path: Path) -> None:
    """A key file opens containers and folders, and a missing attachment file is a finding."""
    keys = tmp_path / "keys.txt"
    keys.write_text(KEY_FILE)
    path = tmp_path / "a.encrypted"
    path.write_bytes(container_of(sample()))
    assert run("backup", "validate", str(path), "--key-file", str(keys)).status == ExitCode.FINE
    snapshot = folder_of(sample(120), tmp_path)
    next(file for file in sorted((snapshot.parent / "files").rglob("*")) if file.is_file()).unlink()
    for more in ((), ("--media",)):
        result = run("backup", "validate", str(snapshot), "--key-file", str(keys), *more)
        assert result.status == ExitCode.NO
        assert "[media.file.present]" in result.out


def test_rules_are_listed(run: Run) -> None:
    """Rules are listed all, by prefix, or as JSON, and an unknown prefix is wrong usage."""
    result = run("backup", "rules")
    assert result.status == ExitCode.FINE
    assert all(rule.id in result.out for rule in RULES)
    filtered = run("backup", "rules", "poll.vote")
    assert "poll.vote.single" in filtered.out
    assert "chat" not in filtered.out.split()
    listed = json.loads(run("backup", "rules", "--json").out)
    assert {item["id"] for item in listed} == {rule.id for rule in RULES}
    assert listed[0]["import"] == "error"
    assert run("backup", "rules", "nonsense").status == ExitCode.USAGE


def test_a_damaged_file_is_judged_and_a_wrong_key_is_not(run: Run, tmp_path: Path) -> None:
    """A damaged file has findings and exit status 1, and a wrong key has its own exit status."""
    keys, data = tmp_path / "keys", container_of(sample())
    keys.write_text(KEY_FILE)
    path = tmp_path / "my.encrypted"
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    result = run("backup", "validate", str(path), "--key-file", str(keys))
    assert (result.status, result.err) == (ExitCode.NO, "")
    assert result.out.startswith(
        "error whole backup: The encrypted file was changed since it was written: its MAC"
    )
    assert f"1 error in {len(sample()) - 1} frames" in result.out.splitlines()[-1]
    path.write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])
    result = run("backup", "validate", str(path), "--key-file", str(keys))
    assert result.status == ExitCode.NO
    assert result.out.endswith("my.encrypted is not valid: 2 errors, and nothing in it can be read (strict)\n")
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    result = run("backup", "validate", str(path), "--key-file", str(keys))
    assert (result.status, result.out) == (ExitCode.WRONG_KEY, "")
