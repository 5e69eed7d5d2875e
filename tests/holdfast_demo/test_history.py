"""Git histories of the demo, read by `git`."""

from pathlib import Path

import pytest

from holdfast.hosting.git import program
from holdfast_demo.history import EXECUTABLE, LINK, SUBMODULE, DemoBranch, DemoFile, DemoHistory, text
from holdfast_demo.people import MAREN, TOMAS

COMMIT = "1" * 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make an empty repository."""
    program.run(None, "init", "--quiet", "--bare", "--initial-branch=main", str(tmp_path / "a.git"))
    return tmp_path / "a.git"


def git(folder: Path, *arguments: str) -> str:
    """Run git and return its output."""
    return program.run(folder, *arguments).decode().strip()


def test_git_reads_what_was_written(folder: Path) -> None:
    """Git reads the commits with authors and dates, merges, tags and all kinds of files."""
    history, main = DemoHistory(), DemoBranch("main")
    files = {
        "a.txt": text("first\n"),
        "run": text("#!/bin/sh\n", EXECUTABLE),
        "to-a": text("a.txt", LINK),
        "other": DemoFile(COMMIT.encode(), SUBMODULE),
        "späße/naïve name.bin": DemoFile(bytes(range(256))),
    }
    history.commit(main, TOMAS, 1_700_000_000, "Begin\n\nWith a body.", files)
    side = history.fork(main, "side")
    history.commit(side, MAREN, 1_700_000_100, "Aside", {"b.txt": text("b\n")})
    history.commit(main, TOMAS, 1_700_000_200, "Go on", {"a.txt": text("second\n")})
    history.merge(main, side, MAREN, 1_700_000_300, "Merge branch 'side'")
    history.tag("v1", main, MAREN, 1_700_000_400, "One.")
    history.tag("plain", main, MAREN, 1_700_000_400, "")
    program.run(folder, "fast-import", "--quiet", "--done", input=history.stream())

    assert history.commits == 4
    assert git(folder, "log", "--format=%an %ae %ai %s", "main", "--author-date-order").splitlines() == [
        "Maren Lindqvist maren@tidewater.example 2023-11-14 23:18:20 +0100 Merge branch 'side'",
        "Tomás Arriaga tomas@tidewater.example 2023-11-14 19:16:40 -0300 Go on",
        "Maren Lindqvist maren@tidewater.example 2023-11-14 23:15:00 +0100 Aside",
        "Tomás Arriaga tomas@tidewater.example 2023-11-14 19:13:20 -0300 Begin",
    ]
    assert [line.split()[0] for line in git(folder, "ls-tree", "main").splitlines()] == [
        *("100644", "100644", "160000", "100755", "040000", "120000"),
    ]
    assert git(folder, "show", "main:a.txt") == "second"
    assert program.run(folder, "show", "main:späße/naïve name.bin") == bytes(range(256))
    assert git(folder, "cat-file", "-t", "v1") == "tag"
    assert git(folder, "cat-file", "-t", "plain") == "commit"
    assert git(folder, "fsck", "--strict") == ""
