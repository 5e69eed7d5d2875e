"""Issue lists: visibility, filters, counts, pages and query plans."""

from itertools import product

import pytest

from holdfast.hosting import access
from holdfast.hosting.store import comments, issue_lists, issues, labels, milestones, notification_writes
from holdfast.hosting.store.accounts import Account, add_account, all_users
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import IssueChanges, NewIssue
from holdfast.hosting.store.repositories import Repository, repository_by_id
from tests.hosting.repository_helpers import access_for, every_role, make_repository
from tests.hosting.store.query_plans import is_by_index, plan_of, recorded


def test_a_search_finds_exactly_what_can_be_read(database: Database) -> None:
    """A search finds what a user, or nobody, may read, with and without a token for public content only."""
    repositories = every_role(database)
    for person, public_only in product([*all_users(database), None], (False, True)):
        visible = issue_lists.visible_to(person, public_only=public_only)
        found_issues, _ = issue_lists.list_issues(database, [visible], issue_lists.Filter(), skip=0, limit=1000)
        expected = set()
        for repository in repositories:
            may = access_for(database, person, repository, public_only=public_only)
            expected |= {(repository.id, is_pull) for is_pull in access.issue_kinds(may)}
        assert issue_lists.count_issues(database, [visible], issue_lists.Filter()) == len(found_issues)
        name = "nobody" if person is None else person.name
        assert {(item.repository_id, item.is_pull) for item in found_issues} == expected, (name, public_only)


BOTH = (False, True)
STATES = (None, False, True)


@pytest.mark.parametrize("sort", issue_lists.ORDERS)
def test_every_order_is_read_by_index_in_any_state_and_from_both_ends(
    database: Database, ada: Account, sort: str
) -> None:
    """Pages in every order are read by index, in one repository and in all, without a full scan or a sort."""
    repository = make_repository_with_issues(database, ada)
    for is_closed, skip, kinds in product(STATES, (0, 4), (BOTH, (False,))):
        wanted = issue_lists.Filter(is_closed=is_closed)
        for where in (
            [issue_lists.in_repository(repository, kinds)],
            [issue_lists.visible_to(ada, public_only=False, kinds=kinds)],
        ):
            with recorded(database, "FROM issues") as statements:
                issue_lists.list_issues(database, where, wanted, sort=sort, skip=skip, limit=2)
            pages = [item for item in statements if "ORDER BY" in item[0]]
            assert pages or is_closed is not None
            for statement, parameters in pages:
                plan = plan_of(database, statement, parameters)
                assert is_by_index(database, plan), (statement, plan)


def make_repository_with_issues(database: Database, ada: Account) -> Repository:
    """Make a repository with six issues, two of them closed and two with a due date."""
    place = make_repository(database, ada, "plans")
    for number in range(6):
        issue = issues.open_issue(
            database, place, ada, NewIssue(title=f"{number}", due_at=100 * (number % 3), is_closed=number == 5)
        )
        if number == 4:
            issues.change_issue(database, place, issue, ada, IssueChanges(is_closed=True))
    return repository_by_id(database, place.id)


@pytest.mark.parametrize("sort", issue_lists.ORDERS)
def test_pages_are_the_same_from_either_end(database: Database, ada: Account, sort: str) -> None:
    """Pages of every size together are the whole sorted list, and a page beyond its end is empty."""
    repository = make_repository_with_issues(database, ada)
    where = [issue_lists.in_repository(repository, BOTH)]
    everything = issue_lists.Filter()
    whole, total = issue_lists.list_issues(database, where, everything, sort=sort, skip=0, limit=50)
    assert len(whole) == total == 6
    for size in range(1, 7):
        parts = []
        for skip in range(0, 8, size):
            page, _ = issue_lists.list_issues(database, where, everything, sort=sort, skip=skip, limit=size)
            parts += page
        assert parts == whole, size
    key, descending = issue_lists.ORDERS[sort]
    dated = [item for item in whole if item.due_at] if sort == "nearduedate" else whole
    values = [getattr(item, str(key.key)) for item in dated]
    assert values == sorted(values, reverse=descending)
    if sort == "nearduedate":
        assert [bool(item.due_at) for item in whole] == [True] * 4 + [False] * 2


def test_stored_counts_equal_counted_ones(database: Database, ada: Account) -> None:
    """The stored counts equal counted rows after issues were opened, closed, reopened and deleted."""
    repository = make_repository_with_issues(database, ada)
    check_counts(database, ada, repository)
    closed, _ = issue_lists.list_issues(database, [], issue_lists.Filter(is_closed=True), skip=0, limit=2)
    issues.change_issue(database, repository, closed[0], ada, IssueChanges(is_closed=False))
    check_counts(database, ada, repository)
    issues.delete_issue(database, repository, closed[0], ada)
    issues.delete_issue(database, repository, closed[1], ada)
    check_counts(database, ada, repository)


def check_counts(database: Database, ada: Account, repository: Repository) -> None:
    """Compare the counters with the rows."""
    repository = repository_by_id(database, repository.id)
    for is_closed, kinds in product(STATES, (BOTH, (False,), (True,))):
        wanted = issue_lists.Filter(is_closed=is_closed)
        here = [issue_lists.in_repository(repository, kinds)]
        visible = [issue_lists.visible_to(ada, public_only=False, kinds=kinds)]
        kept_visible = issue_lists.kept_visible(ada, public_only=False, kinds=kinds)
        for where, stored in ((here, issue_lists.kept_in(repository, kinds)), (visible, kept_visible)):
            counted = issue_lists.count_issues(database, where, wanted)
            assert issue_lists.count_issues(database, where, wanted, kept=stored) == counted, (is_closed, kinds)


@pytest.mark.parametrize(
    "wanted",
    [
        issue_lists.Filter(labels=("bug",)),
        issue_lists.Filter(label_ids=(1,)),
        issue_lists.Filter(milestones=("first",)),
        issue_lists.Filter(milestone_id=1),
        issue_lists.Filter(assignee="ada"),
        issue_lists.Filter(review_requested_from="ada"),
        issue_lists.Filter(reviewed_by="ada"),
        issue_lists.Filter(text="harbour"),
        issue_lists.Filter(mentioned="admin"),
    ],
)
def test_a_filter_that_selects_few_issues_is_looked_up_first(
    database: Database, ada: Account, wanted: issue_lists.Filter
) -> None:
    """On SQLite, which has no statistics, the filter is looked up first, and issues by their primary key."""
    repository = make_repository_with_issues(database, ada)
    where = [issue_lists.in_repository(repository, BOTH)]
    with recorded(database, "FROM issues") as statements:
        issue_lists.list_issues(database, where, wanted, repository_id=repository.id, skip=0, limit=2)
    if database.is_sqlite:
        plans = [plan_of(database, *item) for item in statements if "repository_id" in item[0]]
        assert plans
        assert all("SEARCH issues USING INTEGER PRIMARY KEY" in plan for plan in plans), plans


@pytest.mark.parametrize("name", ["admin", "nobody"])
def test_the_issues_of_an_author_are_read_by_index(database: Database, ada: Account, name: str) -> None:
    """Neither the count nor a page reads the issues of others, on SQLite in any order and state."""
    repository = make_repository_with_issues(database, ada)
    for sort, is_closed, kinds in product(issue_lists.ORDERS, STATES, (BOTH, (False,))):
        where = [issue_lists.in_repository(repository, kinds)]
        wanted = issue_lists.Filter(is_closed=is_closed, author=name)
        with recorded(database, "author_id = (") as statements:
            issue_lists.list_issues(
                database, where, wanted, sort=sort, repository_id=repository.id, skip=0, limit=2
            )
        plans = [plan_of(database, *item) for item in statements]
        assert plans
        if database.is_sqlite:
            assert all("(author_id=? AND repository_id=?" in plan for plan in plans), (sort, plans)


@pytest.mark.parametrize(("head", "base"), [("topic", ""), ("", "main")])
@pytest.mark.parametrize("is_closed", STATES)
def test_the_pull_requests_of_a_branch_are_read_by_index(
    database: Database, ada: Account, head: str, base: str, *, is_closed: bool | None
) -> None:
    """Neither the count nor a page reads the pull requests of other branches."""
    repository = make_repository_with_issues(database, ada)
    where = [
        issue_lists.in_repository(repository, (True,)),
        *issue_lists.between_branches(head, base),
    ]
    wanted = issue_lists.Filter(is_closed=is_closed)
    with recorded(database, "FROM issues") as statements:
        _, total = issue_lists.list_issues(database, where, wanted, repository_id=repository.id, skip=0, limit=2)
    assert total == 0
    plans = [plan_of(database, *item) for item in statements]
    column = "head_branch" if head else "base_branch"
    assert plans
    if database.is_sqlite:
        assert all(f"(repository_id=? AND {column}=?" in plan for plan in plans), plans


@pytest.mark.parametrize(
    ("text", "mentioned"),
    [
        ("@ada", ["ada"]),
        ("For @ADA, please", ["ada"]),
        ("Thanks, @ada.", ["ada"]),
        ("@ada...", ["ada"]),
        ("@ada\u00e9", ["ada"]),
        ("@ada2", []),
        ("@ada_", ["ada"]),
        ("@ada.lovelace", ["ada.lovelace"]),
        ("@ada-7", ["ada-7"]),
        ("@ada-77", []),
        ("@ada-77 and (@ada-7)", ["ada-7"]),
        ("@adaxlovelace", []),
        ("ada@ada.lovelace", []),
        ("&@ada", []),
        ("/@ada", []),
        ("ada", []),
    ],
)
def test_a_mention_has_the_whole_name(database: Database, ada: Account, text: str, mentioned: list[str]) -> None:
    """A name that begins with that of a user is not a mention of the user, in an issue and in a comment."""
    with database.write() as connection:
        people = [add_account(connection, name) for name in ("ada", "ada-7", "ada.lovelace")]
    assert len(people) == 3
    repository = make_repository(database, ada)
    issues.open_issue(database, repository, ada, NewIssue(title="body", body=f"one\n{text}"))
    discussed = issues.open_issue(database, repository, ada, NewIssue(title="comment"))
    comments.add_comment(database, repository, discussed, ada, text)
    where = [issue_lists.in_repository(repository, BOTH)]
    for name in ("ada", "ada-7", "ada.lovelace"):
        found_issues, total = issue_lists.list_issues(
            database,
            where,
            issue_lists.Filter(mentioned=name.upper()),
            sort="oldest",
            repository_id=repository.id,
            skip=0,
            limit=9,
        )
        expected = ["body", "comment"] if name in mentioned else []
        assert [issue.title for issue in found_issues] == expected, name
        assert total == len(expected)
    # The same names are notified.
    assert [
        name for name in notification_writes.mentions(text) if name in {"ada", "ada-7", "ada.lovelace"}
    ] == mentioned


def test_a_mention_of_nobody_reads_no_text(database: Database, ada: Account) -> None:
    """Otherwise the texts with a common word would be read, which takes long."""
    repository = make_repository_with_issues(database, ada)
    issues.open_issue(database, repository, ada, NewIssue(title="one", body=f"@{ada.name} and @harbour"))
    where = [issue_lists.in_repository(repository, BOTH)]

    def mentioned(name: str) -> tuple[int, int]:
        wanted = issue_lists.Filter(mentioned=name)
        _, total = issue_lists.list_issues(database, where, wanted, repository_id=repository.id, skip=0, limit=2)
        return total, issue_lists.count_issues(database, where, wanted, repository_id=repository.id)

    assert mentioned(ada.name.upper()) == (1, 1)
    with recorded(database, "FROM issues") as statements:
        assert mentioned("harbour") == (0, 0)
    assert not statements


@pytest.mark.parametrize(
    "wanted",
    [
        issue_lists.Filter(is_closed=False, milestone_id=0),
        issue_lists.Filter(is_closed=False, milestone_id=1),
        issue_lists.Filter(is_closed=False, without_label_ids=(1, 2)),
        issue_lists.Filter(is_closed=False, label_ids=(1,)),
    ],
)
def test_the_columns_of_a_board_are_read_by_index(
    database: Database, ada: Account, wanted: issue_lists.Filter
) -> None:
    """The queries of a board's columns never scan the whole table of issues."""
    repository = make_repository_with_issues(database, ada)
    where = [issue_lists.in_repository(repository, (False,))]
    with recorded(database, "FROM issues") as statements:
        issue_lists.list_issues(database, where, wanted, repository_id=repository.id, skip=0, limit=20)
    plans = [plan_of(database, *item) for item in statements if "count" in item[0] or "ORDER BY" in item[0]]
    assert plans
    if database.is_sqlite:
        assert not any(line.startswith("SCAN issue") for plan in plans for line in plan.splitlines()), plans
    else:
        assert not any("Seq Scan on issue" in plan for plan in plans), plans


def test_labels_and_milestones_are_excluded(database: Database, ada: Account) -> None:
    """Issues with an excluded label are left out, and milestone 0 finds issues without a milestone."""
    repository = make_repository(database, ada)
    bug, done = (labels.add_label(database, repository, name, "d73a4a") for name in ("bug", "done"))
    season = milestones.add_milestone(database, repository, ada, "Season")
    both = NewIssue(title="both", labels=(bug, done), milestone_id=season.id)
    for new in (both, NewIssue(title="bug", labels=(bug,)), NewIssue(title="neither")):
        issues.open_issue(database, repository, ada, new)

    def titles(**wanted: object) -> list[str]:
        given = issue_lists.Filter(**wanted)  # type: ignore[arg-type]  # each test gives what it means
        where = [issue_lists.in_repository(repository, BOTH)]
        found_issues, total = issue_lists.list_issues(
            database, where, given, sort="oldest", repository_id=repository.id, skip=0, limit=9
        )
        assert total == len(found_issues)
        return [issue.title for issue in found_issues]

    assert titles(without_label_ids=(bug.id,)) == ["neither"]
    assert titles(without_label_ids=(done.id,)) == ["bug", "neither"]
    assert titles(without_label_ids=(done.id,), label_ids=(bug.id,)) == ["bug"]
    assert titles(milestone_id=0) == ["bug", "neither"]
    assert titles(milestone_id=season.id) == ["both"]
    assert titles(milestone_id=season.id + 1) == []


def test_a_filter_that_selects_many_issues_keeps_the_order_of_the_index(
    database: Database, ada: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite reads the issues in the order of the index, as sorting many of them would take longer."""
    place = make_repository_with_issues(database, ada)
    for _ in range(3):
        issues.open_issue(database, place, ada, NewIssue(title="harbour"))
    monkeypatch.setattr(issue_lists, "FEW", -1)
    with recorded(database, "FROM issues") as statements:
        where = [issue_lists.in_repository(place, BOTH)]
        wanted = issue_lists.Filter(text="harbour")
        issue_lists.list_issues(database, where, wanted, repository_id=place.id, skip=0, limit=2)
    assert any("ORDER BY" in statement for statement, _ in statements)
    if database.is_sqlite:
        assert not any("TEMP B-TREE FOR ORDER BY" in plan_of(database, *item) for item in statements)
