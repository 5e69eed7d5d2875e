"""Writes an export as a ZIP archive to a stream, without temporary files."""

import hashlib
import shutil
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from holdfast.backup.archives.media_files import KeptFile
from holdfast.backup.exports.folder import Accounts, ExportFolder, ExportSummary, ExportTarget, is_valid_name

__all__ = ["PROBLEMS", "ZipTarget", "open_target"]

CHUNK: Final = 1 << 20
# Extracted files are readable by their owner only.
MODE: Final = 0o600 << 16
# The file that lists the attachments which could not be exported.
PROBLEMS: Final = "missing-attachments.txt"


class ZipTarget:
    """The target of an export to a ZIP archive; a context manager, completed by `finish()`.

    There is no earlier export, so all files are written. A file that is put again with the same content is
    skipped. `problems`, the attachments that could not be exported, are written to a file if there are any at the
    end.
    """

    def __init__(self, stream: BinaryIO, problems: Sequence[str] = ()) -> None:
        self.path = Path()
        self.notes: dict[str, Any] = {}
        self._zip = ZipFile(stream, "w", ZIP_DEFLATED)
        self._marks: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._is_open = False
        self._pending: list[tuple[str, KeptFile]] = []
        self._problems = problems

    def finish_unchanged(self) -> ExportSummary | None:
        """Return None: there is no earlier export."""
        return None

    def read_note(self, key: str) -> Any:
        """Return None: there was no earlier run."""
        del key

    def write_note(self, key: str, value: bytes) -> None:
        """Do nothing: there is no next run."""

    def put(self, name: str, content: bytes | Iterable[bytes], mark: str = "") -> str:
        """Write a file and return the mark of its content."""
        if isinstance(content, bytes):
            mark = mark or hashlib.sha256(content).hexdigest()
            if self._claim(name, mark):
                self._zip.writestr(self._entry(name, ZIP_DEFLATED), content)
            return mark
        digest = hashlib.sha256()
        self._claim(name, "being written")
        self._is_open = True
        with self._zip.open(self._entry(name, ZIP_DEFLATED), "w", force_zip64=True) as target:
            for chunk in content:
                digest.update(chunk)
                target.write(chunk)
        self._is_open = False
        pending, self._pending = self._pending, []
        for pending_name, source in pending:
            self._copy(pending_name, source)
        self._marks[name] = digest.hexdigest()
        return self._marks[name]

    def keep(self, name: str, mark: str) -> bool:
        """Return whether this run has written the file with this content."""
        return self._marks.get(name) == mark

    def read(self, name: str) -> bytes:
        """Raise an error: no earlier run wrote anything, and a stream is not read again."""
        raise ValueError(f"{name!r} is not kept")

    def place(self, name: str, source: KeptFile, identity: str | None = None) -> None:
        """Copy a file into the archive; while another is being written, the copy is deferred."""
        # Data already written to the stream cannot be undone, so the file is verified first.
        source.verify()
        if self._claim(name, f"from {identity or source.path.name}"):
            if self._is_open:
                self._pending.append((name, source))
            else:
                self._copy(name, source)

    def has(self, name: str) -> bool:
        """Return whether a file of that name was written."""
        return name in self._marks

    def finish(self) -> ExportSummary:
        """Write the problems and the central directory, without which the archive cannot be read."""
        if self._problems:
            self.put(PROBLEMS, "".join([f"{problem}\n" for problem in self._problems]).encode())
        self._zip.close()
        return ExportSummary(len(self._marks), 0, 0)

    def _copy(self, name: str, source: KeptFile) -> None:
        """Copy a file without compression; media are compressed already."""
        with (
            source.open() as content,
            self._zip.open(self._entry(name, ZIP_STORED), "w", force_zip64=True) as target,
        ):
            shutil.copyfileobj(content, target, CHUNK)

    def _claim(self, name: str, mark: str) -> bool:
        """Check a name; return whether its content must be written."""
        if not is_valid_name(name) or self._names.setdefault(name.casefold(), name) != name:
            raise ValueError(f"{name!r} is not a valid name for a file of an export, or is already in use")
        if name in self._marks:
            if self._marks[name] != mark:
                raise ValueError(f"{name!r} was already written with different content")
            return False
        self._marks[name] = mark
        return True

    @staticmethod
    def _entry(name: str, compression: int) -> ZipInfo:
        """Return the entry of a file, with a fixed time so that equal exports have equal bytes."""
        entry = ZipInfo(name)
        entry.compress_type = compression
        entry.external_attr = MODE
        return entry

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Omit the central directory after an error, so that the archive is recognised as incomplete."""
        if kind is not None:
            self._zip.fp = None


def open_target(
    target: Path | ZipTarget, form: str, stamp: str, accounts: Accounts
) -> AbstractContextManager[ExportTarget]:
    """Return the given ZIP target, or open the folder of an export."""
    return target if isinstance(target, ZipTarget) else ExportFolder(target, form, stamp, accounts)
