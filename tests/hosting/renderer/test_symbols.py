"""The symbols of source code."""

import pytest

from holdfast.hosting.renderer.highlight import colour, coloured, highlighted
from holdfast.hosting.renderer.symbols import MOST_SYMBOLS, Symbol

PYTHON = '''import os

class Tide(Base):
    """A def in a text."""

    async def high(self):
        return low(os)

@cached
def low(): pass
'''


def test_defined_names_have_their_lines() -> None:
    """Functions, classes and methods are symbols; what is only called, imported or inside a text is not."""
    expected = (Symbol("Tide", 3, False), Symbol("high", 6, True), Symbol("low", 10, False))
    assert highlighted("symbols-1", "tide.py", PYTHON).symbols == expected
    # With the line ends of Windows, and from the cache.
    assert highlighted("symbols-2", "tide.py", PYTHON.replace("\n", "\r\n")).symbols == expected
    lines = "/* of\n\n three lines */\n\nint foo(int a) {\n}\n"
    assert highlighted("symbols-3", "tide.c", lines).symbols == (Symbol("foo", 5, False),)
    coloured("symbols-1", "tide.py", PYTHON)
    assert highlighted("symbols-1", "tide.py", PYTHON).symbols == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.js", "function foo(a) { bar(); }\nclass A extends B {}", ["foo", "A"]),
        ("a.ts", "export interface I { a: T }\ntype U = string;\nenum E { A }", ["I", "U", "E"]),
        ("a.go", "type S struct {}\nfunc (r *S) Name(a int) error { f() }\nfunc main() {}", ["S", "Name", "main"]),
        ("a.rs", 'pub fn main() { println!("x"); }\nstruct S;\nimpl S {}\ntrait T {}', ["main", "S", "T"]),
        ("a.c", "int foo(int a) {\n  return bar(a);\n}\nstruct s { int a; };", ["foo", "s"]),
        ("a.java", "public class A {\n  int m(int a) { return foo(a); }\n}", ["A", "m"]),
        ("a.rb", "module B\n  class A\n    def m\n    end\n  end\nend", ["B", "A", "m"]),
        ("a.php", "<?php\nfunction foo() { bar(); }\nclass A {}", ["foo", "A"]),
        ("a.kt", "class A { fun m() {} }", ["A", "m"]),
        ("a.swift", "func a() { b() }", ["a"]),
        ("a.lua", "local function c() d() end", []),
        ("a.cs", "class A { }", ["A"]),
        ("a.cpp", "class A { };\nvoid A::m() { n(); }", ["A", "A::m"]),
        ("a.css", ".wide { color: red }", []),
        ("a.clj", "(defn f [] (g))", []),
        ("notes", "def f(): pass", []),
    ],
)
def test_languages_have_their_definitions(name: str, text: str, expected: list[str]) -> None:
    """A language whose lexer does not tell definitions from uses has no symbols."""
    assert [symbol.name for symbol in colour(name, text)[1]] == expected


def test_the_number_of_symbols_is_limited() -> None:
    """The first are kept."""
    symbols = colour("a.py", "".join(f"def f{number}(): pass\n" for number in range(MOST_SYMBOLS + 5)))[1]
    assert [symbol.line for symbol in symbols] == list(range(1, MOST_SYMBOLS + 1))
