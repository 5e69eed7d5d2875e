"""The file finder."""

import httpx
import pytest

from holdfast.web.code.file_finder import SHOWN, best_matches
from tests.hosting.api_clients import ServiceClients
from tests.hosting.git_client import Git
from tests.web.browser import visitor

PATHS = (b"README.md", b"docs/tide.md", b"src/tide/table.py", b"src/tide_table.py", b"src/wind.c")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("", list(PATHS)),
        ("TIDE", [b"docs/tide.md", b"src/tide_table.py", b"src/tide/table.py"]),
        ("table", [b"src/tide/table.py", b"src/tide_table.py"]),
        ("tide py", [b"src/tide_table.py", b"src/tide/table.py"]),
        ("stp", [b"src/tide/table.py", b"src/tide_table.py"]),
        ("nothing", []),
    ],
)
def test_the_best_matches_come_first(typed: str, expected: list[bytes]) -> None:
    """The start of a file name ranks before its middle, then folders, then letters in order."""
    assert best_matches(PATHS, typed) == expected


def test_at_most_a_page_is_shown() -> None:
    """The number of matches is limited with a search word and without one."""
    many = tuple(f"file {number}".encode() for number in range(SHOWN + 20))
    assert len(best_matches(many, "")) == len(best_matches(many, "file")) == SHOWN


def test_files_are_found_on_every_branch_tag_and_commit(
    clients: ServiceClients, git: Git, ada: httpx.Client
) -> None:
    """The server searches and links files but no submodules, and an unknown branch is not found."""
    page = ada.get("/ada/Notes/find/branch/main").text
    assert "dir/sub/file.txt" in page
    assert 'href="/ada/Notes/src/branch/main/dir/100%25%20n%C3%A4me%3F.txt"' in page
    assert '/src/branch/main/lib"' not in page
    result = ada.get("/ada/Notes/find/tag/v1.0?q=FILE").text
    assert "/ada/Notes/src/tag/v1.0/dir/sub/file.txt" in result
    assert "README.md" not in result.partition("finder-results")[2]
    assert "No files match." in ada.get("/ada/Notes/find/branch/feature/x?q=large").text
    assert ada.get(f"/ada/Notes/find/commit/{git('rev-parse', 'HEAD')}").status_code == 200
    assert ada.get("/ada/Notes/find/branch/none").status_code == 404
    assert "/ada/Notes/find/branch/main" in ada.get("/ada/Notes").text
    assert '<script>"' not in ada.get("/ada/Notes/find/branch/main?q=%3Cscript%3E%22").text
    assert visitor(clients).get("/ada/Notes/find/branch/main").status_code == 200


def test_a_private_repository_is_not_found(clients: ServiceClients, git: Git) -> None:
    """The file finder of a private repository is not found for a visitor."""
    clients.open("/api/v1", "ada").patch("/repos/ada/Notes", json={"private": True})
    assert visitor(clients).get("/ada/Notes/find/branch/main").status_code == 404
