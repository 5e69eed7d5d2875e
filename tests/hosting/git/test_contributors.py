"""Contributors to a branch."""

import subprocess
from pathlib import Path

import pytest

from holdfast.hosting.errors import NoSuchObject
from holdfast.hosting.git import contributors
from holdfast.hosting.git.contributors import Contributor, count_contributors
from holdfast.hosting.git.repository import open_repository
from tests.hosting.git.oracle import new_repository


def imported(folder: Path, *authors: bytes, mailmap: bytes = b"") -> str:
    """Make a commit of each author in turn; return the last one."""
    stream = b""
    for number, author in enumerate(authors):
        stream += b"commit refs/heads/main\nauthor %s %d +0000\n" % (author, number)
        stream += b"committer Host <host@example.org> %d +0000\ndata 1\nx\n" % number
        stream += b"M 644 inline file\ndata 2\n%02d\n" % number
        if mailmap:
            stream += b"M 644 inline .mailmap\ndata %d\n%s\n" % (len(mailmap), mailmap)
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=stream, check=True)
    done = subprocess.run(["git", "rev-parse", "main"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_commits_are_counted_by_author(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Authors are sorted by their number of commits; the list is limited, and the total is not."""
    folder = new_repository(tmp_path / "a.git")
    ada, bob, eve = b"Ada <ada@example.org>", "Bob Ü <bob@example.org>".encode(), b"<>"
    last = imported(folder, ada, bob, ada, eve, ada, bob)
    repo = open_repository(folder)
    contributor_list = count_contributors(repo, last)
    assert contributor_list.commit == last
    assert contributor_list.total == 3
    assert contributor_list.first[:2] == (
        Contributor("Ada", "ada@example.org", 3),
        Contributor("Bob Ü", "bob@example.org", 2),
    )
    assert [item.commits for item in contributor_list.first] == [3, 2, 1]
    monkeypatch.setattr(contributors, "MOST_KEPT", 2)
    few = count_contributors(repo, last)
    assert (few.total, len(few.first)) == (3, 2)


def test_names_are_harmless_and_can_be_corrected(tmp_path: Path) -> None:
    """A `.mailmap` merges addresses, bytes that are not UTF-8 are counted, and long names are cut."""
    folder = new_repository(tmp_path / "a.git")
    last = imported(
        folder,
        b"Ada <old@example.org>",
        b"Ada <ada@example.org>",
        b"\xff\xfe <x@example.org>",
        b"x" * 5000 + b" <y@example.org>",
        mailmap=b"Ada <ada@example.org> <old@example.org>\n",
    )
    contributor_list = count_contributors(open_repository(folder), last)
    assert contributor_list.total == 3
    assert contributor_list.first[0] == Contributor("Ada", "ada@example.org", 2)
    assert max(len(item.name) for item in contributor_list.first) <= 200


@pytest.mark.parametrize("commit", ["0" * 40, "--all"])
def test_only_a_commit_is_counted(tmp_path: Path, commit: str) -> None:
    """An unknown id or an option in place of a commit raises `NoSuchObject`."""
    folder = new_repository(tmp_path / "a.git")
    imported(folder, b"Ada <ada@example.org>")
    with pytest.raises(NoSuchObject):
        count_contributors(open_repository(folder), commit)
