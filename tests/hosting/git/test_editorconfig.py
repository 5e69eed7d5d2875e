"""Parsing of `.editorconfig` files and matching of their sections."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.errors import PatternRefused
from holdfast.hosting.git.editorconfig import definition_for, matches
from holdfast.hosting.store.globs import compile_glob

KEYS = ("charset", "indent_style", "indent_size", "end_of_line")


@pytest.mark.parametrize(
    ("selector", "fitting", "others"),
    [
        ("*", ["a", "dir/a.py"], []),
        ("*.py", ["a.py", "dir/sub/a.py"], ["a.pyc", "a.py/b"]),
        ("Makefile", ["Makefile", "dir/Makefile"], ["Makefile.in", "aMakefile"]),
        ("/Makefile", ["Makefile"], ["dir/Makefile"]),
        ("lib/**.js", ["lib/a.js", "lib/b/c.js"], ["a.js", "x/lib/a.js"]),
        ("lib/*.js", ["lib/a.js"], ["lib/b/c.js"]),
        ("a?c", ["abc", "x/aäc"], ["ac", "a/c", "abbc"]),
        ("[abc].x", ["a.x", "c.x"], ["d.x"]),
        ("[a-c].x", ["b.x"], ["d.x"]),
        ("[!abc].x", ["d.x"], ["a.x"]),
        ("*.{py,js}", ["a.py", "b.js"], ["a.rb", "a.{py,js}"]),
        ("{package.json,.travis.yml}", ["package.json", "x/.travis.yml"], ["package"]),
        ("a{b,{c,d}e}f", ["abf", "acef", "adef"], ["acf", "aef"]),
        ("*.{py}", ["a.{py}"], ["a.py"]),
        ("*.{}", ["a.{}"], ["a."]),
        ("v{1..12}", ["v1", "v12", "x/v7"], ["v0", "v13", "v", "vx"]),
        ("v{-3..3}", ["v-3", "v+2", "v0"], ["v-4"]),
        ("v{5..1}", ["v3"], ["v6"]),
        ("a\\*b", ["a*b"], ["axb"]),
        ("a{b", ["a{b"], ["ab"]),
        ("a[b", ["a[b"], ["ab"]),
        ("a,b", ["a,b"], ["a"]),
        ("{a,b}/**", ["a/x", "b/x/y"], ["c/x", "a"]),
        ("", [""], ["a"]),
    ],
)
def test_a_selector_matches_files(selector: str, fitting: list[str], others: list[str]) -> None:
    """A selector matches the fitting paths and does not match the others."""
    assert [path for path in fitting if not matches(selector, path)] == []
    assert [path for path in others if matches(selector, path)] == []


@given(
    st.lists(st.sampled_from(["a", "b", "/", "*", "?", "[ab]", "[!a]", "{a,b}", "{a*,?b}"]), max_size=7).map(
        "".join
    ),
    st.text("ab/", max_size=7),
)
def test_matching_agrees_with_regular_expressions(selector: str, path: str) -> None:
    """Matching equals that of the other glob implementation, which uses regular expressions."""
    pattern = selector.replace("[!a]", "[!a/]").removeprefix("/")
    anywhere = "" if "/" in selector else "{**/,}"
    if "***" not in selector:
        assert matches(selector, path) == compile_glob(anywhere + pattern, "/").matches(path)


def test_matching_takes_bounded_time() -> None:
    """Many or nested wildcards take seconds at most; sections that would take longer are refused."""
    began = time.monotonic()
    path = "a" * 900
    assert not matches("*a" * 50 + "b", path)
    assert not matches("{" * 30 + "*a," * 30 + "}" * 30 + "b", path)
    with pytest.raises(PatternRefused):
        definition_for(("[" + "**a" * 500 + "b]\n") * 5000, path, KEYS)
    assert time.monotonic() - began < 20


def test_the_last_matching_section_wins() -> None:
    """The last section counts for each key; an empty value is ignored, and `unset` removes the key."""
    text = """
        root = true
        ; a comment
        [*]
        Charset = UTF-8
        indent_style = space
        indent_size = 4
        end_of_line: LF
        [*.py]
        indent_size =
        indent_style = TAB
        [a.py]
        indent_size = Tab
        charset = unset
        [*.rb]
        end_of_line = crlf
    """
    assert definition_for(text, "x/b.py", KEYS) == {
        "charset": "utf-8",
        "indent_style": "tab",
        "indent_size": "4",
        "end_of_line": "lf",
    }
    assert definition_for(text, "a.py", KEYS) == {"indent_style": "tab", "indent_size": "Tab", "end_of_line": "lf"}
    assert definition_for("[*.py]\ncharset = utf-8\n", "a.rb", KEYS) is None
    assert definition_for("", "a", KEYS) is None


@given(st.text(), st.text())
def test_any_file_is_parsed_without_an_error(text: str, path: str) -> None:
    """Any text is accepted as an .editorconfig file and as a selector, for any path."""
    definition_for(text, path, KEYS)
    definition_for(f"[{text}]\ncharset=x", path, KEYS)
