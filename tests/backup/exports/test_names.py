"""Hostile names of chats and files become safe file names."""

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.exports.folder import is_valid_name
from holdfast.backup.exports.names import MAX_BYTES, SAFE_EXTENSIONS, base36, chat_name, file_name

HOSTILE = st.one_of(
    st.text(max_size=200),
    st.sampled_from(
        [
            "",
            "..",
            "../../etc/passwd",
            "CON",
            "nul.txt",
            ".hidden",
            "a/b\\c",
            "a:b",
            "x\u202egnp.exe",
            " . ",
            "é" * 300,
        ]
    ),
)


@settings(max_examples=50)
@given(HOSTILE, st.integers(0, 1 << 53))
def test_a_chat_of_any_name_has_one_that_fits(name: str, number: int) -> None:
    """A file name has no separator, device name or leading dot, and ends in the id of the chat."""
    result = chat_name(name, number)
    assert is_valid_name(result)
    assert not result.startswith(".")
    assert result.endswith(f"-{base36(number)}")
    assert len(result.encode()) <= MAX_BYTES + 12


def test_chats_of_one_name_stay_apart() -> None:
    """Chats whose names differ in case only have different names on any file system."""
    assert chat_name("Ada", 1).casefold() != chat_name("ADA", 2).casefold()
    assert chat_name("Ada", 1) == chat_name("Ada", 1)


@settings(max_examples=50)
@given(HOSTILE, st.sampled_from([".bin", ".pdf", ""]))
def test_a_file_of_any_name_has_one_that_nothing_runs(name: str, extension: str) -> None:
    """The extension of any file name is a harmless one or .bin."""
    result = file_name(name, extension)
    assert is_valid_name(result)
    ending = result.rpartition(".")[2]
    assert ending == "bin" or SAFE_EXTENSIONS.fullmatch(ending)


def test_names_of_files_stay_readable() -> None:
    """A harmless extension stays, and another one is added behind a dangerous one."""
    assert file_name("Report 2024.pdf", ".bin") == "Report 2024.pdf"
    assert file_name("page.html", ".bin") == "page.html.bin"
    assert file_name("picture.svg", ".bin") == "picture.svg.bin"
    assert file_name(None, ".txt") == "file.txt"
    assert file_name("setup.exe", ".pdf") == "setup.exe.pdf"


def test_ids_are_short_and_differ() -> None:
    """Ids are written in base 36, and no two are written alike."""
    assert base36(0) == "0"
    assert base36((1 << 53) - 1) == "2gosa7pa2gv"
    assert len({base36(number) for number in range(5000)}) == 5000
