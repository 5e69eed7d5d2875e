"""`holdfast backup validate` and `rules`."""

import json
from pathlib import Path

import pytest

from holdfast.backup.rules import RULES
from holdfast.cli.exit_codes import ExitCode
from tests.backup.rules.example_backup import ExampleBackup
from tests.backup.rules.invalid_cases import drop, put
from tests.backup.streams import KEY_FILE, container_of, folder_of, sample, stream_of
from tests.cli.conftest import Run


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Write a backup with three errors and a warning."""
    example = ExampleBackup()
    put("pack.stickerPack.packKey", b"geheim")(example)
    drop("hello.chatItem.standardMessage.reactions.0.emoji")(example)
    drop("sent.chatItem.standardMessage.quote.type")(example)
    drop("voice.chatItem.dateSent")(example)
    path = tmp_path / "broken.binproto"
    path.write_bytes(stream_of(example.records()))
    return path


def test_a_good_backup_is_said_to_be_good(run: Run, tmp_path: Path) -> None:
    """In one line, and with the exit status."""
    path = tmp_path / "good.binproto"
    path.write_bytes(stream_of(sample()))
    ran = run("backup", "validate", str(path))
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == (
        f"good.binproto is valid: no findings in {len(sample()) - 1} frames, held to today's format (strict)\n"
    )


def test_everything_is_listed_counted_and_summed_up(run: Run, broken: Path) -> None:
    """In file order, with the place, the rule, what to do and what an importer does; and no content."""
    ran = run("backup", "validate", str(broken))
    assert (ran.status, ran.err) == (ExitCode.NO, "")
    lines = ran.out.splitlines()
    rules = [line.rpartition("[")[2].rstrip("]") for line in lines[:4]]
    assert rules == ["sticker-pack.key.length", "reaction.emoji", "quote.type.known", "date.zero"]
    assert lines[0].startswith(
        "error frame 17 stickerPack.packKey: The key of the sticker pack does not have 32 bytes"
    )
    assert "An importer takes it for a normal quote." in ran.out
    assert lines[-1].startswith("broken.binproto is not valid: 3 errors, 1 warning in ")
    assert "geheim" not in ran.out


def test_findings_can_be_chosen(run: Run, broken: Path) -> None:
    """By number, rule and severity; the verdict is about all of them."""
    ran = run("backup", "validate", str(broken), "--max", "1")
    assert ran.out.count("[") == 1
    assert "... and 3 more; --max 0 lists them all" in ran.out
    ran = run("backup", "validate", str(broken), "--rule", "reaction", "--rule", "date")
    assert "[reaction.emoji]" in ran.out
    assert "[quote" not in ran.out
    assert "3 errors, 1 warning" in ran.out
    ran = run("backup", "validate", str(broken), "--severity", "error")
    assert "[date.zero]" not in ran.out
    assert run("backup", "validate", str(broken), "--rule", "nonsense").status == ExitCode.USAGE


def test_an_importer_is_told_what_it_can_live_with(run: Run, broken: Path) -> None:
    """The same file is good enough to read, but for a key of the wrong length."""
    ran = run("backup", "validate", str(broken), "--profile", "import")
    assert ran.status == ExitCode.NO
    assert "1 error, 1 warning, 2 notes" in ran.out


def test_json_is_one_finding_a_line(run: Run, broken: Path) -> None:
    """With everything a program needs to find the place."""
    ran = run("backup", "validate", str(broken), "--json")
    assert ran.status == ExitCode.NO
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert [item["rule"] for item in found] == [
        "sticker-pack.key.length",
        "reaction.emoji",
        "quote.type.known",
        "date.zero",
    ]
    assert found[1]["path"] == "chatItem.standardMessage.reactions[0].emoji"
    assert [(item["repair"], item["drop"]) for item in found[:3]] == [
        (None, "drop-record"),
        (None, "drop-element"),
        ("put", None),
    ]
    assert set(found[0]) == {
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
    """A few of what it may have caused are listed, and all with --max 0; the last line counts them."""
    path = tmp_path / "a.binproto"
    records = sample(300)
    path.write_bytes(stream_of(records[:4]) + b"\xff" * 12 + stream_of([*records[6:], records[-1] + b"\x22\x00"]))
    ran = run("backup", "validate", str(path))
    assert ran.status == ExitCode.NO
    listed = [line for line in ran.out.splitlines() if line.startswith("error ")]
    assert sum("It may be among what could not be read." in line for line in listed) == 5
    assert "12 bytes from byte" in listed[0]
    assert "[chat-item.direction.set]" in ran.out
    assert "--max 0 lists them all" in ran.out
    assert " of them maybe only because of what could not be read)" in ran.out.splitlines()[-1]
    every = run("backup", "validate", str(path), "--max", "0").out
    assert every.count("It may be among what could not be read.") > 5
    assert "--max 0" not in every


def test_purpose_and_edition_are_options(run: Run, tmp_path: Path) -> None:
    """The same file is right for one and wrong for another."""
    path = tmp_path / "a.binproto"
    path.write_bytes(stream_of(ExampleBackup().records()))
    assert run("backup", "validate", str(path)).status == ExitCode.FINE
    takeout = run("backup", "validate", str(path), "--purpose", "takeout")
    assert takeout.status == ExitCode.NO
    assert "[view-once.takeout]" in takeout.out
    spec = run("backup", "validate", str(path), "--edition", "spec")
    assert "held to the specification" in spec.out
    assert "[schema.field.newer]" in spec.out


def test_encrypted_backups_and_folders_are_validated(run: Run, tmp_path: Path) -> None:
    """With the same keys as any other command, and with the files beside them."""
    keys = tmp_path / "keys.txt"
    keys.write_text(KEY_FILE)
    path = tmp_path / "a.encrypted"
    path.write_bytes(container_of(sample()))
    assert run("backup", "validate", str(path), "--key-file", str(keys)).status == ExitCode.FINE
    snapshot = folder_of(sample(120), tmp_path)
    next(file for file in sorted((snapshot.parent / "files").rglob("*")) if file.is_file()).unlink()
    for more in ((), ("--media",)):
        ran = run("backup", "validate", str(snapshot), "--key-file", str(keys), *more)
        assert ran.status == ExitCode.NO
        assert "[media.file.present]" in ran.out


def test_rules_are_listed(run: Run) -> None:
    """All of them, some, or as JSON."""
    ran = run("backup", "rules")
    assert ran.status == ExitCode.FINE
    assert all(rule.id in ran.out for rule in RULES)
    some = run("backup", "rules", "poll.vote")
    assert "poll.vote.single" in some.out
    assert "chat" not in some.out.split()
    listed = json.loads(run("backup", "rules", "--json").out)
    assert {item["id"] for item in listed} == {rule.id for rule in RULES}
    assert listed[0]["import"] == "error"
    assert run("backup", "rules", "nonsense").status == ExitCode.USAGE


def test_a_damaged_file_is_judged_and_a_wrong_key_is_not(run: Run, tmp_path: Path) -> None:
    """The exit status tells them apart; the last line says when nothing could be read."""
    keys, data = tmp_path / "keys", container_of(sample())
    keys.write_text(KEY_FILE)
    path = tmp_path / "my.encrypted"
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    ran = run("backup", "validate", str(path), "--key-file", str(keys))
    assert (ran.status, ran.err) == (ExitCode.NO, "")
    assert ran.out.startswith("error whole backup: The encrypted file was changed since it was written: its MAC")
    assert f"1 error in {len(sample()) - 1} frames" in ran.out.splitlines()[-1]
    path.write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])
    ran = run("backup", "validate", str(path), "--key-file", str(keys))
    assert ran.status == ExitCode.NO
    assert ran.out.endswith("my.encrypted is not valid: 2 errors, and nothing in it can be read (strict)\n")
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    ran = run("backup", "validate", str(path), "--key-file", str(keys))
    assert (ran.status, ran.out) == (ExitCode.WRONG_KEY, "")
