"""Text on narrow terminals, and closed pipes."""

import io

import pytest
from rich.text import Text

from holdfast.cli.terminal import CommandConsole


def shown(text: str | Text, width: int = 40, *, terminal: bool = True) -> list[str]:
    """Return the lines that are printed for a text."""
    screen = io.StringIO()
    console = CommandConsole(
        file=screen, width=width, force_terminal=terminal, color_system=None, soft_wrap=True, highlight=False
    )
    console.print(text)
    return screen.getvalue().splitlines()


def test_a_text_is_wrapped_at_words_with_its_indentation() -> None:
    """No word is broken, no line is wider than the terminal, and each part of a line begins below the first."""
    text = f"Alder Brook\n    {'herons at the lake ' * 5}\nshort"
    lines = shown(text)
    assert (lines[0], lines[-1]) == ("Alder Brook", "short")
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())
    assert all(len(line) <= 40 for line in lines)
    assert all(line[:4] == "    " and line[4] != " " for line in lines[1:-1])


def test_wide_characters_take_two_columns() -> None:
    """Chinese text, which has no spaces, is left to the terminal; words of wide characters are counted as wide."""
    assert shown("\u4e00" * 40) == ["\u4e00" * 40]
    assert shown(" ".join(["\u4e00" * 8] * 4)) == [" ".join(["\u4e00" * 8] * 2)] * 2


def test_a_command_is_one_line_to_copy() -> None:
    """A quoted command and a long path are not broken: the terminal wraps them, and copies them whole."""
    command = "`holdfast backup repair --drop 'my backups/signal-backup-2026' NEW`"
    assert command in shown(f"  {command} may save what is left.")[0]
    path = "/srv/" + "x" * 60
    assert shown(f"Archive: {path}") == ["Archive:", path]


def test_styles_stay_with_their_words() -> None:
    """The parts of a wrapped line keep their styles."""
    console = CommandConsole(file=io.StringIO(), width=20, force_terminal=True)
    text = console.wrapped(Text.assemble(("Not imported: ", "bold red"), "a long reason for it"))
    (span,) = [span for span in text.spans if span.style == "bold red"]
    assert text.plain[span.start : span.end].strip() == "Not imported:"


def test_a_pipe_is_not_wrapped() -> None:
    """Outside of a terminal a line stays a line, whatever the width."""
    text = "herons at the lake " * 10
    assert shown(text, terminal=False) == [text]


def test_a_closed_pipe_is_an_error_for_the_entry_point() -> None:
    """Rich would exit with status 1, which is an answer of some commands."""

    class Closed(io.StringIO):
        def write(self, _text: str, /) -> int:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        CommandConsole(file=Closed()).print("text")
