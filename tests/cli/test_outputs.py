"""Commands never overwrite a source, and other files only with --force."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.cli.exit_codes import ExitCode
from tests.backup.rules.example_backup import broken_backup
from tests.backup.streams import KEY_FILE, container_of, folder_of, sample, small_sample, stream_of
from tests.cli.conftest import Run

PRECIOUS = b"the only copy of something else"

Words = tuple[str, ...]


def commands(source: str, target: str) -> dict[str, Words]:
    """Return the arguments of each command that writes one file from another."""
    return {
        "convert": ("convert", source, target, "--to", "jsonl"),
        "redact": ("redact", source, target),
        "crop": ("crop", source, target, "--to", "stream", "--without-media"),
        "repair": ("repair", source, target, "--to", "stream"),
        "merge": ("merge", source, f"{source}.twin", "-o", target, "--to", "stream", "--same-account"),
    }


WRITERS = sorted(commands("", ""))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Write a backup, and the same again for what takes two."""
    path = tmp_path / "backup.binproto"
    path.write_bytes(stream_of(sample()))
    (tmp_path / "backup.binproto.twin").write_bytes(stream_of(sample()))
    return path


@pytest.mark.parametrize("command", [*WRITERS, "sample"])
def test_another_file_is_replaced_only_by_force(command: str, run: Run, source: Path, tmp_path: Path) -> None:
    """Without `--force` an existing file is kept, the exit status is 1, and the error says what to do."""
    target = tmp_path / "notes.txt"
    target.write_bytes(PRECIOUS)
    sample_command = ("sample", str(target), "--messages", "20")
    arguments = {**commands(str(source), str(target)), "sample": sample_command}[command]
    result = run("backup", *arguments)
    assert (result.status, result.out) == (ExitCode.NO, "")
    assert result.err == f"error: {target} exists already; give another name, or --force to replace it\n"
    assert target.read_bytes() == PRECIOUS
    assert run("backup", *arguments, "--force").status in {ExitCode.FINE, ExitCode.NO}
    assert target.read_bytes() != PRECIOUS
    assert not list(tmp_path.glob(".*"))


def as_is(path: Path) -> Path:
    """Name a file as it is."""
    return path


def by_symlink(path: Path) -> Path:
    """Name a file by a symbolic link."""
    link = path.with_name("symlink")
    link.symlink_to(path)
    return link


def by_hard_link(path: Path) -> Path:
    """Name a file by a hard link."""
    link = path.with_name("hardlink")
    link.hardlink_to(path)
    return link


def by_folder_link(path: Path) -> Path:
    """Name a file through a link to its folder."""
    link = path.parent.with_name(f"{path.parent.name}-link")
    link.symlink_to(path.parent)
    return link / path.name


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.parametrize("alias", [as_is, by_symlink, by_hard_link, by_folder_link])
def test_a_source_is_never_replaced(command: str, alias: Callable[[Path], Path], run: Run, source: Path) -> None:
    """A command refuses its source as target, even with `--force`, by symlink or by hard link."""
    before = source.read_bytes()
    target = alias(source)
    result = run("backup", *commands(str(source), str(target))[command], "--force")
    assert (result.status, result.out) == (ExitCode.NO, "")
    assert "is the backup itself" in result.err
    assert source.read_bytes() == before


def test_no_source_of_a_merge_is_replaced(run: Run, source: Path) -> None:
    """Neither the merged backup nor the list of conflicts may replace a source, even with `--force`."""
    copy = source.with_name("backup.binproto.twin")
    out = source.with_name("out.binproto")
    before = source.read_bytes(), copy.read_bytes()
    for arguments in (
        ("-o", str(copy), "--to", "stream"),
        ("-o", str(out), "--conflicts", str(copy)),
        ("-o", str(out), "--conflicts", str(source)),
    ):
        result = run("backup", "merge", str(source), str(copy), *arguments, "--force")
        assert (result.status, "is the backup itself" in result.err) == (ExitCode.NO, True), arguments
        assert (source.read_bytes(), copy.read_bytes()) == before, arguments
    conflicts = source.with_name("conflicts")
    conflicts.write_bytes(PRECIOUS)
    result = run("backup", "merge", str(source), str(copy), "-o", str(out), "--conflicts", str(conflicts))
    assert result.status == ExitCode.NO
    assert (conflicts.read_bytes(), out.exists()) == (PRECIOUS, False)


@pytest.mark.parametrize("command", ["convert", "redact", "crop", "repair"])
def test_nothing_is_written_into_a_folder_that_is_read(command: str, run: Run, tmp_path: Path) -> None:
    """A target inside the folder that is read is refused, even with `--force`."""
    folder = tmp_path / "phone"
    snapshot = folder_of(small_sample(), folder)
    keys = tmp_path / "keys"
    keys.write_text(KEY_FILE)
    before = {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}
    for source, target in (
        (folder, folder / "out"),
        (folder, snapshot.parent / "out"),
        (snapshot, snapshot / "main"),
        (snapshot, snapshot / "out"),
        (snapshot, snapshot.parent / "files" / "out"),
        (folder, folder),
    ):
        arguments = commands(str(source), str(target))[command]
        result = run("backup", *arguments, "--force", "--key-file", str(keys))
        assert (result.status, result.out) == (ExitCode.NO, ""), (source, target)
        assert "the backup it is made from" in result.err or "the backup itself" in result.err
    assert (
        run("backup", "extract", str(folder), str(folder / "out"), "--key-file", str(keys)).status == ExitCode.NO
    )
    assert run("backup", "export", str(folder), str(folder / "out"), "--key-file", str(keys)).status == ExitCode.NO
    assert {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")} == before


def test_keys_are_never_replaced(run: Run, tmp_path: Path) -> None:
    """No command replaces its own key file, even with `--force`."""
    sealed, keys = tmp_path / "sealed", tmp_path / "keys"
    sealed.write_bytes(container_of(small_sample()))
    keys.write_text(KEY_FILE)
    for arguments in (
        *(commands(str(sealed), str(keys))[command] for command in ("convert", "redact", "crop", "repair")),
        ("repair", str(sealed), str(tmp_path / "fixed"), "--log", str(keys)),
    ):
        result = run("backup", *arguments, "--key-file", str(keys), "--force")
        assert result.status == ExitCode.NO, arguments
        assert keys.read_text() == KEY_FILE


def test_a_change_log_and_a_kept_original_are_not_replaced(run: Run, tmp_path: Path) -> None:
    """An existing change log or original of an earlier repair is not replaced."""
    source = tmp_path / "backup.binproto"
    source.write_bytes(stream_of(broken_backup()))
    fixed = tmp_path / "fixed.binproto"
    for name in ("fixed.binproto.changes.json", "fixed.binproto.original"):
        (tmp_path / name).write_bytes(PRECIOUS)
        result = run("backup", "repair", str(source), str(fixed))
        assert (result.status, name in result.err) == (ExitCode.NO, True)
        assert ((tmp_path / name).read_bytes(), fixed.exists()) == (PRECIOUS, False)
        (tmp_path / name).unlink()
    assert run("backup", "repair", str(source), str(fixed), "--drop").status == ExitCode.FINE
    log = f"{fixed}.changes.json"
    content = Path(log).read_bytes()
    assert run("backup", "repair", str(fixed), log, "--undo", log, "--force").status == ExitCode.NO
    assert Path(log).read_bytes() == content


def test_extracting_keeps_other_files(run: Run, tmp_path: Path) -> None:
    """A file of the same name with another content stays, is listed, and the others are written."""
    result = run("backup", "sample", str(tmp_path / "phone"), "--folder", "--messages", "60")
    (tmp_path / "keys").write_text(result.err)
    out = tmp_path / "out"
    arguments = ("backup", "extract", str(tmp_path / "phone"), str(out), "--key-file", str(tmp_path / "keys"))
    assert run(*arguments).status == ExitCode.FINE
    files = sorted(path for path in out.rglob("*") if path.is_file())
    content = files[0].read_bytes()
    files[0].write_bytes(PRECIOUS)
    files[1].unlink()
    result = run(*arguments)
    assert (result.status, result.err.count("exists already")) == (ExitCode.NO, 1)
    assert (files[0].read_bytes(), files[1].exists()) == (PRECIOUS, True)
    assert run(*arguments, "--force").status == ExitCode.FINE
    assert files[0].read_bytes() == content


def test_standard_streams_are_sources_and_targets_too(source: Path) -> None:
    """A file that is standard input or output is recognised as source or target."""
    before = source.read_bytes()
    command = [sys.executable, "-m", "holdfast", "backup", "redact"]
    with source.open("rb") as file:
        completed = subprocess.run(
            [*command, "-", str(source), "--force"], stdin=file, capture_output=True, check=False
        )
    assert (completed.returncode, b"standard input" in completed.stderr) == (ExitCode.NO, True)
    with source.open("ab") as file:
        completed = subprocess.run([*command, str(source), "-"], stdout=file, stderr=subprocess.PIPE, check=False)
    assert (completed.returncode, b"standard output" in completed.stderr) == (ExitCode.NO, True)
    assert source.read_bytes() == before


def test_a_file_that_appears_meanwhile_is_kept(source: Path, tmp_path: Path) -> None:
    """A file that another program creates during the write is kept."""
    target = tmp_path / "out"
    with backup.open(source) as reader:
        blocks = reader.blocks

        def with_another_program():  # type: ignore[no-untyped-def]  # stands for `blocks`
            target.write_bytes(PRECIOUS)
            return blocks()

        reader.blocks = with_another_program  # type: ignore[method-assign]  # another program interferes
        with pytest.raises(backup.BackupError, match="exists already"):
            backup.redact(reader, target)
    assert target.read_bytes() == PRECIOUS
    assert not list(tmp_path.glob(".*"))


def test_devices_are_not_replaced(run: Run, source: Path, tmp_path: Path) -> None:
    """A named pipe is refused as target, even with `--force`."""
    os.mkfifo(tmp_path / "pipe")
    result = run("backup", "redact", str(source), str(tmp_path / "pipe"), "--force")
    assert (result.status, "not a file" in result.err) == (ExitCode.NO, True)
    assert (tmp_path / "pipe").is_fifo()


@pytest.fixture(params=[0o000, 0o022])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Set a umask that lets others read."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def readable_by_others(folder: Path) -> list[str]:
    """List the files in a folder that other users can read."""
    paths = (path for path in folder.rglob("*") if not path.is_symlink())
    return sorted(path.relative_to(folder).as_posix() for path in paths if path.stat().st_mode & 0o077)


@pytest.mark.usefixtures("umask")
def test_whatever_is_written_is_for_its_owner_alone(run: Run, tmp_path: Path) -> None:
    """Files and folders that commands write are not readable by others under any umask."""
    folder = tmp_path / "home"
    folder.mkdir()
    phone, keys = folder / "deep" / "phone", tmp_path / "keys"
    keys.write_text(run("backup", "sample", str(phone), "--folder", "--messages", "40").err)
    with_keys = ("--key-file", str(keys))
    plain = folder / "plain.binproto"
    assert run("backup", "convert", str(phone), str(plain), *with_keys).status == 0
    assert run("backup", "convert", str(phone), str(folder / "again"), "--to", "folder", *with_keys).status == 0
    assert run("backup", "extract", str(phone), str(folder / "more" / "media"), *with_keys).status == 0
    assert run("archive", "import", str(folder / "chats.db"), str(phone), "--media", *with_keys).status == 0
    for form in ("html", "markdown", "json", "csv", "parquet"):
        exported = folder / "out" / form
        assert run("archive", "export", str(folder / "chats.db"), str(exported), "--to", form).status == 0
    assert run("backup", "export", str(phone), str(folder / "straight"), *with_keys).status == 0
    for command in ("redact", "crop", "repair"):
        assert run("backup", *commands(str(plain), str(folder / f"{command}.binproto"))[command]).status == 0
    (tmp_path / "twin").write_bytes(plain.read_bytes())
    merged = ("-o", str(folder / "merged.jsonl"), "--conflicts", str(folder / "conflicts"))
    assert run("backup", "merge", str(plain), str(tmp_path / "twin"), *merged).status == 0
    assert readable_by_others(folder) == []


@pytest.mark.usefixtures("umask")
def test_an_archive_is_private_while_it_is_written(run: Run, source: Path, tmp_path: Path) -> None:
    """The archive and the files that SQLite writes beside it have mode 0600 during an import."""
    seen: dict[str, set[int]] = {}
    with archives.open(tmp_path / "chats.db", create=True) as opened, backup.open(source) as reader:

        def look(_done: int, _total: int, _messages: int) -> None:
            for path in tmp_path.glob("chats.db*"):
                seen.setdefault(path.name, set()).add(stat.S_IMODE(path.stat().st_mode))

        opened.add(reader, progress=look)
    assert seen == {"chats.db": {0o600}, "chats.db-journal": {0o600}}


def test_an_archive_that_others_could_read_is_taken_from_them(run: Run, source: Path, tmp_path: Path) -> None:
    """Readable archives and empty export folders are made private, and a note says so once."""
    db_path = tmp_path / "chats.db"
    assert run("archive", "import", str(db_path), str(source)).err == ""
    media = tmp_path / "chats.db-media"
    (media / "00").mkdir(parents=True)
    db_path.chmod(0o644)
    (media / "00").chmod(0o755)
    media.chmod(0o755)
    result = run("archive", "import", str(db_path), str(source))
    assert result.err == (
        f"note: others could read {db_path} and 2 more beside it; now only you can (mode 0600, folders 0700)\n"
    )
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (db_path, media, media / "00")]
    assert modes == [0o600, 0o700, 0o700]
    assert run("archive", "import", str(db_path), str(source)).err == ""
    out = tmp_path / "out"
    out.mkdir(0o755)
    out.chmod(0o755)
    result = run("archive", "export", str(db_path), str(out), "--to", "json", "--no-media")
    assert f"note: others could read the folder {out}; now only you can (mode 0700)" in result.err
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    out.chmod(0o755)
    result = run("archive", "export", str(db_path), str(out), "--to", "json", "--no-media")
    assert "others could" not in result.err
    assert stat.S_IMODE(out.stat().st_mode) == 0o755
