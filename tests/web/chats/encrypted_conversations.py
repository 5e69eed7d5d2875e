"""An encrypted conversation for tests of exports: the folder of a phone, and its import as in a cache entry."""

import io
import os
import sqlite3
import zipfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from holdfast.backup import export
from holdfast.backup.container.attachments import LocalKey, content_path, encrypt_attachment
from holdfast.backup.conversion import OutputFormat
from holdfast.web.chats.encryption import open_sealed, seal
from holdfast.web.chats.export_worker import ExportForm
from holdfast.web.chats.import_worker import SEALED, ImportLimits, ImportTask, import_backup
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.streams import KEY_FILE, KEYS

__all__ = [
    "KEY",
    "LIMITS",
    "add_attachment",
    "damage",
    "exported_locally",
    "import_folder",
    "picture_names",
    "unzipped",
    "write_folder",
]

KEY = bytes(range(32))
LIMITS = ImportLimits(memory=1 << 30, seconds=60, output=1 << 28)


def write_folder(folder: Path, messages: int = 200) -> None:
    """Write the folder of a phone, with encrypted attachments."""
    write_sample(sample_records(messages, 1), folder, OutputFormat.FOLDER, seed=1, keys=KEYS)


def import_folder(folder: Path) -> Path:
    """Import the folder of a phone as the cache does, and return the encrypted archive."""
    entry = folder.with_name(f"{folder.name} entry")
    entry.mkdir()
    import_backup(ImportTask(str(folder), str(entry), folder.name, LIMITS, KEY_FILE, KEY))
    return entry / SEALED


def add_attachment(folder: Path, archive: Path, pieces: Iterable[bytes]) -> str:
    """Replace the content of a picture of an encrypted archive by another, and return its media name."""
    plain, encrypted = folder / "plain", folder / "encrypted"
    with plain.open("wb") as out:
        out.writelines(pieces)
    with plain.open("rb") as source, encrypted.open("wb") as out:
        key = encrypt_attachment(source, out, LocalKey(os.urandom(64)))
    plain.unlink()
    target = content_path(folder / "files", key.name)
    target.parent.mkdir(exist_ok=True)
    encrypted.rename(target)
    with closing(sqlite3.connect(":memory:")) as connection, connection:
        with closing(open_sealed(archive, KEY)) as opened:
            opened.backup(connection)
        ((name,),) = connection.execute(
            "SELECT min(media_name) FROM attachment WHERE role = 'attachment' AND content_type = 'image/jpeg' "
            "AND plaintext_hash <> ?",
            (key.plaintext_hash.hex(),),
        ).fetchall()
        values = (key.name, key.local_key.reveal(), key.plaintext_hash.hex(), key.size)
        connection.execute(
            "UPDATE attachment SET (media_name, local_key, plaintext_hash, size) = (?, ?, ?, ?) "
            "WHERE media_name = ?",
            (*values, name),
        )
        connection.commit()
        seal(connection, archive, KEY)
    return key.name


def picture_names(archive: Path) -> list[str]:
    """Return the media names of pictures in an encrypted archive that no other attachment has the content of."""
    with closing(open_sealed(archive, KEY)) as opened:
        rows = opened.execute(
            "SELECT min(media_name) FROM attachment WHERE media_name IS NOT NULL GROUP BY plaintext_hash "
            "HAVING count(*) = 1 AND min(role) = 'attachment' AND min(content_type) LIKE 'image/%' ORDER BY 1"
        )
        return [name for (name,) in rows]


def damage(file: Path, place: int = 40) -> None:
    """Change one byte of a file."""
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)


def unzipped(content: bytes) -> dict[str, bytes]:
    """Return the files of a ZIP archive, whose checksums are valid."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def exported_locally(folder: Path, target: Path, form: ExportForm) -> tuple[dict[str, bytes], list[str]]:
    """Export a folder as `holdfast backup export` does; return the files, and the problems of attachments."""
    problems: list[str] = []
    export(folder, target, form, key=KEYS, on_problem=problems.append)
    paths = [path for path in target.rglob("*") if path.is_file() and ".holdfast" not in path.name]
    return {path.relative_to(target).as_posix(): path.read_bytes() for path in paths}, problems
