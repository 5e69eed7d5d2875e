"""Keeping a folder that has not changed, against hashing its files."""

import hashlib
import os
from pathlib import Path

import holdfast.backup as hb
from bench.harness import Figure, medians
from bench.streams import folder
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.folder_state import list_files
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample

FILES, FILE_SIZE = 2000, 100_000
KEY = "account-id = 659aa5f4-a28d-fcc1-1ea1-b997537a3d95\nbackup-key = " + "5c" * 31 + "01"


def hash_all(phone: Path) -> None:
    """Hash every file, one after the other."""
    for path in list_files(phone):
        with path.open("rb") as source:
            hashlib.file_digest(source, "sha256").hexdigest()


def add_copies(path: Path) -> None:
    """Add copies of as many attachments of that size to the archive: some of them are verified by each run."""
    with hb.archive(path, create=True) as opened:
        for _ in range(FILES):
            content = os.urandom(FILE_SIZE)
            digest = hashlib.sha256(content).hexdigest()
            place = opened.media.place_of(digest, "")
            with opened.media.write(place) as out:
                out.write(content)
            row = (digest, digest, FILE_SIZE, place)
            opened.connection.execute("INSERT INTO media VALUES (?, ?, ?, ?)", row)


def figures() -> list[Figure]:
    """Measure."""
    keys = hb.read_keys(KEY)
    phone, archive = folder() / "phone", folder() / "kept.db"
    write_sample(sample_records(20_000, 1), phone, OutputFormat.FOLDER, seed=1, keys=keys)
    # Attachments of the usual size, of messages that were deleted meanwhile: they are hashed like the others.
    for number in range(FILES):
        name = hashlib.sha256(b"%d" % number).hexdigest()
        (phone / "files" / name[:2]).mkdir(parents=True, exist_ok=True)
        (phone / "files" / name[:2] / name).write_bytes(os.urandom(FILE_SIZE))
    assert hb.keep(phone, archive, keys).complete
    add_copies(archive)
    times = medians({"hash": lambda: hash_all(phone), "keep": lambda: hb.keep(phone, archive, keys)})
    return [
        Figure("an unchanged folder, times hashing its files", times["keep"] / times["hash"], "times", most=1.2),
    ]
