"""Changed parts inside the lines of a diff."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup, escape

from holdfast.hosting.git.patches import DiffLine, hunks_between
from holdfast.web.line_changes import MarkedLine, changed_part, mark_changes, side_by_side


def escaped(lines: Sequence[DiffLine]) -> list[MarkedLine]:
    """Return lines as HTML without highlighting."""
    return [(line, escape(line.text)) for line in lines]


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
        marked = mark_changes(escaped(hunk.lines))
        assert [line for line, _ in marked] == list(hunk.lines)
        assert [html.replace("<mark>", "").replace("</mark>", "") for _, html in marked] == [
            escape(line.text) for line in hunk.lines
        ]
        rows = side_by_side(marked)
        assert [item for item, _ in rows if item] == [item for item in marked if item[0].sign != "+"]
        assert [item for _, item in rows if item] == [item for item in marked if item[0].sign != "-"]


def test_a_change_is_marked_in_both_lines_and_escaped() -> None:
    """Lines are marked only where as many were added as deleted."""
    lines = (DiffLine("-", 1, None, "if a < b:"), DiffLine("+", None, 1, "if a < c:"))
    assert [html for _, html in mark_changes(escaped(lines))] == [
        "if a &lt; <mark>b</mark>:",
        "if a &lt; <mark>c</mark>:",
    ]
    more = (*lines, DiffLine("+", None, 2, "if x < y:"))
    assert not any("<mark>" in html for _, html in mark_changes(escaped(more)))


def test_a_mark_cuts_the_elements_of_a_highlighted_line() -> None:
    """An element that is partly inside the mark is closed and reopened, and an entity counts as one character."""
    whole = 'print(<span class="s">&#39;a {}&#39;</span>)'
    marked = (
        'print(<span class="s">&#39;a </span><mark><span class="s">{}</span></mark><span class="s">&#39;</span>)'
    )
    before = DiffLine("-", 1, None, "print('a tide')"), Markup(whole.format("tide"))
    after = DiffLine("+", None, 1, "print('a lantern')"), Markup(whole.format("lantern"))
    assert [html for _, html in mark_changes([before, after])] == [
        marked.format("tide"),
        marked.format("lantern"),
    ]
    entities = '&amp;&lt; <span class="k">is</span> {}'
    before = DiffLine("-", 1, None, "&< is x"), Markup(entities.format("x"))
    after = DiffLine("+", None, 1, "&< is y"), Markup(entities.format("y"))
    assert [html for _, html in mark_changes([before, after])] == [
        entities.format(f"<mark>{name}</mark>") for name in "xy"
    ]
