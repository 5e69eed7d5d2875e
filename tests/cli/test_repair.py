"""`holdfast backup repair`."""

import json
from pathlib import Path

import pytest

from holdfast.cli.exit_codes import ExitCode
from tests.backup.rules.example_backup import ExampleBackup, broken_backup
from tests.backup.streams import KEY_FILE, container_of, sample, small_sample, stream_of
from tests.cli.conftest import Run


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Write a backup with faults."""
    path = tmp_path / "backup.binproto"
    path.write_bytes(stream_of(broken_backup()))
    return path


def test_a_plan_says_what_would_change_and_what_would_not(run: Run, source: Path) -> None:
    """The plan lists repairs with frame, rule and path, and the exit status is 1 if an error is left."""
    result = run("backup", "repair", str(source), "--plan")
    assert (result.status, result.err) == (ExitCode.NO, "")
    first, second, left, last = result.out.splitlines()
    number = ExampleBackup().number("ada")
    assert first == f"frame {number}: contact.registration.set at recipient.contact: The contact is registered."
    assert "chat-folder.all.muted" in second
    assert left.endswith("Kept; --drop would remove it.")
    assert last == ("2 repairs; under `strict`, edition `current`, the result is not valid: 1 error left")
    assert sorted(path.name for path in source.parent.iterdir()) == ["backup.binproto"]


def test_a_repair_is_written_with_its_log_and_undone(run: Run, source: Path) -> None:
    """A repair writes the backup and a log of its changes, and undoing it restores the original byte for byte."""
    fixed, back = source.with_name("fixed.binproto"), source.with_name("back.binproto")
    result = run("backup", "repair", str(source), str(fixed), "--drop")
    assert (result.status, result.err) == (0, "")
    assert "3 repairs, 1 of which removed data" in result.out
    assert f"{fixed}: written; {fixed}.changes.json can undo it" in result.out
    result = run("backup", "repair", str(fixed), str(back), "--undo", f"{fixed}.changes.json")
    assert (result.status, result.err) == (0, "")
    assert result.out == f"{back}: 3 changes undone; the stream is what it was, to the byte\n"
    assert back.read_bytes() == source.read_bytes()


def test_json_has_every_step(run: Run, source: Path) -> None:
    """With `--json` the plan lists the steps and the remaining errors."""
    result = run("backup", "repair", str(source), "--plan", "--json")
    document = json.loads(result.out)
    assert [step["rule"] for step in document["steps"]] == ["contact.registration.set", "chat-folder.all.muted"]
    assert document["remaining_errors"][0]["needs_drop"] is True


def test_more_than_a_screenful_is_counted(run: Run, tmp_path: Path) -> None:
    """After 40 steps the rest is summed up by rule, with their counts."""
    example = ExampleBackup()
    for number in range(60):
        call = example.frame(f"call {number}")
        call.CopyFrom(example.frames["call"])
        call.chatItem.updateMessage.individualCall.ClearField("state")
    source = tmp_path / "backup.binproto"
    source.write_bytes(stream_of(example.records()))
    result = run("backup", "repair", str(source), "--plan")
    assert result.status == 0
    assert "... and 20 more; --json lists them all. In all:" in result.out
    assert "  individual-call.state.known: 60" in result.out


def test_an_encrypted_backup_is_repaired_encrypted(run: Run, tmp_path: Path) -> None:
    """The extension of the target decides that the repaired backup is encrypted."""
    (tmp_path / "keys").write_text(KEY_FILE)
    source = tmp_path / "sealed"
    source.write_bytes(container_of(small_sample()))
    fixed = tmp_path / "fixed.encrypted"
    result = run("backup", "repair", str(source), str(fixed), "--key-file", str(tmp_path / "keys"))
    assert result.err == ""
    assert run("backup", "info", str(fixed), "--key-file", str(tmp_path / "keys")).status == 0
    assert run("backup", "info", str(fixed)).status == ExitCode.USAGE


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((), ExitCode.USAGE, "give the file to write, or --plan"),
        (("out", "--undo", "log", "--drop"), ExitCode.USAGE, "--undo goes with neither"),
        (("out", "--undo", "none"), ExitCode.UNREADABLE, "the change log none cannot be read"),
    ],
)
def test_wrong_usage_is_said_in_one_line(
    run: Run, source: Path, arguments: tuple[str, ...], status: ExitCode, message: str
) -> None:
    """Wrong options have an exit status and an error in one line, and nothing is printed or written."""
    result = run("backup", "repair", str(source), *arguments)
    assert (result.status, result.out, result.err.count("\n")) == (status, "", 1)
    assert message in result.err
    assert not Path("out").exists()


def test_what_cannot_be_read_is_named_by_its_bytes(run: Run, tmp_path: Path) -> None:
    """Without `--drop` the error names that option; with it the unreadable bytes are listed and left out."""
    source, fixed = tmp_path / "broken.binproto", tmp_path / "fixed.binproto"
    records = ExampleBackup().records()
    before = stream_of(records[:-5])
    source.write_bytes(before + b"\xff" * 12 + stream_of(records[-5:]))
    result = run("backup", "repair", str(source), str(fixed))
    assert result.status == ExitCode.UNREADABLE
    assert "--drop drops the unreadable bytes" in result.err
    assert not fixed.exists()
    result = run("backup", "repair", str(source), str(fixed), "--drop")
    assert (result.status, result.err) == (0, "")
    line = f"The bytes from {len(before):,} to {len(before) + 11:,}, in which no record can be read, are left out."
    assert result.out.splitlines()[0] == f"frame {len(records) - 5}: stream.whole: {line}"
    assert fixed.read_bytes() == stream_of(records)


def test_a_damaged_container_is_repaired_and_put_back(run: Run, tmp_path: Path) -> None:
    """A truncated container needs `--drop`, and undoing the repair restores the file."""
    (tmp_path / "keys").write_text(KEY_FILE)
    keys = ("--key-file", str(tmp_path / "keys"))
    source, fixed, back = (tmp_path / name for name in ("sealed.encrypted", "fixed.encrypted", "back"))
    source.write_bytes(container_of(sample(300))[:9000])
    plan = run("backup", "repair", str(source), "--plan", *keys)
    assert (plan.status, plan.err) == (ExitCode.NO, "")
    assert plan.out.startswith(
        "whole backup: container.length: The backup is written again with what is left of it: "
    )
    assert (
        "container.compression: The compressed data are damaged or end too early. Kept; --drop would" in plan.out
    )
    refused = run("backup", "repair", str(source), str(fixed), *keys)
    assert (refused.status, refused.out) == (ExitCode.UNREADABLE, "")
    assert "--drop drops everything after this and keeps the records before it" in refused.err
    result = run("backup", "repair", str(source), str(fixed), "--drop", *keys)
    assert (result.status, result.err) == (0, "")
    assert f"{fixed}.original: the damaged original, kept to be put back when it is undone" in result.out
    assert run("backup", "validate", str(fixed), *keys).status == 0
    undone = run("backup", "repair", str(fixed), str(back), "--undo", f"{fixed}.changes.json", *keys)
    assert undone.out == f"{back}: 2 changes undone; the file is what it was, to the byte\n"
    assert back.read_bytes() == source.read_bytes()
