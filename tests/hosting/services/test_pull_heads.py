"""Head refs of pull requests, and deleted and renamed branches."""

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import MergedAlready, StorageUnavailable
from holdfast.hosting.services import branches, dependencies, forks, issues, pull_heads, pulls
from holdfast.hosting.services.dependencies import IssueReference
from holdfast.hosting.services.issues import IssueDraft, IssueEdit
from holdfast.hosting.services.pull_comparisons import compare_missed
from holdfast.hosting.store import comments, repository_log
from holdfast.hosting.store import issues as stored_issues
from holdfast.hosting.store.issues import Issue, find_issue
from holdfast.hosting.store.pulls import set_merged
from holdfast.hosting.store.repositories import repository_by_id
from tests.hosting.repository_helpers import add_commit
from tests.hosting.services.commit_helpers import commit_as
from tests.hosting.services.scenario import Scenario, make_scenario

FIX = IssueDraft(title="Stop the leak")


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users, and a repository with the branches main, fix and other."""
    created_scenario = make_scenario(app)
    add_commit(app.database, created_scenario.repository, "main", "fix", "other")
    return created_scenario


def open_pull(scenario: Scenario, head: str = "fix", base: str = "main") -> Issue:
    """Open a pull request."""
    return pulls.create(*scenario.caller(scenario.reader), FIX, head=head, base=base)


def current(scenario: Scenario, issue: Issue) -> Issue:
    """Return a pull request as it is now."""
    return find_issue(scenario.app.database, scenario.repository, issue.number)


def head_of(scenario: Scenario, issue: Issue) -> str | None:
    """Return the commit that the head ref of a pull request points to."""
    return repository_log.find_ref(scenario.app.database, scenario.repository.id, f"refs/pull/{issue.number}/head")


def entries(scenario: Scenario, issue: Issue) -> list[comments.Comment]:
    """Return the timeline of a pull request."""
    return comments.entries_of(scenario.app.database, issue, plain=False, skip=0, limit=50)[0]


def test_the_ref_of_a_pull_request_stays_when_its_branch_is_deleted(scenario: Scenario) -> None:
    """It points to the head commit before and after."""
    issue = open_pull(scenario)
    assert head_of(scenario, issue) == issue.head_sha
    branches.delete(*scenario.caller(scenario.writer), "fix")
    assert head_of(scenario, issue) == issue.head_sha


def test_a_deleted_head_or_base_closes_the_pull_request(scenario: Scenario) -> None:
    """The timeline names the user who deleted the branch as the one who closed the pull request."""
    single_issue, two = open_pull(scenario), open_pull(scenario, "main", "other")
    for branch in ("fix", "other"):
        branches.delete(*scenario.caller(scenario.writer), branch)
    assert [current(scenario, issue).is_closed for issue in (single_issue, two)] == [True, True]
    assert [entry.kind for entry in entries(scenario, single_issue)] == ["close"]
    assert entries(scenario, single_issue)[0].author_id == scenario.writer.id


def test_a_branch_is_deleted_together_with_closing_its_pull_requests(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If one of them fails, as in a process that is killed, neither has happened."""
    app, issue = scenario.app, open_pull(scenario)

    def fail(*_: object) -> None:
        raise StorageUnavailable("the process was killed")

    with monkeypatch.context() as patch:
        patch.setattr(stored_issues, "close", fail)
        with pytest.raises(StorageUnavailable):
            branches.delete(*scenario.caller(scenario.writer), "fix")
    assert not current(scenario, issue).is_closed
    assert repository_log.find_ref(app.database, scenario.repository.id, "refs/heads/fix") == issue.head_sha
    branches.delete(*scenario.caller(scenario.writer), "fix")
    assert current(scenario, issue).is_closed


def test_a_branch_deleted_in_a_fork_closes_its_pull_requests(scenario: Scenario) -> None:
    """They are closed in the repository of the base, and one with an open blocker stays open."""
    writer = scenario.caller(scenario.writer)
    blocker = open_pull(scenario)
    fork = forks.fork(*writer)
    to_main, to_other = (pulls.create(*writer, FIX, head="bob:fix", base=base) for base in ("main", "other"))
    dependencies.add_blocker(*writer, to_other, IssueReference(blocker.number))
    branches.delete(*scenario.caller(scenario.writer, fork), "fix")
    assert [current(scenario, issue).is_closed for issue in (blocker, to_main, to_other)] == [False, True, False]
    assert repository_by_id(scenario.app.database, scenario.repository.id).open_pulls == 2


def test_a_merged_pull_request_is_not_opened_again(scenario: Scenario) -> None:
    """A merged pull request stays closed, and it is found by its merge commit."""
    issue = open_pull(scenario)
    writer = scenario.caller(scenario.writer)
    closed = pulls.edit(*writer, issue, IssueEdit(state="closed"))
    with scenario.app.database.write() as connection:
        set_merged(connection, closed, scenario.writer, sha="3" * 40, style="merge", now=1)
    with pytest.raises(MergedAlready):
        pulls.edit(*writer, current(scenario, issue), IssueEdit(state="open"))
    assert current(scenario, issue).is_closed
    found_issue = pulls.find_merged(scenario.app, writer[2], "3" * 40)
    assert found_issue is not None
    assert found_issue.number == issue.number


def test_a_renamed_branch_takes_its_pull_requests_along(scenario: Scenario) -> None:
    """Pull requests with the branch as head or base have its new name and stay open."""
    single_issue, two = open_pull(scenario), open_pull(scenario, "main", "other")
    writer = scenario.caller(scenario.writer)
    branches.rename(*writer, "fix", "repair")
    branches.rename(*writer, "other", "stable")
    now = [current(scenario, issue) for issue in (single_issue, two)]
    assert [(issue.head_branch, issue.base_branch, issue.is_closed) for issue in now] == [
        ("repair", "main", False),
        ("main", "stable", False),
    ]


@pytest.mark.parametrize("is_interrupted", [False, True])
def test_a_branch_that_was_pushed_to_while_its_pull_request_was_closed_is_followed(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch, *, is_interrupted: bool
) -> None:
    """A pull request that is opened again as an issue has its commits, soon after if that fails at first."""
    app, repository, writer = scenario.app, scenario.repository, scenario.caller(scenario.writer)
    issue = open_pull(scenario)
    pulls.edit(*writer, issue, IssueEdit(state="closed"))
    commit_as(app, repository, scenario.writer, "Caulk it", branch="fix")
    tip = repository_log.find_ref(app.database, repository.id, "refs/heads/fix")

    def fail(*_: object) -> bool:
        raise StorageUnavailable("the bucket does not answer")

    with monkeypatch.context() as patch:
        if is_interrupted:
            patch.setattr(pull_heads, "follow", fail)
        opened = issues.edit(*writer, current(scenario, issue), IssueEdit(state="open"))
    assert opened.head_sha == (issue.head_sha if is_interrupted else tip)
    compare_missed(app)
    assert current(scenario, issue).head_sha == head_of(scenario, issue) == tip
    assert [entry.kind for entry in entries(scenario, issue)] == ["close", "reopen", "pull_push"]
