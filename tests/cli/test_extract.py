"""`holdfast backup extract`."""

import json
from pathlib import Path

from holdfast.cli.exit_codes import ExitCode
from tests.backup.container.vectors import SET_B
from tests.backup.streams import (
    folder_of,
    sample,
    small_sample,
    stream_of,
)
from tests.cli.backup_helpers import check_failure
from tests.cli.conftest import Run


def test_extract_writes_files_and_counts_them(run: Run, tmp_path: Path, key_file: str) -> None:
    """Extracting twice writes the same files and prints the same line."""
    folder_of(sample(100), tmp_path / "phone")
    out = tmp_path / "out"
    outcomes = []
    for _ in range(2):
        result = run("backup", "extract", str(tmp_path / "phone"), str(out), "--key-file", key_file)
        assert (result.status, result.err) == (0, "")
        outcomes.append((result.out, {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}))
    (line, files), again = outcomes
    assert (line, files) == again
    assert line.startswith(f"{len(files)} attachments, ")
    assert line.endswith(f"in {out}; 0 missing or damaged\n")
    assert any(path.suffix == ".jpg" for path in files)


def test_extract_reports_each_that_is_missing_and_exits_with_1(run: Run, tmp_path: Path, key_file: str) -> None:
    """The first 20 missing attachments are listed on standard error, and all of them with `--json`."""
    snapshot = folder_of(sample(450), tmp_path / "phone")
    files = sorted((snapshot.parent / "files").glob("*/*"))
    assert len(files) > 23
    for file in files[:23]:
        file.unlink()
    arguments = ["backup", "extract", str(tmp_path / "phone"), str(tmp_path / "out"), "--key-file", key_file]
    result = run(*arguments)
    assert result.status == ExitCode.NO
    assert result.err.count("not in the content store") == 20
    assert "... and 3 more; --json lists them all" in result.err
    assert "23 missing or damaged" in result.out
    result = run(*arguments, "--json")
    assert result.status == ExitCode.NO
    document = json.loads(result.out)
    assert len(document) == len(files)
    assert sum(bool(item["problem"]) for item in document) == 23
    assert all(item["problem"] or Path(item["path"]).is_file() for item in document)


def test_extract_needs_a_form_with_attachments(run: Run, tmp_path: Path) -> None:
    """A frame stream has no attachments, and a target that is a file is refused."""
    (tmp_path / "a").write_bytes(stream_of(small_sample()))
    result = run("backup", "extract", str(tmp_path / "a"), str(tmp_path / "out"))
    check_failure(result, ExitCode.UNREADABLE, "frame stream, which has no attachments")
    (tmp_path / "out").write_text("a file")
    folder = folder_of(sample(60), tmp_path / "phone")
    result = run("backup", "extract", str(folder), str(tmp_path / "out"), "--key", SET_B.pool)
    check_failure(result, ExitCode.UNREADABLE, "cannot be made")
