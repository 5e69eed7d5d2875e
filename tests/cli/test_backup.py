"""`holdfast backup`."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.schema import BackupInfo
from holdfast.cli.exit_codes import ExitCode
from tests.backup.container.vectors import SET_A, SET_B
from tests.backup.streams import (
    HEADER,
    KEY_FILE,
    KEYS,
    container_of,
    empty_frame,
    file_forms,
    folder_of,
    lines_of,
    record,
    sample,
    small,
    stream_of,
)
from tests.cli.conftest import Ran, Run

STREAM = record(HEADER) + empty_frame(1) + empty_frame(2) * 3 + empty_frame(4) * 12345
OTHER_KEY = f"{SET_A.pool}\naccount-id = {SET_A.aci}"


@pytest.fixture
def strong_key_file(tmp_path: Path) -> str:
    """Write down keys that something new may be encrypted with."""
    path = tmp_path / "strong.txt"
    path.write_text(f"recovery-key = {SET_A.pool}\naccount-id = {SET_B.aci}\n")
    return str(path)


@pytest.fixture
def key_file(tmp_path: Path) -> str:
    """Write the keys down."""
    path = tmp_path / "keys.txt"
    path.write_text(KEY_FILE)
    return str(path)


def check_failure(ran: Ran, status: ExitCode, *words: str) -> None:
    """Hold a failure to one line on standard error and nothing else."""
    assert ran.status == status, ran.err
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    assert ran.out == ""
    for word in words:
        assert word in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("info",),
        ("validate",),
        ("convert", "{out}"),
        ("extract", "{out}"),
        ("redact", "{out}"),
        ("repair", "{out}"),
    ],
)
def test_every_command_says_what_a_file_of_another_kind_is(
    run: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """An archive given for a backup, a database, a chat of WhatsApp: what it is and what to do, in one line."""
    own = tmp_path / "mine.archive"
    archives.open(own, create=True).close()
    chat = tmp_path / "chat.txt"
    chat.write_text("31.12.20, 23:59 - Jörg: Frohes Neues!\n" * 16)
    command, *rest = words
    target = str(tmp_path / "out.binproto")
    for file, told in ((own, "an archive of Holdfast"), (chat, "a chat that WhatsApp exported")):
        ran = run("backup", command, str(file), *(one.format(out=target) for one in rest))
        check_failure(ran, ExitCode.UNREADABLE, told)
        check_failure(
            run("archive", "import", str(tmp_path / "new.archive"), str(file)), ExitCode.UNREADABLE, told
        )


def test_info_prints_what_people_recognise(run: Run, tmp_path: Path) -> None:
    """When and by which app it was made, and what is in it."""
    file = tmp_path / "x.binproto"
    file.write_bytes(STREAM)
    ran = run("backup", "info", str(file))
    assert (ran.status, ran.err) == (0, "")
    for words in ("frame stream", "2023-11-14 22:13:20 UTC", "App 2.0", "App 1.0", "12,345"):
        assert words in ran.out


def test_info_of_a_sample_shows_chats_months_and_media(run: Run, tmp_path: Path, key_file: str) -> None:
    """With the account's name and what became of the attachments."""
    snapshot = folder_of(sample(300), tmp_path)
    next((snapshot.parent / "files").glob("*/*")).unlink()
    account = backup.info(snapshot, KEYS).account
    for more in ([], ["--verify-media"]):
        ran = run("backup", "info", str(tmp_path), "--key-file", key_file, *more)
        assert (ran.status, ran.err) == (ExitCode.NO if more else ExitCode.FINE, "")
        for words in ("local backup folder", "largest chats", "year", "1 missing, 0 damaged", "people", account):
            assert words in ran.out


def test_info_reads_standard_input_and_prints_json(spawn: Run) -> None:
    """Pipes work, and programs can read the answer."""
    ran = spawn("backup", "info", "-", "--json", data=STREAM)
    assert ran.err == ""
    answer = json.loads(ran.out)
    assert answer["counts"]["chatItem"] == 12345
    assert answer["header"]["app_version"] == "App 2.0"
    assert answer["bytes"] == len(STREAM)


@pytest.mark.long
def test_every_form_is_read_from_standard_input(spawn: Run, key_file: str) -> None:
    """As far as it is one file."""
    for name, data in file_forms(small()):
        ran = spawn("backup", "info", "-", "--json", "--key-file", key_file, data=data)
        assert ran.err == "", name
        assert json.loads(ran.out)["counts"]["account"] == 1, name


def test_a_header_without_names_and_dates_is_shown_as_unknown(spawn: Run) -> None:
    """Missing facts are said to be missing; an empty frame is counted."""
    header = BackupInfo(version=1, backupTimeMs=2**64 - 1).SerializeToString()
    ran = spawn("backup", "info", "-", data=record(header) + record(b""))
    assert ran.out.count("unknown") >= 3
    assert "1 frames without a record" in ran.out


def test_damage_is_said_with_its_place(spawn: Run) -> None:
    """The exit status is 3 and the line names frame and byte."""
    ran = spawn("backup", "info", "-", data=STREAM[:-1])
    check_failure(ran, ExitCode.UNREADABLE, "the file ends in the middle of a record (frame 12349, byte ")


def test_what_is_wrong_decides_the_exit_status(run: Run, tmp_path: Path, key_file: str) -> None:
    """Missing key 2, no backup or damage 3, wrong key 4; the key is never repeated."""
    (tmp_path / "sealed").write_bytes(container_of(small()))
    (tmp_path / "text").write_text("Dear diary, this is no backup.\n")
    (tmp_path / "other.txt").write_text(OTHER_KEY)
    (tmp_path / "short.txt").write_text("abcd efgh")
    check_failure(run("backup", "info", str(tmp_path / "sealed")), ExitCode.USAGE, "--key-file", "HOLDFAST_KEY")
    check_failure(
        run("backup", "info", str(tmp_path / "text")), ExitCode.UNREADABLE, "not a chat backup", "looked for"
    )
    check_failure(run("backup", "info", str(tmp_path / "none")), ExitCode.UNREADABLE, "No such file")
    check_failure(run("backup", "info", str(tmp_path / ("x" * 300))), ExitCode.UNREADABLE, "File name too long")
    wrong = run("backup", "info", str(tmp_path / "sealed"), "--key-file", str(tmp_path / "other.txt"))
    check_failure(wrong, ExitCode.WRONG_KEY, "does not fit")
    assert SET_A.pool not in wrong.err
    short = run("backup", "info", str(tmp_path / "sealed"), "--key-file", str(tmp_path / "short.txt"))
    check_failure(short, ExitCode.USAGE, "64 letters and digits")
    assert "abcd" not in short.err
    missing = run("backup", "info", str(tmp_path / "sealed"), "--key-file", str(tmp_path / "nowhere"))
    check_failure(missing, ExitCode.UNREADABLE, "the key file")
    data = bytearray((tmp_path / "sealed").read_bytes())
    data[-50] ^= 1
    (tmp_path / "sealed").write_bytes(data)
    damaged = run("backup", "info", str(tmp_path / "sealed"), "--key-file", key_file)
    check_failure(damaged, ExitCode.UNREADABLE, "the key fits, but the file was changed")


def test_convert_goes_there_and_back(run: Run, tmp_path: Path, strong_key_file: str) -> None:
    """The form is told by the name or by --to."""
    source = tmp_path / "a.binproto"
    source.write_bytes(stream_of(sample()))
    steps = ["b.jsonl", "c.json", "d.encrypted", "e.binproto"]
    place = source
    for step in steps:
        ran = run("backup", "convert", str(place), str(tmp_path / step), "--key-file", strong_key_file)
        assert (ran.status, ran.err) == (0, "")
        assert ran.out == f"{tmp_path / step}: {len(sample()) - 1:,} frames\n"
        assert stat.S_IMODE((tmp_path / step).stat().st_mode) == 0o600
        place = tmp_path / step
    assert (tmp_path / "e.binproto").read_bytes() == source.read_bytes()
    assert (tmp_path / "b.jsonl").read_bytes() == lines_of(sample())
    ran = run(
        "backup", "convert", str(place), str(tmp_path / "f"), "--to", "folder", "--key-file", strong_key_file
    )
    assert ran.out == f"{tmp_path / 'f'}: {len(sample()) - 1:,} frames and 0 attachments\n"
    ran = run("backup", "convert", str(tmp_path / "f"), str(tmp_path / "g"), "--to", "stream", "--key", SET_A.pool)
    assert (tmp_path / "g").read_bytes() == source.read_bytes()


def test_convert_reads_and_writes_pipes(spawn: Run) -> None:
    """Nothing but the backup is on standard output."""
    ran = spawn("backup", "convert", "-", "-", "--to", "jsonl", data=stream_of(small()))
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.encode() == lines_of(small())


def test_convert_says_what_it_did_as_json(run: Run, tmp_path: Path) -> None:
    """For programs."""
    (tmp_path / "a").write_bytes(stream_of(small()))
    ran = run("backup", "convert", str(tmp_path / "a"), str(tmp_path / "b.jsonl"), "--json")
    assert json.loads(ran.out) == {"frames": len(small()) - 1, "attachments": 0, "problems": []}


def test_convert_spells_names_as_asked(run: Run, tmp_path: Path) -> None:
    """Either way is read again."""
    (tmp_path / "a").write_bytes(stream_of(sample(450)))
    for names, word in (("spec", "platformASpecificSettings"), ("signal", "androidSpecificSettings")):
        target = tmp_path / f"{names}.jsonl"
        assert run("backup", "convert", str(tmp_path / "a"), str(target), "--names", names).status == 0
        assert word in target.read_text()
        assert run("backup", "convert", str(target), str(tmp_path / "back.binproto"), "--force").status == 0
        assert (tmp_path / "back.binproto").read_bytes() == stream_of(sample(450))


def test_convert_tells_of_edited_records_once(run: Run, tmp_path: Path, strong_key_file: str) -> None:
    """What they say was written, not the bytes they carry."""
    odd = b"\x12\x02\x08\x05\x12\x00"
    (tmp_path / "a.jsonl").write_bytes(lines_of([HEADER, odd]).replace(b'"5"', b'"6"'))
    for to in ("stream", "folder"):
        ran = run(
            "backup",
            "convert",
            str(tmp_path / "a.jsonl"),
            str(tmp_path / to),
            "--to",
            to,
            "--key-file",
            strong_key_file,
        )
        assert ran.status == 0
        assert ran.err == "note: record 2 was edited; what it says was written, not its kept bytes\n"


def test_nothing_new_is_encrypted_with_a_weak_key(run: Run, tmp_path: Path, key_file: str) -> None:
    """Neither what was plain, nor what gets a new key; what has the key already may keep it."""
    (tmp_path / "plain").write_bytes(stream_of(small()))
    (tmp_path / "sealed").write_bytes(container_of(small()))
    weak = str(tmp_path / "weak.txt")
    Path(weak).write_text(f"recovery-key = {'wxyz' * 16}\naccount-id = {SET_B.aci}\n")
    target = tmp_path / "out.encrypted"
    check_failure(
        run("backup", "convert", str(tmp_path / "plain"), str(target), "--key-file", weak), ExitCode.USAGE, "weak"
    )
    plain = str(tmp_path / "plain")
    for words in (
        ("backup", "crop", plain, str(target), "--since", "2000"),
        ("backup", "merge", plain, plain, "-o", str(target)),
        ("backup", "repair", plain, str(target)),
    ):
        check_failure(run(*words, "--key-file", weak), ExitCode.USAGE, "weak")
    words = ("backup", "convert", str(tmp_path / "sealed"), str(target), "--key-file", key_file)
    check_failure(run(*words, "--new-key-file", weak), ExitCode.USAGE, "weak")
    assert not target.exists()
    assert run(*words).status == ExitCode.FINE


def test_convert_encrypts_with_new_keys(run: Run, tmp_path: Path, key_file: str) -> None:
    """The old ones no longer open it."""
    (tmp_path / "a").write_bytes(container_of(small()))
    (tmp_path / "new.txt").write_text(OTHER_KEY)
    target = str(tmp_path / "b.encrypted")
    ran = run(
        "backup",
        "convert",
        str(tmp_path / "a"),
        target,
        "--key-file",
        key_file,
        "--new-key-file",
        str(tmp_path / "new.txt"),
    )
    assert ran.status == 0
    check_failure(run("backup", "info", target, "--key-file", key_file), ExitCode.WRONG_KEY)
    assert run("backup", "info", target, "--key-file", str(tmp_path / "new.txt")).status == 0


def test_convert_refuses_what_it_cannot_do(run: Run, tmp_path: Path) -> None:
    """A name that says nothing, a folder on standard output, no keys, damage; nothing is left behind."""
    source = tmp_path / "a"
    source.write_bytes(stream_of(small()))
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
    source.write_bytes(stream_of(small())[:-1])
    cut = run("backup", "convert", str(source), str(tmp_path / "b.jsonl"))
    check_failure(cut, ExitCode.UNREADABLE, "middle of a record")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_extract_writes_files_and_counts_them(run: Run, tmp_path: Path, key_file: str) -> None:
    """A second run says the same."""
    folder_of(sample(100), tmp_path / "phone")
    for _ in range(2):
        ran = run("backup", "extract", str(tmp_path / "phone"), str(tmp_path / "out"), "--key-file", key_file)
        assert (ran.status, ran.err) == (0, "")
        assert ran.out.endswith(f"in {tmp_path / 'out'}; 0 missing or damaged\n")
    assert any(path.suffix == ".jpg" for path in (tmp_path / "out").rglob("*"))


def test_extract_reports_each_that_is_missing_and_exits_with_1(run: Run, tmp_path: Path, key_file: str) -> None:
    """A screenful of them by name, all of them as JSON."""
    snapshot = folder_of(sample(450), tmp_path / "phone")
    files = sorted((snapshot.parent / "files").glob("*/*"))
    assert len(files) > 23
    for file in files[:23]:
        file.unlink()
    words = ["backup", "extract", str(tmp_path / "phone"), str(tmp_path / "out"), "--key-file", key_file]
    ran = run(*words)
    assert ran.status == ExitCode.NO
    assert ran.err.count("not in the content store") == 20
    assert "... and 3 more; --json lists them all" in ran.err
    assert "23 missing or damaged" in ran.out
    ran = run(*words, "--json")
    assert ran.status == ExitCode.NO
    answer = json.loads(ran.out)
    assert len(answer) == len(files)
    assert sum(bool(item["problem"]) for item in answer) == 23
    assert all(item["problem"] or Path(item["path"]).is_file() for item in answer)


def test_extract_needs_a_form_with_attachments(run: Run, tmp_path: Path) -> None:
    """A stream has none beside it."""
    (tmp_path / "a").write_bytes(stream_of(small()))
    ran = run("backup", "extract", str(tmp_path / "a"), str(tmp_path / "out"))
    check_failure(ran, ExitCode.UNREADABLE, "frame stream, which has no attachments")
    (tmp_path / "out").write_text("a file")
    folder = folder_of(sample(60), tmp_path / "phone")
    ran = run("backup", "extract", str(folder), str(tmp_path / "out"), "--key", SET_B.pool)
    check_failure(ran, ExitCode.UNREADABLE, "cannot be made")


@pytest.mark.parametrize("name", ["a.binproto", "a.jsonl", "a.json", "a"])
def test_sample_writes_the_form_its_name_says(run: Run, tmp_path: Path, name: str) -> None:
    """The same history each time, another one with another seed."""
    target = tmp_path / name
    ran = run("backup", "sample", str(target), "--messages", "30")
    assert (ran.status, ran.out, ran.err) == (0, "", "")
    with backup.open(target) as found:
        assert (found.header, *(frame.raw for frame in found)) == sample(30)
    assert run("backup", "sample", str(target), "--messages", "30", "--seed", "-7", "--force").status == 0
    with backup.open(target) as found:
        assert found.header != sample(30)[0]


def test_sample_goes_to_standard_output() -> None:
    """As bytes, and with nothing else."""
    words = [sys.executable, "-m", "holdfast", "backup", "sample", "-", "--messages", "30"]
    done = subprocess.run(words, capture_output=True, check=True)
    assert done.stdout == stream_of(sample(30))
    assert done.stderr == b""


@pytest.mark.parametrize("option", ["--encrypt", "--folder"])
def test_an_encrypted_sample_opens_with_the_key_it_printed(run: Run, tmp_path: Path, option: str) -> None:
    """The key goes to standard error, where it can be kept apart."""
    ran = run("backup", "sample", str(tmp_path / "x"), "--messages", "30", option)
    assert (ran.status, ran.out) == (0, "")
    (tmp_path / "keys.txt").write_text(ran.err)
    ran = run("backup", "info", str(tmp_path / "x"), "--key-file", str(tmp_path / "keys.txt"), "--json")
    answer = json.loads(ran.out)
    assert answer["counts"]["chatItem"] == 30
    assert (answer["media"] is None) is (option == "--encrypt")


def test_sample_refuses_nonsense(run: Run, tmp_path: Path) -> None:
    """No messages, no such folder."""
    assert run("backup", "sample", str(tmp_path / "x"), "--messages", "0").status == ExitCode.USAGE
    ran = run("backup", "sample", str(tmp_path / "none" / "x"))
    check_failure(ran, ExitCode.UNREADABLE, "cannot be written")
