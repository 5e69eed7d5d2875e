"""Full-text search of issues and comments."""

import pytest

from holdfast.hosting.store import issue_lists, issues
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.comments import add_comment, delete_comment
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.full_text import words_of
from holdfast.hosting.store.issues import Issue, IssueChanges, NewIssue
from holdfast.hosting.store.repositories import Repository
from tests.hosting.repository_helpers import make_repository

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def repository(database: Database, ada: Account) -> Repository:
    """Make a repository."""
    return make_repository(database, ada, "harbour")


def open_one(database: Database, repository: Repository, ada: Account, title: str, body: str = "") -> Issue:
    """Open an issue."""
    return issues.open_issue(database, repository, ada, NewIssue(title=title, body=body))


def search_titles(database: Database, repository: Repository, text: str) -> list[str]:
    """Return the titles that a search of a repository finds; a search of everything finds the same."""
    where = [issue_lists.in_repository(repository, (False, True))]
    wanted = issue_lists.Filter(text=text)
    here, total = issue_lists.list_issues(database, where, wanted, repository_id=repository.id, skip=0, limit=50)
    everywhere, _ = issue_lists.list_issues(database, [], wanted, skip=0, limit=50)
    assert total == len(here)
    assert [item.id for item in everywhere if item.repository_id == repository.id] == [item.id for item in here]
    return [item.title for item in here]


def test_words_and_their_beginnings_are_found_in_any_case_and_order(
    database: Database, repository: Repository, ada: Account
) -> None:
    """All words of the query must be words or prefixes of words; operators of the databases have no effect."""
    open_one(database, repository, ada, "Lighthouse is dark", "Since the Storm_warning of src/lamp.py")
    open_one(database, repository, ada, "Boats leave early")
    for text in ("lighthouse", "LIGHT", "dark light", "storm", "lamp.py", "src/lamp", "warn"):
        assert search_titles(database, repository, text) == ["Lighthouse is dark"], text
    for text in ("house", "light boats", "zanzibar", "a", '"', "light AND nothing", "title:dark", "NEAR(dark"):
        assert search_titles(database, repository, text) == [], text


def test_a_comment_is_searched_and_deleting_it_ends_that(
    database: Database, repository: Repository, ada: Account
) -> None:
    """The index follows new comments, edits of issues, and deletions of comments and issues."""
    issue = open_one(database, repository, ada, "Nets", "torn")
    add_comment(database, repository, issue, ada, "mended with twine")
    tar = add_comment(database, repository, issue, ada, "sealed with tar")
    for text in ("twine", "tar"):
        assert search_titles(database, repository, text) == ["Nets"]
    delete_comment(database, repository, issue, tar, actor=ada)
    assert search_titles(database, repository, "tar") == []
    assert search_titles(database, repository, "twine") == ["Nets"]
    issues.change_issue(database, repository, issue, ada, IssueChanges(title="Ropes", body="frayed"))
    assert search_titles(database, repository, "torn") == []
    assert search_titles(database, repository, "frayed rop") == ["Ropes"]
    issues.delete_issue(database, repository, issue, ada)
    assert search_titles(database, repository, "frayed") == []
    assert search_titles(database, repository, "twine") == []


def test_the_words_of_another_repository_are_not_found(
    database: Database, repository: Repository, ada: Account
) -> None:
    """A search in a repository finds no issue of another one, even if a title has its id as a word."""
    other = make_repository(database, ada, "elsewhere")
    open_one(database, other, ada, "Anchor")
    open_one(database, repository, ada, f"Anchor {other.id}")
    assert search_titles(database, repository, "anchor") == [f"Anchor {other.id}"]
    assert search_titles(database, other, "anchor") == ["Anchor"]


def test_a_number_finds_its_issue(database: Database, repository: Repository, ada: Account) -> None:
    """An issue is found by its number with and without the number sign."""
    open_one(database, repository, ada, "One")
    open_one(database, repository, ada, "Two")
    assert search_titles(database, repository, "#2") == ["Two"]
    assert search_titles(database, repository, "2") == ["Two"]


def test_a_script_without_spaces_is_searched_for_as_it_is(
    database: Database, repository: Repository, ada: Account
) -> None:
    """A query without words that the database can split, in Chinese or of punctuation, is found as a substring."""
    assert words_of("港口") == []
    open_one(database, repository, ada, "新港口开放")
    assert search_titles(database, repository, "港口") == ["新港口开放"]
    open_one(database, repository, ada, "What?!")
    assert search_titles(database, repository, "?!") == ["What?!"]


def test_the_beginning_of_a_long_body_is_searched(
    database: Database, repository: Repository, ada: Account
) -> None:
    """The first part of a long body is indexed, as PostgreSQL limits the size of a vector."""
    words = " ".join(f"word{number:x}" for number in range(200_000))
    open_one(database, repository, ada, "Long", words)
    assert search_titles(database, repository, "word1f") == ["Long"]
