"""Pull requests: permissions and validation of branches."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import update

from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    InvalidReference,
    LoginRequired,
    NoSuchAccount,
    NoSuchIssue,
    NoSuchRef,
    Permission,
    RepositoryArchived,
)
from holdfast.hosting.services import branches, forks, issues, pull_heads, pulls, reviews
from holdfast.hosting.services.file_commits import commit_files
from holdfast.hosting.services.issues import IssueDraft, IssueEdit
from holdfast.hosting.services.reviews import ReviewRequests
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.issues import Branches, Issue, find_issue
from holdfast.hosting.store.pulls import CLEAN, find_pull, open_with_head
from holdfast.hosting.store.repositories import Repository, repository_by_id
from holdfast.hosting.store.tables import repositories as table
from holdfast.hosting.store.tables import users
from tests.hosting.repository_helpers import READ, add_commit, let_in, make_people
from tests.hosting.services.commit_helpers import commit_as, commit_request, file_change
from tests.hosting.services.scenario import Scenario, make_scenario

FIX = IssueDraft(title="Stop the leak")


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users, and a repository with the branches main, fix and other."""
    created_scenario = make_scenario(app)
    add_commit(app.database, created_scenario.repository, "main", "fix", "other")
    return created_scenario


def test_readers_open_pull_requests_and_writers_change_their_base(scenario: Scenario) -> None:
    """A reader may not change the base, and a new base must exist."""
    reader, writer = scenario.caller(scenario.reader), scenario.caller(scenario.writer)
    created_issue = pulls.create(*reader, FIX, head="ada:fix", base="main")
    assert (created_issue.is_pull, created_issue.head_branch, created_issue.base_branch) == (True, "fix", "main")
    assert find_pull(scenario.app.database, created_issue).mergeability == CLEAN
    with pytest.raises(Forbidden):
        pulls.edit(*reader, created_issue, IssueEdit(base_branch="other"))
    with pytest.raises(NoSuchRef):
        pulls.edit(*writer, created_issue, IssueEdit(base_branch="none"))
    assert pulls.edit(*writer, created_issue, IssueEdit(base_branch="other")).base_branch == "other"
    issue = issues.create(*reader, IssueDraft(title="It leaks"))
    with pytest.raises(NoSuchIssue):
        pulls.find(scenario.app, reader[2], issue.number)


def run_after_find(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    """Run an action once, after the next request has found its branches and before its transaction."""
    find_branches = pulls.find_branches

    def find(*arguments: Any, **named: Any) -> Branches:
        found = find_branches(*arguments, **named)
        monkeypatch.setattr(pulls, "find_branches", find_branches)
        action()
        return found

    monkeypatch.setattr(pulls, "find_branches", find)


def test_a_push_while_a_pull_request_is_created_is_part_of_it(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The head is not that of the moment at which the request began, which nothing would update."""
    app, repository = scenario.app, scenario.repository
    run_after_find(monkeypatch, lambda: commit_as(app, repository, repository.owner, "Caulk it", branch="fix"))
    issue = pulls.create(*scenario.caller(scenario.reader), FIX, head="fix", base="main")
    tip = repository_log.find_ref(app.database, repository.id, "refs/heads/fix")
    assert issue.head_sha == tip
    assert repository_log.find_ref(app.database, repository.id, f"refs/pull/{issue.number}/head") == tip


def test_a_branch_that_is_deleted_while_a_pull_request_is_created_gets_none(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deletion closed the pull requests that there were; this one would stay open without a branch."""
    app, repository = scenario.app, scenario.repository
    run_after_find(monkeypatch, lambda: branches.delete(*scenario.caller(scenario.owner), "fix"))
    with pytest.raises(NoSuchRef):
        pulls.create(*scenario.caller(scenario.reader), FIX, head="fix", base="main")
    with app.database.read() as connection:
        assert open_with_head(connection, repository.id, "fix") == []


def test_a_base_or_a_branch_of_a_fork_that_is_deleted_meanwhile_gets_no_pull_request(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing would close a pull request that is opened after its branch was deleted."""
    app, writer = scenario.app, scenario.caller(scenario.writer)
    fork = forks.fork(*writer)
    owner_of_fork = scenario.caller(scenario.writer, fork)
    run_after_find(monkeypatch, lambda: branches.delete(*owner_of_fork, "fix"))
    with pytest.raises(NoSuchRef):
        pulls.create(*writer, FIX, head="bob:fix", base="main")
    run_after_find(monkeypatch, lambda: branches.delete(*writer, "other"))
    with pytest.raises(NoSuchRef):
        pulls.create(*writer, FIX, head="fix", base="other")
    with app.database.read() as connection:
        assert open_with_head(connection, fork.id) == open_with_head(connection, scenario.repository.id) == []


def test_the_base_is_not_changed_to_a_branch_that_is_deleted_meanwhile(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deletion has closed the pull requests into the branch already."""
    writer = scenario.caller(scenario.writer)
    issue = pulls.create(*writer, FIX, head="fix", base="main")
    edit = issues.edit

    def delete_then_edit(*arguments: Any, **named: Any) -> Issue:
        branches.delete(*writer, "other")
        return edit(*arguments, **named)

    monkeypatch.setattr(issues, "edit", delete_then_edit)
    with pytest.raises(NoSuchRef):
        pulls.edit(*writer, issue, IssueEdit(base_branch="other"))
    assert find_issue(scenario.app.database, scenario.repository, issue.number).base_branch == "main"


def test_opening_a_pull_request_requires_read_access(scenario: Scenario) -> None:
    """Anonymous users, users who cannot read the code, and owners of archived repositories open none."""
    with pytest.raises(LoginRequired):
        pulls.create(*scenario.caller(None), FIX, head="fix", base="main")
    app, actor, _ = scenario.caller(scenario.reader)
    with pytest.raises(Forbidden):
        pulls.create(app, actor, scenario.caller(None)[2], FIX, head="fix", base="main")
    with pytest.raises(RepositoryArchived):
        pulls.create(*scenario.caller(scenario.owner, scenario.archived()), FIX, head="fix", base="main")


def test_the_branches_are_validated(scenario: Scenario) -> None:
    """Empty, invalid and unknown heads, heads of other owners, and the base as its own head are refused."""
    reader = scenario.caller(scenario.reader)
    for head, error in (
        ("", InvalidField),
        ("ada:", InvalidField),
        ("a..b", InvalidField),
        ("x" * 256, InvalidField),
        ("eve:fix", InvalidReference),
        ("main", InvalidReference),
        ("none", NoSuchRef),
    ):
        with pytest.raises(error):
            pulls.create(*reader, FIX, head=head, base="main")


@pytest.fixture
def fork(scenario: Scenario) -> Repository:
    """Let the reader fork the repository, and commit to the branch fix of the fork."""
    forked = forks.fork(*scenario.caller(scenario.reader))
    change = file_change("sail", b"cloth")
    commit_files(scenario.app, commit_request(scenario.app, forked, change, branch="fix"))
    return repository_by_id(scenario.app.database, forked.id)


def publish(scenario: Scenario, repository: Repository, *, is_private: bool = False) -> Repository:
    """Make a repository public, or private."""
    with scenario.app.database.write() as connection:
        connection.execute(update(table).where(table.c.id == repository.id).values(is_private=is_private))
    return repository_by_id(scenario.app.database, repository.id)


def test_a_pull_request_is_found_between_its_branches(scenario: Scenario) -> None:
    """An open one is found before a closed one, and neither by those who cannot read the repository."""
    app, _, target = reader = scenario.caller(scenario.reader)
    first = pulls.create(*reader, FIX, head="fix", base="main")
    pulls.edit(*reader, first, IssueEdit(state="closed"))
    for head in ("fix", "ada:fix"):
        assert pulls.find_between(app, target, "main", head).id == first.id
    second = pulls.create(*reader, FIX, head="fix", base="main")
    assert pulls.find_between(app, target, "main", "ada:fix").id == second.id
    assert pulls.find(app, target, second.number) == second
    assert pulls.find_merged(app, target, second.head_sha) is None
    for base, head in (("main", "other"), ("other", "fix"), ("main", "eve:fix")):
        with pytest.raises(NoSuchIssue):
            pulls.find_between(app, target, base, head)
    with pytest.raises(NoSuchIssue):
        pulls.find_between(app, scenario.caller(None)[2], "main", "fix")


def test_reviewers_are_checked_before_a_pull_request_is_opened(scenario: Scenario) -> None:
    """An unknown reviewer leaves no pull request behind, and known ones are requested."""
    reader = scenario.caller(scenario.reader)
    with pytest.raises(NoSuchAccount):
        pulls.create(*reader, FIX, head="fix", base="main", asked=ReviewRequests(reviewers=["nobody"]))
    assert repository_by_id(scenario.app.database, scenario.repository.id).last_issue == 0
    created = pulls.create(*reader, FIX, head="fix", base="main", asked=ReviewRequests(reviewers=["bob"]))
    (request,), _ = reviews.list_all(scenario.app, reader[1], created, skip=0, limit=9)
    assert (request.reviewer_id, request.is_request) == (scenario.writer.id, True)


def test_code_owners_are_requested_when_a_pull_request_is_opened(scenario: Scenario) -> None:
    """The owners that the file CODEOWNERS of the base branch names review what the pull request changes."""
    app = scenario.app
    for path, content, branch in (("CODEOWNERS", b"sail @ada\n", "main"), ("sail", b"cloth", "fix")):
        current = repository_by_id(app.database, scenario.repository.id)
        commit_files(app, commit_request(app, current, file_change(path, content), branch=branch))
    created = pulls.create(*scenario.caller(scenario.writer), FIX, head="fix", base="main")
    found, _ = reviews.list_all(app, scenario.caller(None)[1], created, skip=0, limit=9)
    assert [(review.reviewer_id, review.is_request) for review in found] == [(scenario.owner.id, True)]


def test_only_the_author_lets_maintainers_edit(scenario: Scenario) -> None:
    """Nobody else gives access to the branch of the author, and an edit without the option keeps it."""
    database, reader = scenario.app.database, scenario.caller(scenario.reader)
    created = pulls.create(*reader, FIX, head="fix", base="main", allow_maintainer_edit=True)

    def allowed() -> bool:
        return find_pull(database, created).allow_maintainer_edit

    assert allowed()
    for user in (scenario.writer, scenario.owner):
        with pytest.raises(Forbidden) as excinfo:
            pulls.edit(*scenario.caller(user), created, IssueEdit(), allow_maintainer_edit=False)
        assert excinfo.value.permission == Permission.AUTHOR
        pulls.edit(*scenario.caller(user), created, IssueEdit(title="x"), allow_maintainer_edit=True)
    with pytest.raises(LoginRequired):
        pulls.edit(*scenario.caller(None), created, IssueEdit(), allow_maintainer_edit=False)
    pulls.edit(*reader, created, IssueEdit(title="y"))
    assert allowed()
    pulls.edit(*reader, created, IssueEdit(), allow_maintainer_edit=False)
    assert not allowed()


def test_a_new_base_or_a_reopened_pull_request_is_compared_at_once(scenario: Scenario, fork: Repository) -> None:
    """Whether it can be merged is known when the edit returns, and a reopened one has the head of its branch."""
    app, reader = scenario.app, scenario.caller(scenario.reader)

    def compared(issue: Issue) -> str:
        return find_pull(app.database, issue).mergeability

    created = pulls.create(*reader, FIX, head="eve:fix", base="main")
    assert compared(created) == CLEAN
    moved = pulls.edit(*scenario.caller(scenario.writer), created, IssueEdit(base_branch="other"))
    assert (moved.base_branch, compared(moved)) == ("other", CLEAN)
    closed = pulls.edit(*reader, moved, IssueEdit(state="closed"))
    change = file_change("mast", b"pine")
    after = commit_files(app, commit_request(app, fork, change, branch="fix")).commit.id
    reopened = pulls.edit(*reader, closed, IssueEdit(state="open"))
    assert (reopened.is_closed, reopened.head_sha, compared(reopened)) == (False, after, CLEAN)


def test_a_head_is_in_the_repository_or_in_a_fork_that_the_actor_may_read(
    scenario: Scenario, fork: Repository
) -> None:
    """A fork is named by its owner or in full; one that the actor may not read is no better than none."""
    app, database = scenario.app, scenario.app.database
    home = scenario.repository
    (mia,) = make_people(database, "mia")
    let_in(database, home, mia, READ)
    for user, named, expected in (
        (scenario.reader, "", home),
        (scenario.reader, "ADA", home),
        (scenario.reader, "ada/SHIP", home),
        (scenario.reader, "eve", fork),
        (scenario.reader, "Eve/ship", fork),
        (scenario.reader, "ada/boat", None),
        (scenario.reader, "bob", None),
        (mia, "eve", None),
        (None, "eve", None),
    ):
        app, actor, target = scenario.caller(user)
        if expected is None:
            with pytest.raises(InvalidReference):
                pulls.head_repository(app, actor, target, named)
        else:
            assert pulls.head_repository(app, actor, target, named).id == expected.id
    created = pulls.create(*scenario.caller(scenario.reader), FIX, head="eve:fix", base="main")
    tip = repository_log.find_ref(database, fork.id, "refs/heads/fix")
    assert (created.head_sha, created.head_repository_id) == (tip, fork.id)
    assert find_pull(database, created).head_label == "eve:fix"
    with pytest.raises(NoSuchRef):
        pulls.create(*scenario.caller(scenario.reader), FIX, head="eve:sail", base="main")


def test_who_may_push_to_a_private_fork_opens_a_pull_request_from_it(scenario: Scenario, fork: Repository) -> None:
    """Readers of the fork may not show its commits to all who read its parent, nor if its owner is private."""
    app = scenario.app
    home = publish(scenario, scenario.repository)
    (mia,) = make_people(app.database, "mia")
    let_in(app.database, fork, mia, READ)
    tip = repository_log.find_ref(app.database, fork.id, "refs/heads/fix")
    assert tip is not None
    with pytest.raises(InvalidReference, match="may push to"):
        pulls.create(*scenario.caller(mia, home), FIX, head="eve:fix", base="main")
    publish(scenario, fork)
    with app.database.write() as connection:
        connection.execute(update(users).where(users.c.id == fork.owner.id).values(visibility="private"))
    with pytest.raises(InvalidReference, match="may push to"):
        pulls.create(*scenario.caller(mia, home), FIX, head="eve:fix", base="main")
    with pytest.raises(InvalidReference, match="private fork"):
        pulls.open_head(*scenario.caller(mia, home), "eve:fix")
    assert app.copies.update(home.id).header(tip) is None
    opened = pulls.create(*scenario.caller(scenario.reader, home), FIX, head="eve:fix", base="main")
    assert opened.head_sha == tip


def test_a_private_fork_shows_what_is_pushed_to_it_in_pull_requests_of_its_writers_only(
    scenario: Scenario, fork: Repository
) -> None:
    """A pull request that a reader opened while the fork was public stays as it was, until the fork is public."""
    app = scenario.app
    home = publish(scenario, scenario.repository)
    publish(scenario, fork)
    (mia,) = make_people(app.database, "mia")
    theirs = pulls.create(*scenario.caller(mia, home), FIX, head="eve:fix", base="main")
    own = pulls.create(*scenario.caller(scenario.reader, home), FIX, head="eve:fix", base="other")
    publish(scenario, fork, is_private=True)
    change = file_change("secret", b"treasure")
    tip = commit_files(app, commit_request(app, fork, change, branch="fix")).commit.id
    closed = pulls.edit(*scenario.caller(scenario.reader, home), own, IssueEdit(state="closed"))
    pull_heads.follow_branches(app, fork.id)
    assert head_of(app, home, theirs) == theirs.head_sha
    assert app.copies.update(home.id).header(tip) is None
    pulls.edit(*scenario.caller(scenario.reader, home), closed, IssueEdit(state="open"))
    assert head_of(app, home, own) == tip
    publish(scenario, fork)
    pull_heads.follow_branches(app, fork.id)
    assert head_of(app, home, theirs) == tip


def head_of(app: App, home: Repository, issue: Issue) -> str | None:
    """Return the commit that the head ref of a pull request points to."""
    return repository_log.find_ref(app.database, home.id, f"refs/pull/{issue.number}/head")


def test_branches_of_a_private_fork_are_not_copied_to_its_parent(scenario: Scenario, fork: Repository) -> None:
    """Readers of the parent could read their objects; those of a public fork are copied for users who log in."""
    reader = scenario.caller(scenario.reader)
    tip = repository_log.find_ref(scenario.app.database, fork.id, "refs/heads/fix")
    assert tip is not None
    assert pulls.open_head(*reader, "fix")[1] == repository_log.find_ref(
        scenario.app.database, scenario.repository.id, "refs/heads/fix"
    )
    with pytest.raises(InvalidReference, match="private fork"):
        pulls.open_head(*reader, "eve:fix")
    with pytest.raises(NoSuchRef):
        pulls.open_head(*reader, "eve:none")
    with pytest.raises(Forbidden):
        pulls.open_head(*scenario.caller(None), "fix")
    home = publish(scenario, scenario.repository)
    publish(scenario, fork)
    assert scenario.app.copies.update(home.id).header(tip) is None
    with pytest.raises(LoginRequired):
        pulls.open_head(*scenario.caller(None, home), "eve:fix")
    repo, sha = pulls.open_head(*scenario.caller(scenario.reader, home), "eve:fix")
    assert (sha, repo.header(sha) is not None) == (tip, True)
    assert pulls.open_head(*scenario.caller(None, home), "eve:fix")[1] == tip
