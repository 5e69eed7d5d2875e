"""Changes of pull requests: between which commits they are, and who may read them."""

from dataclasses import replace

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, NoSuchIssue, NoSuchObject
from holdfast.hosting.services import pull_changes, pulls
from holdfast.hosting.services.file_commits import commit_files
from holdfast.hosting.services.issues import IssueDraft, IssueEdit
from holdfast.hosting.services.pull_changes import PullSpan
from holdfast.hosting.services.repositories import initial_commit
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import repository_by_id
from tests.hosting.repository_helpers import add_commit
from tests.hosting.services.commit_helpers import AUTHOR, commit_request, file_change
from tests.hosting.services.scenario import Caller, Scenario, make_scenario

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
ZERO = "0" * 40


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users, and a repository with the branches main and fix."""
    created_scenario = make_scenario(app)
    add_commit(app.database, created_scenario.repository, "main", "fix")
    return created_scenario


@pytest.fixture
def issue(scenario: Scenario) -> Issue:
    """Open a pull request that adds three files in two commits."""
    write(scenario, "fix", "hull", "mast")
    write(scenario, "fix", "sail")
    return pulls.create(*caller(scenario, scenario.writer), IssueDraft(title="Fix"), head="fix", base="main")


def write(scenario: Scenario, branch: str, *paths: str) -> str:
    """Commit files to a branch."""
    changes = [file_change(path, b"oak\n") for path in paths]
    request = commit_request(scenario.app, scenario.repository, *changes, branch=branch)
    return commit_files(scenario.app, request).commit.id


def move(scenario: Scenario, ref: str, old: str, new: str) -> None:
    """Update a ref without anything else."""
    with scenario.app.database.write() as connection:
        update = RefUpdate(f"refs/heads/{ref}", old, new)
        repository_log.append(connection, scenario.repository.id, [(None, update)], [])


def caller(scenario: Scenario, user: Account | None) -> Caller:
    """Return the arguments of a service for the repository with the commits that it has now."""
    return scenario.caller(user, repository_by_id(scenario.app.database, scenario.repository.id))


def span_of(scenario: Scenario, issue: Issue) -> PullSpan:
    """Return the commit range of a pull request, as a reader gets it."""
    app, _, target = caller(scenario, scenario.reader)
    return pull_changes.open_span(app, target, issue)


def paths(span: PullSpan, skip_to: str = "") -> list[str]:
    """Return the changed files."""
    return [file.path for file in pull_changes.changed_files(span, skip_to=skip_to)]


def test_an_open_pull_request_is_compared_with_the_tip_of_its_base(scenario: Scenario, issue: Issue) -> None:
    """Commits and files that only the base has are not changes of the pull request."""
    tip = write(scenario, "main", "keel")
    span = span_of(scenario, issue)
    assert (span.head, span.base, span.merge_base) == (issue.head_sha, tip, issue.base_sha)
    assert paths(span) == ["hull", "mast", "sail"]
    found, total = pull_changes.commits(span, skip=0, limit=1)
    assert ([commit.id for commit in found], total) == ([issue.head_sha], 2)


def test_a_closed_pull_request_stays_as_it_was(scenario: Scenario, issue: Issue) -> None:
    """Also when its base has the commits by now, and there would be no changes left."""
    closed = pulls.edit(*caller(scenario, scenario.writer), issue, IssueEdit(state="closed"))
    move(scenario, "main", issue.base_sha, issue.head_sha)
    span = span_of(scenario, closed)
    assert (span.base, span.merge_base) == (issue.base_sha, issue.base_sha)
    assert paths(span) == ["hull", "mast", "sail"]
    assert paths(span_of(scenario, issue)) == []


def test_a_pull_request_whose_base_is_gone_is_compared_with_its_last_commit(
    scenario: Scenario, issue: Issue
) -> None:
    """It is the one that the pull request has stored."""
    move(scenario, "main", issue.base_sha, ZERO)
    assert span_of(scenario, issue).base == issue.base_sha


def test_branches_without_a_common_ancestor_are_compared_as_they_are(scenario: Scenario, issue: Issue) -> None:
    """Then the base is where the changes begin."""
    commit, pack = initial_commit({"hull": b"ash\n"}, AUTHOR)
    with scenario.app.database.write() as connection:
        new = RefUpdate("refs/heads/orphan", ZERO, commit)
        repository_log.append(connection, scenario.repository.id, [(None, new)], [pack])
    span = span_of(scenario, replace(issue, head_sha=commit))
    assert span.merge_base == span.base == issue.base_sha


def test_a_pull_request_without_commits_has_no_changes(scenario: Scenario, issue: Issue) -> None:
    """An imported one may have none."""
    for empty in (replace(issue, head_sha=""), replace(issue, base_sha="", is_closed=True)):
        with pytest.raises(NoSuchObject, match="no commits"):
            span_of(scenario, empty)


def test_files_are_listed_from_the_one_asked_for(scenario: Scenario, issue: Issue) -> None:
    """From the first if there is no such file."""
    span = span_of(scenario, issue)
    assert paths(span, "mast") == ["mast", "sail"]
    assert paths(span, "keel") == ["hull", "mast", "sail"]


def test_changes_are_read_with_the_code_only(scenario: Scenario, issue: Issue) -> None:
    """Whoever may not read it is told that there is no such file of the pull request, as for an unknown form."""
    app, _, stranger = caller(scenario, None)
    with pytest.raises(Forbidden):
        pull_changes.open_span(app, stranger, issue)
    _, _, reader = caller(scenario, scenario.reader)
    for target, form in ((stranger, "diff"), (stranger, "patch"), (reader, "zip")):
        with pytest.raises(NoSuchIssue):
            pull_changes.text_of(app, target, issue, form)
    assert b"".join(pull_changes.text_of(app, reader, issue, "diff")).startswith(b"diff --git a/hull b/hull")
    assert b"".join(pull_changes.text_of(app, reader, issue, "patch")).count(b"\nSubject: ") == 2
