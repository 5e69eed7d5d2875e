"""Printing for people and for programs."""

import json
from dataclasses import dataclass

import pytest

from holdfast.cli.output import byte_progress, print_error, print_json


@dataclass(frozen=True)
class Answer:
    """Something to print."""

    text: str


def test_json_is_a_document_programs_can_read(capsys: pytest.CaptureFixture[str]) -> None:
    """Any text survives."""
    print_json([Answer('ü "quoted"\n')])
    assert json.loads(capsys.readouterr().out) == [{"text": 'ü "quoted"\n'}]


def test_an_error_is_one_line_whatever_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Newlines are folded, and brackets are no markup."""
    print_error("a\nb [red]c[/red] " + "long " * 100)
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.startswith("error: a b [red]c[/red] long")


def test_there_is_no_bar_in_a_pipe() -> None:
    """What is not a terminal sees no progress."""
    with byte_progress("x", 1 << 40) as progress:
        assert progress is None


def test_a_terminal_sees_a_bar_for_big_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Small input is done before a bar could be read."""
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
    assert capsys.readouterr().out == ""
