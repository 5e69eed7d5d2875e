"""The repositories in a backup: refs of one moment, and every object they need."""

import io
import threading
from typing import IO

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import SnapshotError
from holdfast.hosting.git import gc, ref_store
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.snapshot.folders import check_head, copy_repository, is_member, shared_gc_lock


class Bin:
    """Takes what is copied."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def add(self, name: str, content: IO[bytes], size: int) -> None:
        """Keep a file."""
        self.files[name] = content.read(size)

    def add_bytes(self, name: str, content: bytes) -> None:
        """Keep a small file."""
        self.add(name, io.BytesIO(content), len(content))


def test_only_refs_and_objects_are_copied(app: App) -> None:
    """No settings, no hooks, nothing half-written."""
    folder = app.folders.path(1)
    (folder / "hooks").mkdir()
    (folder / "hooks" / "update").write_text("#!/bin/sh\n")
    (folder / "objects" / "pack" / "tmp_pack_x").write_bytes(b"half")
    (folder / "objects" / "pack" / f"pack-{'0' * 40}.pack").write_bytes(b"its index is not there yet")
    taken = Bin()
    assert copy_repository(taken, folder, 1)
    names = {name.removeprefix("repositories/1/") for name in taken.files}
    assert {"HEAD", "packed-refs"} < names
    assert all(is_member(name) for name in names)
    assert not any("tmp" in name or "hooks" in name or "0" * 40 in name for name in names)
    assert taken.files["repositories/1/packed-refs"].count(b"refs/heads/main") == 1


def test_a_repository_that_is_gone_is_left_out(app: App) -> None:
    """It was deleted while the backup was made."""
    assert not copy_repository(Bin(), app.folders.path(99), 99)


def test_objects_that_vanish_by_hand_are_an_error(app: App) -> None:
    """Nothing of ours removes them meanwhile, so the backup would not be whole."""
    folder = app.folders.path(1)

    class Vandal(Bin):
        """Removes everything as soon as it sees an object."""

        def add(self, name: str, content: IO[bytes], size: int) -> None:
            """Keep a file, and remove the others."""
            super().add(name, content, size)
            for path in (folder / "objects").glob("??/*") if "objects" in name else ():
                path.unlink()

    with pytest.raises(SnapshotError, match="were deleted"):
        copy_repository(Vandal(), folder, 1)


def test_collecting_waits_for_another_time_while_a_repository_is_copied(app: App) -> None:
    """It says that somebody is at it; several may copy at once."""
    folder = app.folders.path(1)
    with shared_gc_lock(folder), shared_gc_lock(folder):
        assert gc.collect_garbage(folder) is False
    assert gc.collect_garbage(folder) is True


def test_refs_that_move_all_the_time_are_read_as_they_were_at_one_moment(app: App) -> None:
    """A branch that is renamed again and again is there under one of its names."""
    folder = app.folders.path(1)
    stop = threading.Event()

    def rename() -> None:
        old, new = "main", "other"
        while not stop.wait(0.002):
            ref_store.rename_branch(open_repository(folder), old, new)
            old, new = new, old

    thread = threading.Thread(target=rename)
    thread.start()
    try:
        for _ in range(20):
            taken = Bin()
            try:
                copy_repository(taken, folder, 1)
            except SnapshotError:
                continue  # too fast for two readings to agree, which is said
            lines = taken.files["repositories/1/packed-refs"].splitlines()[1:]
            assert len([line for line in lines if b"refs/heads/" in line]) == 1
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("content", [b"", b"0" * 40, b"ref: refs/heads/..\n", b"ref: refs/tags/x\n"])
def test_a_head_must_name_a_branch(content: bytes) -> None:
    """Anything else was not written by us."""
    with pytest.raises(SnapshotError):
        check_head(content, 1)
    assert check_head(b"ref: refs/heads/a/b\n", 1) == "a/b"
