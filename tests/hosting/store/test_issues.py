"""Issues in the database: counters, events, deletion and concurrent changes."""

import threading
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from holdfast.hosting.errors import GoneMeanwhile, NoSuchIssue
from holdfast.hosting.store import comments, issues, labels, milestones, repositories
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issues import Branches, IssueChanges, NewIssue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import comments as comment_table
from holdfast.hosting.store.tables import issue_assignees, issue_labels, users
from holdfast.hosting.store.tables import issues as issue_table
from tests.examples import examples
from tests.hosting.repository_helpers import make_repository, recorded_events

ACTIONS = ("open", "pull", "close", "reopen", "comment", "uncomment", "label", "milestone", "delete", "edit")


def recounted(database: Database, repository: Repository) -> dict[str, Any]:
    """Count the rows for which there are stored counters."""
    mine = issue_table.c.repository_id == repository.id
    with database.read() as connection:
        opened = {
            is_pull: connection.execute(
                select(func.count()).where(mine, ~issue_table.c.is_closed, issue_table.c.is_pull == is_pull)
            ).scalar_one()
            for is_pull in (False, True)
        }
        numbers = connection.execute(select(issue_table.c.number).where(mine)).scalars().all()
        wrong = connection.execute(
            select(issue_table.c.number).where(
                mine,
                issue_table.c.comment_count
                != select(func.count())
                .where(comment_table.c.issue_id == issue_table.c.id, comment_table.c.kind == "comment")
                .scalar_subquery(),
            )
        ).all()
    return {"open_issues": opened[False], "open_pulls": opened[True], "numbers": numbers, "wrong": wrong}


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 9)), max_size=25))
def test_counters_equal_counted_rows(database: Database, ada: Account, steps: list[tuple[str, int]]) -> None:
    """Stored counters equal counted rows after any sequence of changes, also changes without effect."""
    repository = make_repository(database, ada, f"r{threading.get_ident()}-{len(all_repositories(database))}")
    label = labels.add_label(database, repository, "bug", "f00")
    milestone = milestones.add_milestone(database, repository, ada, "1.0")
    made: list[issues.Issue] = []
    comment: list[tuple[comments.Comment, issues.Issue]] = []
    for action, pick in steps:
        if action in {"open", "pull"}:
            branches = Branches(f"b{len(made)}", "main") if action == "pull" else None
            new = NewIssue(title="t", labels=[label], is_closed=pick == 0, branches=branches)
            made.append(issues.open_issue(database, repository, ada, new))
            assert made[-1].number == len(made)
        elif made:
            try:
                act(database, repository, ada, action, made[pick % len(made)], comment, label, milestone)
            except (NoSuchIssue, GoneMeanwhile):
                assert "delete" in {done for done, _ in steps}
    kept, counted = repositories.repository_by_id(database, repository.id), recounted(database, repository)
    assert (kept.open_issues, kept.open_pulls) == (counted["open_issues"], counted["open_pulls"])
    assert kept.last_issue == len(made)
    assert len(set(counted["numbers"])) == len(counted["numbers"])
    assert counted["wrong"] == []
    shown = milestones.find_milestone(database, repository, milestone.id)
    with database.read() as connection:
        in_it = connection.execute(
            select(func.count()).where(issue_table.c.milestone_id == milestone.id)
        ).scalar_one()
    assert shown.open_issues + shown.closed_issues == in_it


def all_repositories(database: Database) -> list[Repository]:
    """Return every repository."""
    return repositories.list_repositories(database, [], skip=0, limit=10_000)[0]


def act(  # noqa: PLR0917  # the actors of the play
    database: Database,
    repository: Repository,
    actor: Account,
    action: str,
    issue: issues.Issue,
    posted_comment: list[tuple[comments.Comment, issues.Issue]],
    label: labels.Label,
    milestone: milestones.Milestone,
) -> None:
    """Run one action on an issue, which may be deleted."""
    if action == "comment":
        posted_comment.append((comments.add_comment(database, repository, issue, actor, "b"), issue))
    elif action == "uncomment" and posted_comment:
        comment, its_issue = posted_comment.pop()
        with database.read() as connection:
            there = connection.execute(
                select(comment_table.c.id).where(comment_table.c.id == comment.id)
            ).one_or_none()
        if there is not None:
            comments.delete_comment(database, repository, its_issue, comment, actor=actor)
    elif action == "delete":
        issues.delete_issue(database, repository, issue, actor)
    else:
        changes = {
            "close": IssueChanges(is_closed=True),
            "reopen": IssueChanges(is_closed=False),
            "label": IssueChanges(labels=[] if issue.number % 2 else [label]),
            "milestone": IssueChanges(milestone_id=milestone.id),
            "edit": IssueChanges(title="other", body="other", due_at=5, assignees=[actor], is_closed=True),
        }.get(action, IssueChanges())
        issues.change_issue(database, repository, issue, actor, changes)


def test_concurrent_writers_lose_no_update(database: Database, ada: Account) -> None:
    """Concurrent changes of issues, comments and milestones cause no deadlock, and the counts are right."""
    repository = make_repository(database, ada)
    shared = issues.open_issue(database, repository, ada, NewIssue(title="shared"))
    label = labels.add_label(database, repository, "bug", "f00")
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for turn in range(5):
                milestone = milestones.add_milestone(database, repository, ada, f"{seed}.{turn}")
                new = NewIssue(title="t", labels=[label], milestone_id=milestone.id)
                issue = issues.open_issue(database, repository, ada, new)
                comments.add_comment(database, repository, shared, ada, "b")
                issues.change_issue(database, repository, shared, ada, IssueChanges(milestone_id=milestone.id))
                issues.change_issue(
                    database, repository, shared, ada, IssueChanges(is_closed=turn % 2 == seed % 2)
                )
                issues.change_issue(database, repository, issue, ada, IssueChanges(is_closed=True, labels=[]))
                milestones.delete_milestone(database, repository, ada, milestone)
        except BaseException as error:  # noqa: BLE001  # told by the test, not by the thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    kept, counted = repositories.repository_by_id(database, repository.id), recounted(database, repository)
    assert kept.last_issue == 21
    assert sorted(counted["numbers"]) == list(range(1, 22))
    assert (kept.open_issues, counted["wrong"]) == (counted["open_issues"], [])
    assert issues.find_issue(database, repository, 1).comment_count == 20


def test_every_change_records_an_event(database: Database, ada: Account) -> None:
    """Each change of an issue records an event with the old values, and with the content of what was deleted."""
    repository = make_repository(database, ada)
    label = labels.add_label(database, repository, "bug", "f00")
    milestone = milestones.add_milestone(database, repository, ada, "1.0")
    issue = issues.open_issue(database, repository, ada, NewIssue(title="one", body="two"))
    for changes in (
        IssueChanges(title="uno", body="due"),
        IssueChanges(labels=[label], assignees=[ada], milestone_id=milestone.id),
        IssueChanges(labels=[], assignees=[], milestone_id=0),
        IssueChanges(is_closed=True),
        IssueChanges(is_closed=True, title="uno"),
        IssueChanges(is_closed=False),
    ):
        issues.change_issue(database, repository, issue, ada, changes)
    comment = comments.add_comment(database, repository, issue, ada, "b")
    comments.edit_comment(database, repository, issue, comment, actor=ada, body="c")
    comments.delete_comment(database, repository, issue, comment, actor=ada)
    issues.delete_issue(database, repository, issue, ada)
    events = recorded_events(database)
    assert [(kind, details["action"]) for kind, details in events] == [
        ("issues", "opened"),
        ("issues", "edited"),
        ("issue_milestone", "milestoned"),
        ("issue_label", "label_updated"),
        ("issue_assign", "assigned"),
        ("issue_milestone", "demilestoned"),
        ("issue_label", "label_cleared"),
        ("issue_assign", "unassigned"),
        ("issues", "closed"),
        ("issues", "reopened"),
        ("issue_comment", "created"),
        ("issue_comment", "edited"),
        ("issue_comment", "deleted"),
        ("issues", "deleted"),
    ]
    assert all((details["issue_id"], details["number"]) == (issue.id, 1) for _, details in events)
    assert (events[1][1]["old_title"], events[1][1]["old_body"]) == ("one", "two")
    assert [added_label["name"] for added_label in events[3][1]["added_labels"]] == ["bug"]
    assert (events[12][1]["comment"]["body"], events[13][1]["was"]["title"]) == ("c", "uno")


def test_pull_requests_have_events_of_their_own(database: Database, ada: Account) -> None:
    """Events of a pull request have the names that webhooks use for pull requests."""
    repository = make_repository(database, ada)
    new = NewIssue(title="t", assignees=[ada], branches=Branches("fix", "main"))
    pull = issues.open_issue(database, repository, ada, new)
    comments.add_comment(database, repository, pull, ada, "b")
    kinds = [kind for kind, _ in recorded_events(database)]
    assert kinds == ["pull_request", "pull_request_assign", "pull_request_comment"]


def test_deleting_an_issue_deletes_everything_of_it(database: Database, ada: Account) -> None:
    """Comments and the links to labels and assignees are deleted; users and labels are not."""
    repository = make_repository(database, ada)
    label = labels.add_label(database, repository, "bug", "f00")
    new = NewIssue(title="t", labels=[label], assignees=[ada])
    issue = issues.open_issue(database, repository, ada, new)
    comments.add_comment(database, repository, issue, ada, "b")
    issues.delete_issue(database, repository, issue, ada)
    with database.read() as connection:
        for table in (comment_table, issue_labels, issue_assignees):
            assert connection.execute(select(func.count()).select_from(table)).scalar_one() == 0
        assert connection.execute(select(func.count()).select_from(users)).scalar_one() == 1
    assert labels.find_label(database, repository, label.id) == label
