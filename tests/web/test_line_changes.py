"""Changed parts inside the lines of a diff."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from holdfast.hosting.git.patches import DiffLine, hunks_between
from holdfast.web.line_changes import changed_part, mark_changes, side_by_side

TEXTS = st.text(st.sampled_from("ab_ <&(1\t"), max_size=12)
FILES = st.lists(st.text(st.sampled_from("ab <"), max_size=4), max_size=12)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("tide = high", "tide = low", ("high", "low")),
        ("    return tide_table", "    return tide_tables", ("tide_table", "tide_tables")),
        ("call(a, b)", "call(a, b, c)", ("", ", c")),
        ("same words here", "same words here today", ("", " today")),
        ("nothing alike", "0123456789", None),
        ("", "something", None),
        ("x" * 1001, "x" * 1001 + "y", None),
    ],
)
def test_the_changed_part_of_a_line_is_found(old: str, new: str, expected: tuple[str, str] | None) -> None:
    """The part covers whole words; very different and very long lines have none."""
    result = changed_part(old, new)
    assert (None if result is None else (old[result[0] : result[1]], new[result[0] : result[2]])) == expected


@given(TEXTS, TEXTS)
def test_outside_the_part_lines_are_the_same(old: str, new: str) -> None:
    """The text before and after the changed part is the same in any two lines."""
    result = changed_part(old, new)
    if result is not None:
        start, old_end, new_end = result
        assert 0 <= start <= old_end <= len(old)
        assert start <= new_end <= len(new)
        assert old[:start] == new[:start]
        assert old[old_end:] == new[new_end:]


@given(FILES, FILES)
def test_no_line_is_lost_or_changed(old: list[str], new: list[str]) -> None:
    """The unified and the split view have every line of a hunk, with marks as the only addition."""
    before, after = ("".join(f"{line}\n" for line in lines).encode() for lines in (old, new))
    for hunk in hunks_between(before, after, most=1000)[0]:
        marked = mark_changes(hunk.lines)
        assert [line for line, _ in marked] == list(hunk.lines)
        assert [html.replace("<mark>", "").replace("</mark>", "") for _, html in marked] == [
            escape(line.text) for line in hunk.lines
        ]
        rows = side_by_side(hunk.lines)
        assert [item[0] for item, _ in rows if item] == [line for line in hunk.lines if line.sign != "+"]
        assert [item[0] for _, item in rows if item] == [line for line in hunk.lines if line.sign != "-"]


def test_a_change_is_marked_in_both_lines_and_escaped() -> None:
    """Lines are marked only where as many were added as deleted."""
    lines = (DiffLine("-", 1, None, "if a < b:"), DiffLine("+", None, 1, "if a < c:"))
    assert [html for _, html in mark_changes(lines)] == [
        "if a &lt; <mark>b</mark>:",
        "if a &lt; <mark>c</mark>:",
    ]
    more = (*lines, DiffLine("+", None, 2, "if x < y:"))
    assert not any("<mark>" in html for _, html in mark_changes(more))
