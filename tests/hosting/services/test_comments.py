"""Comments on issues: permissions and validation."""

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    IssueLocked,
    LoginRequired,
    NoSuchComment,
    Permission,
    RepositoryArchived,
)
from holdfast.hosting.services import comments, issues
from holdfast.hosting.services.issues import IssueDraft
from tests.hosting.services.scenario import Scenario, make_scenario


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users and the repository."""
    return make_scenario(app)


def test_authors_and_writers_change_comments(scenario: Scenario) -> None:
    """Readers edit their own comments and no others; without read access no comment is found."""
    writer, reader = scenario.caller(scenario.writer), scenario.caller(scenario.reader)
    issue = issues.create(*writer, IssueDraft(title="It leaks"))
    mine = comments.create(*reader, issue, "Where?")
    theirs = comments.create(*writer, issue, "Aft.")
    assert comments.edit(*reader, (mine, issue), "Where exactly?").body == "Where exactly?"
    with pytest.raises(Forbidden) as excinfo:
        comments.edit(*reader, (theirs, issue), "Not there.")
    assert excinfo.value.permission == Permission.AUTHOR
    with pytest.raises(Forbidden):
        comments.delete(*reader, (theirs, issue))
    assert comments.find(scenario.app, reader[2], theirs.id)[0] == theirs
    with pytest.raises(LoginRequired):
        comments.delete(*scenario.caller(None), (mine, issue))
    comments.delete(*writer, (mine, issue))
    with pytest.raises(NoSuchComment):
        comments.find(scenario.app, writer[2], mine.id)
    with pytest.raises(NoSuchComment):
        comments.find(scenario.app, scenario.caller(None)[2], theirs.id)


def test_only_writers_comment_on_a_locked_issue(scenario: Scenario) -> None:
    """Nobody comments in an archived repository, without a login, or on an issue they cannot read."""
    writer, reader = scenario.caller(scenario.writer), scenario.caller(scenario.reader)
    issue = issues.create(*writer, IssueDraft(title="It leaks"))
    issues.lock(*writer, issue)
    locked = issues.find(scenario.app, writer[2], issue.number)
    with pytest.raises(IssueLocked):
        comments.create(*reader, locked, "Where?")
    assert comments.create(*writer, locked, "Aft.").body == "Aft."
    with pytest.raises(LoginRequired):
        comments.create(*scenario.caller(None), issue, "Where?")
    with pytest.raises(RepositoryArchived):
        comments.create(*scenario.caller(scenario.owner, scenario.archived()), issue, "Where?")
    app, actor, _ = reader
    with pytest.raises(Forbidden):
        comments.create(app, actor, scenario.caller(None)[2], issue, "Where?")


def test_a_comment_says_something(scenario: Scenario) -> None:
    """An empty body is refused for a new comment and for an edit."""
    writer = scenario.caller(scenario.writer)
    issue = issues.create(*writer, IssueDraft(title="It leaks"))
    comment = comments.create(*writer, issue, "Aft.")
    with pytest.raises(InvalidField, match="Body"):
        comments.create(*writer, issue, "")
    with pytest.raises(InvalidField, match="Body"):
        comments.edit(*writer, (comment, issue), "")
