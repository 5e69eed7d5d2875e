"""The calls in C and those one by one do the same."""

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.hosting.git import atomic_write, kernel, syscalls

both = pytest.mark.parametrize("module", [syscalls, kernel], ids=["calls", "kernel"])


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file grow beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def files_in(folder: Path) -> dict[str, bytes]:
    """Return what lies below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def wanted(folder: Path, contents: list[bytes]) -> list[tuple[str, str, bytes]]:
    """Name files: beside, in folders that are not there yet, and what is in them."""
    return [
        (str(folder / f"tmp{number}"), str(folder / f"{number % 3:02}" / f"{number}"), content)
        for number, content in enumerate(contents)
    ]


def test_the_calls_in_c_are_used_where_they_were_compiled() -> None:
    """Where there is a compiler, as here."""
    for name in kernel.__all__:
        assert getattr(atomic_write, name) is getattr(kernel, name)


@settings(max_examples=20)
@given(contents=st.lists(st.binary(max_size=5000), max_size=8), durable=st.booleans())
def test_both_lay_the_same_files(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes], *, durable: bool
) -> None:
    """Folders on the way are made, files are read-only, and nothing else is left."""
    found = []
    for module in (syscalls, kernel):
        folder = tmp_path_factory.mktemp("laid")
        module.lay(wanted(folder, contents), durable)
        found.append(files_in(folder))
        assert {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file()} <= {0o444}
    assert found[0] == found[1] == {f"{n % 3:02}/{n}": content for n, content in enumerate(contents)}


@both
def test_a_name_that_is_no_text_is_laid_too(module: ModuleType, tmp_path: Path) -> None:
    """A data folder can have any name."""
    folder = tmp_path / os.fsdecode(b"\xff\xc3\xb6")
    folder.mkdir()
    module.lay([(f"{folder}/beside", f"{folder}/00/x", b"x")], True)
    assert (folder / "00" / "x").read_bytes() == b"x"
    assert module.touch(f"{folder}/00/x")


@both
def test_what_is_in_the_way_leaves_no_half(module: ModuleType, tmp_path: Path) -> None:
    """Those before it have their names, those after it are gone, and the error is the system's."""
    files = wanted(tmp_path, [b"0", b"1", b"2"])
    (tmp_path / "01").write_bytes(b"a file where a folder is needed")
    with pytest.raises(NotADirectoryError) as caught:
        module.lay(files, True)
    assert caught.value.errno == errno.ENOTDIR
    assert files_in(tmp_path) == {"00/0": b"0", "01": b"a file where a folder is needed"}


@both
def test_a_full_disk_leaves_nothing(module: ModuleType, tmp_path: Path) -> None:
    """Not even what fitted."""
    with largest_file(10_000), pytest.raises(OSError, match="File too large"):
        module.lay(wanted(tmp_path, [b"x" * 100, b"x" * 20_000, b"x"]), True)
    assert files_in(tmp_path) == {}


@both
def test_a_file_beside_that_is_somebody_elses_is_left_alone(module: ModuleType, tmp_path: Path) -> None:
    """It is neither overwritten nor removed."""
    (tmp_path / "tmp1").write_bytes(b"theirs")
    with pytest.raises(FileExistsError):
        module.lay(wanted(tmp_path, [b"0", b"1"]), True)
    assert files_in(tmp_path) == {"tmp1": b"theirs"}


@both
def test_a_file_is_made_young(module: ModuleType, tmp_path: Path) -> None:
    """If it is there."""
    path = tmp_path / "x"
    assert not module.touch(str(path))
    path.write_bytes(b"")
    os.utime(path, (1, 1))
    assert module.touch(str(path))
    assert path.stat().st_mtime > 1


@both
def test_two_files_change_places(module: ModuleType, tmp_path: Path) -> None:
    """If both are there."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"1")
    assert not module.exchange(str(one), str(other))
    other.write_bytes(b"2")
    assert module.exchange(str(one), str(other))
    assert (one.read_bytes(), other.read_bytes()) == (b"2", b"1")


@both
def test_a_file_is_written_again_only_when_it_is_nobody_elses(module: ModuleType, tmp_path: Path) -> None:
    """Not while somebody reads it, nor when it has another name or is only a link to somewhere."""
    path, other = tmp_path / "x", tmp_path / "y"
    assert not module.rewrite(str(path), b"new")
    path.write_bytes(b"what was there before")
    with path.open("rb") as reader:
        assert not module.rewrite(str(path), b"new")
        assert reader.read() == b"what was there before"
    other.hardlink_to(path)
    assert not module.rewrite(str(path), b"new")
    other.unlink()
    other.symlink_to(path)
    assert not module.rewrite(str(other), b"new")
    for content in (b"new", b"longer than before", b""):
        assert module.rewrite(str(path), content)
        assert path.read_bytes() == content


@both
def test_a_disk_that_is_full_is_told(module: ModuleType, tmp_path: Path) -> None:
    """Nobody takes what was not written for a spare file."""
    path = tmp_path / "x"
    path.write_bytes(b"x")
    with largest_file(10), pytest.raises(OSError, match="File too large"):
        module.rewrite(str(path), b"x" * 100)


@both
def test_writing_out_needs_a_file(module: ModuleType, tmp_path: Path) -> None:
    """A descriptor that is none is an error, not silence."""
    with (tmp_path / "x").open("wb") as file:
        file.write(b"x")
        file.flush()
        module.write_out(file.fileno())
        descriptor = file.fileno()
    with pytest.raises(OSError, match="Bad file descriptor"):
        module.write_out(descriptor)
