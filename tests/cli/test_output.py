"""Output as text and as JSON, progress bars, and escaping for terminals."""

import io
import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from holdfast.cli import output
from holdfast.cli.output import byte_progress, count_progress, print_error, print_json, print_note


@dataclass(frozen=True)
class SampleOutput:
    """A result of a command to print."""

    text: str


def test_json_is_a_document_programs_can_read(capsys: pytest.CaptureFixture[str]) -> None:
    """Text with quotes, umlauts and newlines is read back from the JSON output."""
    print_json([SampleOutput('ü "quoted"\n')])
    assert json.loads(capsys.readouterr().out) == [{"text": 'ü "quoted"\n'}]


def test_an_error_is_one_line_whatever_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Newlines of an error become spaces, and brackets are not markup."""
    print_error("a\nb [red]c[/red] " + "long " * 100)
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.startswith("error: a b [red]c[/red] long")


def test_there_is_no_bar_in_a_pipe() -> None:
    """There is no progress callback if standard error is not a terminal."""
    with byte_progress("x", 1 << 40) as progress:
        assert progress is None


def test_a_terminal_sees_a_bar_for_big_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A progress bar is shown for large input and for input of unknown size, not for small input."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with byte_progress("small", 10) as progress:
        assert progress is None
    with byte_progress("big", 1 << 30) as progress:
        assert progress is not None
        progress(1 << 29)
    with byte_progress("a pipe of unknown size", None) as progress:
        assert progress is not None
        progress(5)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert [name in captured.err for name in ("small", "big", "a pipe of unknown size")] == [False, True, True]


def test_a_path_is_text_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    """A path is written as text, also if it is not UTF-8; an object without a JSON form raises an error."""
    print_json([Path("a/ü"), Path(os.fsdecode(b"\xff"))])
    assert json.loads(capsys.readouterr().out) == ["a/ü", "\\xff"]
    with pytest.raises(NotImplementedError, match="object"):
        print_json([object()])


def test_what_others_wrote_cannot_steer_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Control and bidi characters are removed from errors and notes, and emoji are kept."""
    print_error("cannot read a\x1b[31m\u202eb\x07 👨\u200d👩\u200d👧")
    print_note("note: a\x1b]0;x\x07b [bold]c[/bold]")
    assert capsys.readouterr().err == "error: cannot read a[31mb 👨\u200d👩\u200d👧\nnote: a]0;xb [bold]c[/bold]\n"


def test_things_pass_through_a_counter_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    """A progress counter returns each item unchanged, and prints nothing in a pipe."""
    with count_progress("things") as progress:
        assert [progress(thing) for thing in range(1000)] == list(range(1000))
    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_the_count(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A counter inside a progress bar of bytes is shown on standard error, and nothing on standard output."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with byte_progress("bytes", None) as outer, count_progress("things") as progress:
        assert outer is not None
        outer(5)
        assert [progress(thing) for thing in range(1000)] == list(range(1000))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "things" in captured.err


def test_a_table_fits_a_narrow_terminal_and_no_row_of_a_pipe_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Optional columns go first, then the flexible one is broken; a pipe gets every row on one line."""
    columns = ("name", "kind", "messages#", "number#")
    rows = [["A name of several words " * 3, "contact " * 3, "12,345", "125572533454190"]] * 2
    output.print_table(columns, rows, optional=("kind",))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all(line == line.rstrip() and "contact" in line for line in lines[1:])
    screen = io.StringIO()
    monkeypatch.setattr(output, "console", lambda: Console(file=screen, width=60))
    output.print_table(columns, rows, optional=("kind",))
    narrow = screen.getvalue().splitlines()
    assert max(len(line) for line in narrow) <= 60
    assert "kind" not in narrow[0]
    assert sum("125572533454190" in line for line in narrow) == 2


def test_names_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing in the name of a chat or a file is taken for markup or an emoji."""
    name = "[/b] [red]x[/red] :dog:"
    output.print_table(("chat", "kind"), [(name, "contact")])
    output.console().print(f"{name}: written")
    out = capsys.readouterr().out
    assert out.count(name) == 2
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with byte_progress(name, None) as progress:
        assert progress is not None
        progress(1)
    assert name in capsys.readouterr().err
