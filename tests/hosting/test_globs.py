"""Patterns for branches and files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import PatternRefused
from holdfast.hosting.globs import compile_glob, is_plain


@pytest.mark.parametrize(
    ("pattern", "separators", "matched", "not_matched"),
    [
        ("main", "/", ["main"], ["Main", "mains", ""]),
        ("release/*", "/", ["release/1", "release/"], ["release/1/2", "release"]),
        ("release/**", "/", ["release/1", "release/1/2"], ["release"]),
        ("*", "", ["a", "a/b", ""], []),
        ("v?.?", "/", ["v1.2"], ["v1/2", "v12.3"]),
        ("[ab]x", "", ["ax", "bx"], ["cx", "x"]),
        ("[!ab]x", "", ["cx"], ["ax"]),
        ("[a-c]", "", ["b"], ["d", "-"]),
        ("{main,release/*}", "/", ["main", "release/2"], ["release", "other"]),
        ("{a,b{c,d}}", "", ["a", "bc", "bd"], ["b", "c"]),
        ("docs/*.md", "./", ["docs/a.md"], ["docs/a.b.md", "docs/x/a.md"]),
        (r"\*", "", ["*"], ["a"]),
        ("a.c", "", ["a.c"], ["abc"]),
        ("a,b", "", ["a,b"], ["a"]),
    ],
)
def test_what_a_pattern_matches(pattern: str, separators: str, matched: list[str], not_matched: list[str]) -> None:
    """The whole name must match."""
    made = compile_glob(pattern, separators)
    assert [name for name in matched if not made.fullmatch(name)] == []
    assert [name for name in not_matched if made.fullmatch(name)] == []


@pytest.mark.parametrize("pattern", ["[a", "{a", "a\\", "[z-a]", "["])
def test_a_pattern_that_cannot_be_understood_is_refused(pattern: str) -> None:
    """In words."""
    with pytest.raises(PatternRefused, match="pattern"):
        compile_glob(pattern)


@given(st.text(max_size=30), st.sampled_from(["", "/", "./"]))
def test_no_pattern_breaks_anything(pattern: str, separators: str) -> None:
    """It is made, or refused."""
    try:
        made = compile_glob(pattern, separators)
    except PatternRefused:
        return
    made.fullmatch(pattern)
    if is_plain(pattern):
        assert made.fullmatch(pattern)
