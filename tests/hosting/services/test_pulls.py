"""Pull requests: permissions and validation of branches."""

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    InvalidReference,
    LoginRequired,
    NoSuchIssue,
    NoSuchRef,
    RepositoryArchived,
)
from holdfast.hosting.services import issues, pulls
from holdfast.hosting.services.issues import IssueDraft, IssueEdit
from holdfast.hosting.store.pulls import CLEAN, find_pull
from tests.hosting.repository_helpers import add_commit
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
