"""Detection of uploaded files and folders, and their preparation for the import."""

import hashlib
import zipfile
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from holdfast.backup.container.attachments import AttachmentKey, LocalKey
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.errors import AttachmentMissing
from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import NoSuchChatBackup
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.services import chat_backups, chat_uploads
from holdfast.hosting.services.chat_uploads import ChosenFile, ChosenFiles
from holdfast.hosting.store import accounts
from holdfast.hosting.store.chat_backups import ChatBackup
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings
from holdfast.web.chats.cache_entries import UploadOrigin
from holdfast.web.chats.file_kinds import FileKind
from holdfast.web.chats.uploaded_backups import StoredAttachments, check_kind, make_source
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import copies, write
from tests.backup.streams import KEYS
from tests.hosting.repository_helpers import make_people
from tests.web.chats.upload_helpers import files_below, zip_archive

SNAPSHOT = "signal-backup-2026-01-31-23-59-59"
KEY = AttachmentKey(LocalKey(bytes(64)), hashlib.sha256(b"x").digest(), 1)
MEDIA = "files/ab/ab" + "0" * 62


@pytest.fixture
def app(settings: Settings, database: Database) -> Iterator[App]:
    """Open everything the service has."""
    del database
    with closing(App.open(settings)) as opened:
        yield opened


@pytest.fixture
def admin(app: App) -> Actor:
    """Return the administrator, who uploads."""
    return Actor(accounts.find_user(app.database, "admin"))


def upload(app: App, actor: Actor, files: dict[str, bytes], *, is_folder: bool = True) -> ChatBackup:
    """Upload files that have one chunk each."""
    chosen = [ChosenFile(path, len(content)) for path, content in files.items()]
    begun = chat_uploads.begin(app, actor, ChosenFiles("backup", chosen, is_folder))
    path = app.settings.data / "chunk"
    for position, content in enumerate(files.values()):
        path.write_bytes(content)
        chat_uploads.add_chunk(app, actor, begun.uuid, position, offset=0, path=path)
        # The store may have taken the file itself.
        path.unlink()
    return begun


@pytest.mark.parametrize(
    ("paths", "kind"),
    [
        ([f"SignalBackups/{SNAPSHOT}/main", f"SignalBackups/{SNAPSHOT}/metadata"], FileKind.SEALED),
        ([f"Documents/SignalBackups/{SNAPSHOT}/main", f"Documents/SignalBackups/{MEDIA}"], FileKind.SEALED),
        ([f"{SNAPSHOT}/main", f"{SNAPSHOT}/files"], FileKind.SEALED),
        (["renamed/main", "renamed/metadata"], FileKind.SEALED),
        (["export/main.jsonl", "export/files/ab/abcd.jpg"], FileKind.PLAIN),
        (["photos/a.jpg", "photos/main"], None),
        ([f"SignalBackups/{MEDIA}"], None),
    ],
)
def test_a_folder_is_known_by_its_names(app: App, admin: Actor, paths: list[str], kind: FileKind | None) -> None:
    """The folder of all snapshots, its parent, a single snapshot and an export are recognised."""
    chat_backup = upload(app, admin, dict.fromkeys(paths, b"x"))
    if kind is None:
        with pytest.raises(ApiError) as excinfo:
            check_kind(app, admin, chat_backup)
        assert excinfo.value.status == 422
    else:
        assert check_kind(app, admin, chat_backup) is kind
    assert not list((app.settings.data / "repositories").rglob("main*"))


def test_a_file_is_known_by_its_content(app: App, admin: Actor, tmp_path: Path) -> None:
    """A plain and an encrypted backup are recognised under any name, and copied unchanged for the import."""
    sealed = tmp_path / "sealed"
    write_sample(sample_records(20, 1), sealed, OutputFormat.CONTAINER, seed=1, keys=KEYS)
    for content, kind in (
        (write(tmp_path / "plain", *copies()).read_bytes(), FileKind.PLAIN),
        (sealed.read_bytes(), FileKind.SEALED),
    ):
        chat_backup = upload(app, admin, {"x": content}, is_folder=False)
        assert check_kind(app, admin, chat_backup) is kind
        source = make_source(app, admin, chat_uploads.complete(app, admin, chat_backup.uuid, kind=kind.value))
        assert (source.name, source.kind, source.path) == ("backup", kind, None)
        assert source.media is None or source.media() is None
        assert source.origin == UploadOrigin(chat_backup.id, chat_backup.owner_id)
        assert source.write is not None
        source.write(tmp_path / f"copy of {kind}")
        copy = tmp_path / f"copy of {kind}"
        assert copy.read_bytes() == content
        assert copy.stat().st_mode & 0o077 == 0


def test_the_attachments_of_an_encrypted_folder_stay_in_the_store(app: App, admin: Actor, tmp_path: Path) -> None:
    """Attachments are opened from the object store, and other files are written for the import."""
    write_sample(sample_records(60, 1), tmp_path / "SignalBackups", OutputFormat.FOLDER, seed=1, keys=KEYS)
    files = files_below(tmp_path / "SignalBackups")
    files[f"SignalBackups/files/{KEY.name[:2]}/{KEY.name}"] = b"encrypted"
    chat_backup = upload(app, admin, files)
    done = chat_uploads.complete(app, admin, chat_backup.uuid, kind="sealed")
    source = make_source(app, admin, done)
    assert source.write is not None
    source.write(tmp_path / "copy")
    names = {path.partition("/")[2] for path in files}
    attachments = {name for name in names if name.startswith("files/")}
    copy = tmp_path / "copy"
    copied = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
    assert attachments
    assert copied == names - attachments
    assert (tmp_path / "copy" / "files").is_dir()
    assert source.media is not None
    media = source.media()
    assert media is not None
    assert all(media.has(name.rpartition("/")[2]) for name in attachments)
    assert not media.has("0" * 64)
    content = chat_backups.content_of(app, admin, done)
    stored = StoredAttachments({path: partial(content.open, file) for path, file in content.files.items()})
    with stored.open_encrypted(KEY.name) as file:
        assert file.read() == b"encrypted"
    with pytest.raises(AttachmentMissing):
        stored.open_encrypted("0" * 64)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zipped_folder_is_read_in_place(app: App, admin: Actor, tmp_path: Path, method: int) -> None:
    """Files are written for the import except attachments, which are opened inside the ZIP archive."""
    write_sample(sample_records(60, 1), tmp_path / "SignalBackups", OutputFormat.FOLDER, seed=1, keys=KEYS)
    files = files_below(tmp_path / "SignalBackups")
    chat_backup = upload(app, admin, {"phone.zip": zip_archive(files, method)}, is_folder=False)
    assert check_kind(app, admin, chat_backup) is FileKind.SEALED
    source = make_source(app, admin, chat_uploads.complete(app, admin, chat_backup.uuid, kind="sealed"))
    assert source.write is not None
    source.write(tmp_path / "copy")
    attachments = {path for path in files if path.startswith("SignalBackups/files/")}
    copied = files_below(tmp_path / "copy")
    assert {path.partition("/")[2]: content for path, content in copied.items()} == {
        path.partition("/")[2]: content for path, content in files.items() if path not in attachments
    }
    assert source.media is not None
    media = source.media()
    assert media is not None
    assert attachments
    assert all(media.has(path.rpartition("/")[2]) for path in attachments)


def test_other_zip_archives_are_left_to_the_import(app: App, admin: Actor) -> None:
    """An export is read by the import, and any other archive refused by it. A ZIP bomb is refused at once."""
    for files in ({"export/main.jsonl": b"{}"}, {"photos/a.jpg": b"x"}):
        chat_backup = upload(app, admin, {"x.zip": zip_archive(files)}, is_folder=False)
        assert check_kind(app, admin, chat_backup) is FileKind.PLAIN
    bomb = zip_archive({"signal-backup-1/main": bytes(10_000_000)}, zipfile.ZIP_DEFLATED)
    with pytest.raises(ApiError, match="compressed more") as excinfo:
        check_kind(app, admin, upload(app, admin, {"x.zip": bomb}, is_folder=False))
    assert excinfo.value.status == 422


def test_all_files_of_an_export_are_written_for_the_import(app: App, admin: Actor, tmp_path: Path) -> None:
    """The import reads the attachments of an export too, so they are written with it."""
    files = {"export/main.jsonl": b"{}", f"export/{MEDIA}": b"media", "export/empty": b""}
    chat_backup = upload(app, admin, files)
    source = make_source(app, admin, chat_uploads.complete(app, admin, chat_backup.uuid, kind="plain"))
    assert source.media is None
    assert source.write is not None
    source.write(tmp_path / "copy")
    assert {path: (tmp_path / "copy" / path.partition("/")[2]).read_bytes() for path in files} == files


def test_an_import_that_begins_after_access_was_revoked_reads_nothing(
    app: App, admin: Actor, tmp_path: Path
) -> None:
    """The permission is checked when the content is read, and nothing is written without it."""
    (bob,) = make_people(app.database, "bob")
    chat_backup = upload(app, admin, {"x": b"secret"}, is_folder=False)
    done = chat_uploads.complete(app, admin, chat_backup.uuid, kind="plain")
    chat_backups.share(app, admin, done.uuid, "bob")
    source = make_source(app, Actor(bob), chat_backups.find(app, Actor(bob), done.uuid))
    chat_backups.unshare(app, admin, done.uuid, bob.id)
    assert source.write is not None
    with pytest.raises(NoSuchChatBackup):
        source.write(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
