"""Glob patterns for branches and files."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import PatternRefused
from holdfast.hosting.store.globs import compile_glob, is_plain


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
        ("{,x}y", "", ["y", "xy"], ["x"]),
        ("{a*,*b}c", "/", ["axc", "xbc", "ac", "bc"], ["xc", "a/c"]),
        ("**a*b", "/", ["a/ab", "x/y/acb"], ["a/b"]),
        ("[!]a]", "", [], ["a", "]"]),
        ("[]a]", "", ["]", "a"], ["x"]),
        ("[a-]", "", ["a", "-"], ["b"]),
    ],
)
def test_patterns_match_names(pattern: str, separators: str, matched: list[str], not_matched: list[str]) -> None:
    """A glob must match the whole name, and stars do not match separators."""
    glob = compile_glob(pattern, separators)
    assert [name for name in matched if not glob.matches(name)] == []
    assert [name for name in not_matched if glob.matches(name)] == []


@pytest.mark.parametrize("pattern", ["[a", "{a", "a\\", "[z-a]", "[", "[!]", "{" * 11 + "}" * 11, "a" * 1001])
def test_a_pattern_that_cannot_be_understood_is_refused(pattern: str) -> None:
    """An invalid glob is refused with an error about the pattern."""
    with pytest.raises(PatternRefused, match="pattern"):
        compile_glob(pattern)


@given(st.text(max_size=30), st.sampled_from(["", "/", "./"]))
def test_any_pattern_is_compiled_or_refused(pattern: str, separators: str) -> None:
    """Any text is compiled as a glob or raises PatternRefused, and a plain text matches itself."""
    try:
        glob = compile_glob(pattern, separators)
    except PatternRefused:
        return
    glob.matches(pattern)
    if is_plain(pattern):
        assert glob.matches(pattern)


def reference(pattern: str) -> re.Pattern[str]:
    """Write a pattern without brackets as a regular expression, which is quick for names that are short."""
    signs = {"*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")", ",": "|"}
    return re.compile("".join(signs.get(sign, re.escape(sign)) for sign in pattern))


braces = st.recursive(
    st.text("ab/*?", max_size=4),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: "{" + ",".join(parts) + "}")
        | st.tuples(inner, inner).map("".join)
    ),
    max_leaves=6,
)


@given(braces.filter(lambda pattern: "**" not in pattern and "{" in pattern), st.text("ab/", max_size=6))
def test_a_pattern_matches_what_a_regular_expression_would(pattern: str, name: str) -> None:
    """Alternatives, stars and question marks match as in an equivalent regular expression."""
    assert compile_glob(pattern, "/").matches(name) == bool(reference(pattern).fullmatch(name))


@pytest.mark.parametrize(
    "pattern", ["*a" * 400 + "b", "{*a,a*}" * 100, "{a,aa}" * 160, "{" * 10 + "*" * 400 + "}" * 10]
)
def test_matching_takes_bounded_time(pattern: str) -> None:
    """Patterns with hundreds of stars or alternatives match a long name in less than two seconds."""
    started = time.process_time()
    compile_glob(pattern).matches("a" * 1000 + "c")
    assert time.process_time() - started < 2
