"""`holdfast backup convert`."""

import json
import stat
from pathlib import Path

from holdfast.cli.exit_codes import ExitCode
from tests.backup.container.vectors import SET_A, SET_B
from tests.backup.streams import (
    HEADER,
    container_of,
    lines_of,
    sample,
    small_sample,
    stream_of,
)
from tests.cli.backup_helpers import OTHER_KEY_FILE, check_failure
from tests.cli.conftest import Run


def test_convert_round_trips(run: Run, tmp_path: Path, strong_key_file: str) -> None:
    """The extension or `--to` selects the format, and converting back restores the bytes."""
    source = tmp_path / "a.binproto"
    source.write_bytes(stream_of(sample()))
    steps = ["b.jsonl", "c.json", "d.encrypted", "e.binproto"]
    path = source
    for step in steps:
        result = run("backup", "convert", str(path), str(tmp_path / step), "--key-file", strong_key_file)
        assert (result.status, result.err) == (0, "")
        assert result.out == f"{tmp_path / step}: {len(sample()) - 1:,} frames\n"
        assert stat.S_IMODE((tmp_path / step).stat().st_mode) == 0o600
        path = tmp_path / step
    assert (tmp_path / "e.binproto").read_bytes() == source.read_bytes()
    assert (tmp_path / "b.jsonl").read_bytes() == lines_of(sample())
    result = run(
        "backup", "convert", str(path), str(tmp_path / "f"), "--to", "folder", "--key-file", strong_key_file
    )
    assert result.out == f"{tmp_path / 'f'}: {len(sample()) - 1:,} frames and 0 attachments\n"
    result = run(
        "backup", "convert", str(tmp_path / "f"), str(tmp_path / "g"), "--to", "stream", "--key", SET_A.pool
    )
    assert (tmp_path / "g").read_bytes() == source.read_bytes()


def test_convert_reads_and_writes_pipes(spawn: Run) -> None:
    """Standard output has the converted backup and nothing else."""
    result = spawn("backup", "convert", "-", "-", "--to", "jsonl", data=stream_of(small_sample()))
    assert (result.status, result.err) == (0, "")
    assert result.out.encode() == lines_of(small_sample())


def test_convert_says_what_it_did_as_json(run: Run, tmp_path: Path) -> None:
    """With `--json` the counts and problems are printed as one document."""
    (tmp_path / "a").write_bytes(stream_of(small_sample()))
    result = run("backup", "convert", str(tmp_path / "a"), str(tmp_path / "b.jsonl"), "--json")
    assert json.loads(result.out) == {"frames": len(small_sample()) - 1, "attachments": 0, "problems": []}


def test_convert_spells_names_as_asked(run: Run, tmp_path: Path) -> None:
    """`--names` selects the spelling of field names, and both can be read again."""
    (tmp_path / "a").write_bytes(stream_of(sample(450)))
    for names, word in (("spec", "platformASpecificSettings"), ("signal", "androidSpecificSettings")):
        target = tmp_path / f"{names}.jsonl"
        assert run("backup", "convert", str(tmp_path / "a"), str(target), "--names", names).status == 0
        assert word in target.read_text()
        assert run("backup", "convert", str(target), str(tmp_path / "back.binproto"), "--force").status == 0
        assert (tmp_path / "back.binproto").read_bytes() == stream_of(sample(450))


def test_convert_tells_of_edited_records_once(run: Run, tmp_path: Path, strong_key_file: str) -> None:
    """A note says that the fields of an edited record were written, not its stored bytes."""
    edited = b"\x12\x02\x08\x05\x12\x00"
    (tmp_path / "a.jsonl").write_bytes(lines_of([HEADER, edited]).replace(b'"5"', b'"6"'))
    for to in ("stream", "folder"):
        result = run(
            "backup",
            "convert",
            str(tmp_path / "a.jsonl"),
            str(tmp_path / to),
            "--to",
            to,
            "--key-file",
            strong_key_file,
        )
        assert result.status == 0
        assert result.err == "note: record 2 was edited; what it says was written, not its kept bytes\n"


def test_nothing_new_is_encrypted_with_a_weak_key(run: Run, tmp_path: Path, key_file: str) -> None:
    """A plain backup and a new key need a strong one; a backup that is encrypted already may keep its key."""
    (tmp_path / "plain").write_bytes(stream_of(small_sample()))
    (tmp_path / "sealed").write_bytes(container_of(small_sample()))
    weak = str(tmp_path / "weak.txt")
    Path(weak).write_text(f"recovery-key = {'wxyz' * 16}\naccount-id = {SET_B.aci}\n")
    target = tmp_path / "out.encrypted"
    check_failure(
        run("backup", "convert", str(tmp_path / "plain"), str(target), "--key-file", weak), ExitCode.USAGE, "weak"
    )
    plain = str(tmp_path / "plain")
    for arguments in (
        ("backup", "crop", plain, str(target), "--since", "2000"),
        ("backup", "merge", plain, plain, "-o", str(target)),
        ("backup", "repair", plain, str(target)),
    ):
        check_failure(run(*arguments, "--key-file", weak), ExitCode.USAGE, "weak")
    arguments = ("backup", "convert", str(tmp_path / "sealed"), str(target), "--key-file", key_file)
    check_failure(run(*arguments, "--new-key-file", weak), ExitCode.USAGE, "weak")
    assert not target.exists()
    assert run(*arguments).status == ExitCode.FINE


def test_convert_encrypts_with_new_keys(run: Run, tmp_path: Path, key_file: str) -> None:
    """The old keys do not open the new backup."""
    (tmp_path / "a").write_bytes(container_of(small_sample()))
    (tmp_path / "new.txt").write_text(OTHER_KEY_FILE)
    target = str(tmp_path / "b.encrypted")
    result = run(
        "backup",
        "convert",
        str(tmp_path / "a"),
        target,
        "--key-file",
        key_file,
        "--new-key-file",
        str(tmp_path / "new.txt"),
    )
    assert result.status == 0
    check_failure(run("backup", "info", target, "--key-file", key_file), ExitCode.WRONG_KEY)
    assert run("backup", "info", target, "--key-file", str(tmp_path / "new.txt")).status == 0


def test_convert_refuses_what_it_cannot_do(run: Run, tmp_path: Path) -> None:
    """A target of unknown form, a folder on standard output, missing keys and damage leave no file behind."""
    source = tmp_path / "a"
    source.write_bytes(stream_of(small_sample()))
    before = sorted(path.name for path in tmp_path.iterdir())
    check_failure(run("backup", "convert", str(source), str(tmp_path / "b")), ExitCode.USAGE, "use --to")
    check_failure(run("backup", "convert", str(source), "-"), ExitCode.USAGE, "use --to")
    check_failure(
        run("backup", "convert", str(source), "-", "--to", "folder"), ExitCode.UNREADABLE, "standard output"
    )
    sealed = run("backup", "convert", str(source), str(tmp_path / "b"), "--to", "container")
    check_failure(sealed, ExitCode.USAGE, "the recovery key and the account id")
    nowhere = run("backup", "convert", str(source), str(tmp_path / "none" / "b.jsonl"))
    check_failure(nowhere, ExitCode.UNREADABLE, "cannot be written")
    source.write_bytes(stream_of(small_sample())[:-1])
    cut = run("backup", "convert", str(source), str(tmp_path / "b.jsonl"))
    check_failure(cut, ExitCode.UNREADABLE, "middle of a record")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
