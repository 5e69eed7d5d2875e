"""Line positions after a change, and the diff hunk of a line."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.git.line_positions import FileAt, hunk_around, map_line

OLD = [b"%d" % number for number in range(1, 31)]


def joined(lines: list[bytes]) -> bytes:
    """Return lines as a file."""
    return b"".join(line + b"\n" for line in lines)


@given(st.sets(st.integers(0, 29), max_size=12), st.lists(st.integers(0, 29), max_size=6))
def test_a_line_is_mapped_to_its_content(deleted: set[int], inserted: list[int]) -> None:
    """A line is mapped to the line with the same content, and a deleted line to none."""
    new: list[bytes] = []
    for index, line in enumerate(OLD):
        new += [b"new %d" % number for number, at in enumerate(inserted) if at == index]
        if index not in deleted:
            new.append(line)
    for index, line in enumerate(OLD):
        result = map_line(joined(OLD), joined(new), index + 1)
        assert result == (None if index in deleted else new.index(line) + 1)


def test_a_hunk_ends_at_the_line() -> None:
    """The hunk of a comment has at most three lines before its line, and a header with its own counts."""
    new = [*OLD[:9], b"ten", b"eleven", *OLD[10:]]
    assert hunk_around(joined(OLD), joined(new), 11, is_old_side=False) == (
        "@@ -9,2 +9,3 @@\n 9\n-10\n+ten\n+eleven"
    )
    assert hunk_around(joined(OLD), joined(new), 10, is_old_side=True) == "@@ -7,4 +7,3 @@\n 7\n 8\n 9\n-10"


def test_a_line_without_a_change_is_shown_as_it_is() -> None:
    """The hunk of an unchanged line has context only, with the line numbers of both sides."""
    new = [b"zero", *OLD]
    assert hunk_around(joined(OLD), joined(new), 25, is_old_side=False) == (
        "@@ -21,4 +22,4 @@\n 21\n 22\n 23\n 24"
    )
    assert hunk_around(joined(OLD), joined(new), 24, is_old_side=True) == ("@@ -21,4 +22,4 @@\n 21\n 22\n 23\n 24")
    assert hunk_around(b"", b"a\nb\n", 1, is_old_side=False) == "@@ -0,0 +1,1 @@\n+a"


def test_long_lines_are_cut() -> None:
    """A line of 5000 characters is cut in a hunk, which is only for display."""
    assert len(hunk_around(b"", b"x" * 5000 + b"\n", 1, is_old_side=False)) < 1100


def test_the_lines_of_a_file_are_counted() -> None:
    """A final line break starts no new line, and an empty file has one line to comment on."""
    assert FileAt("a", "", b"a\nb\n").has_line(2)
    assert FileAt("a", "", b"a\nb").has_line(2)
    assert not FileAt("a", "", b"a\nb\n").has_line(3)
    assert FileAt("a", "", b"").has_line(1)
    assert FileAt("a", "", None).has_line(10**6)
