"""Merges of pull requests: commit messages, deleted branches, packed objects, and updates of head branches."""

import dataclasses

import msgspec
import pytest

from holdfast.hosting.access import Actor, Mode, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    Forbidden,
    InvalidField,
    InvalidReference,
    MergeRefused,
    NoSuchRef,
    NoSuchScheduledMerge,
    NothingToMerge,
    Outdated,
    PushRefused,
    RefMoved,
    RepositoryArchived,
)
from holdfast.hosting.git.commits import Commit, Signature, read_commit
from holdfast.hosting.git.tree_writer import Draft
from holdfast.hosting.services import branches, forks, pull_merges, pulls, repositories
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import CommitRequest, commit_files
from holdfast.hosting.services.file_contents import FileContent
from holdfast.hosting.services.issues import IssueDraft, IssueEdit
from holdfast.hosting.services.merge_requirements import MergeStyle
from holdfast.hosting.services.pull_merges import MergeOrder
from holdfast.hosting.services.repositories import NewRepository, RepositoryEdit
from holdfast.hosting.store import (
    account_administration,
    comments,
    commit_statuses,
    protections,
    repository_log,
)
from holdfast.hosting.store import pulls as pull_store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Issue, find_issue
from holdfast.hosting.store.protections import ProtectionRule
from holdfast.hosting.store.repositories import Repository, repository_by_id
from tests.hosting.repository_helpers import READ, WRITE, let_in, make_people
from tests.hosting.services.scenario import Scenario

TIME = 1_700_000_000
ADA = Signature("Ada", "ada@example.org", TIME)


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users, and a repository with a file on main."""
    owner, writer, reader = make_people(app.database, "ada", "bob", "eve")
    ship = repositories.create(app, owner, owner, NewRepository(name="ship"), {"a": b"a"})
    let_in(app.database, ship, writer, WRITE)
    let_in(app.database, ship, reader, READ)
    return Scenario(app, repository_by_id(app.database, ship.id), owner, writer, reader)


def commit(
    scenario: Scenario, branch: str, path: str, content: bytes = b"x", *, repository: Repository | None = None
) -> str:
    """Commit a new file to a branch, which begins at main if it is new, and return the commit."""
    repository = repository or scenario.repository
    known = tip(scenario, branch, repository)
    request = CommitRequest(
        repository=repository,
        actor=scenario.owner,
        changes=[FileChange(operation="upload", path=path, content=FileContent(content))],
        author=ADA,
        committer=ADA,
        message=f"add {path}",
        branch=branch if known else "main",
        new_branch="" if known else branch,
    )
    return commit_files(scenario.app, request).commit.id


def tip(scenario: Scenario, branch: str, repository: Repository | None = None) -> str | None:
    """Return the commit of a branch."""
    number = (repository or scenario.repository).id
    return repository_log.find_ref(scenario.app.database, number, f"refs/heads/{branch}")


def open_pull(scenario: Scenario, head: str = "fix", user: Account | None = None) -> Issue:
    """Open a pull request into main."""
    return pulls.create(
        *scenario.caller(user or scenario.writer), IssueDraft(title="Mend it"), head=head, base="main"
    )


def merge(
    scenario: Scenario, issue: Issue, style: str = "merge", user: Account | None = None, **more: object
) -> bool:
    """Merge a pull request as the writer."""
    order = msgspec.convert({"style": style, **more}, MergeOrder)
    return pull_merges.merge(*scenario.caller(user or scenario.writer), issue, order)


def update(scenario: Scenario, issue: Issue, style: str = "merge", user: Account | None = None) -> None:
    """Update the head branch of a pull request as the writer."""
    pull_merges.update_head(*scenario.caller(user or scenario.writer), issue, style)


def edit(scenario: Scenario, **declared: bool) -> Scenario:
    """Change settings of the repository, and return the scenario with them."""
    edited = repositories.edit(*scenario.caller(scenario.owner), RepositoryEdit(declared=declared))
    return dataclasses.replace(scenario, repository=edited)


def read(scenario: Scenario, sha: str, repository: Repository | None = None) -> Commit:
    """Read a commit."""
    return read_commit(scenario.app.copies.update((repository or scenario.repository).id), sha)


def commit_by(email: str, name: str = "Bea") -> Commit:
    """Return a commit by an author."""
    author = Signature(name, email, TIME)
    return Commit("0" * 40, "0" * 40, (), author, author, "")


@pytest.mark.parametrize(
    ("title", "message", "expected"),
    [
        ("t", "", "t\n"),
        ("t", " \r\n", "t\n"),
        ("t", "one\r\ntwo\n\n", "t\n\none\ntwo\n"),
    ],
)
def test_a_commit_message_has_a_title_and_a_body(title: str, message: str, expected: str) -> None:
    """The body has plain line ends and no empty lines around it, and there is none if it is empty."""
    assert pull_merges.commit_message(title, message) == expected


def squashed(scenario: Scenario, message: str, *commits: Commit) -> str:
    """Return the message of a squash of a pull request by Ada; the newest commit is the first."""
    commit(scenario, "fix", "f")
    order = MergeOrder(style="squash", title="t", message=message)
    return pull_merges.squash_message(open_pull(scenario), order, commits, ADA)


def test_each_further_author_has_one_trailer(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """Authors are told apart by their address, the first commit first, in one line, up to a maximum."""
    monkeypatch.setattr(pull_merges, "MOST_AUTHORS", 2)
    found = squashed(
        scenario,
        "",
        commit_by("dan@example.org", "Dan"),
        commit_by("CLEO@example.org", "Other"),
        commit_by("cleo@example.org", "Cleo  X"),
        commit_by("ADA@example.org"),
        commit_by("bea@example.org"),
    )
    assert found == "t\n\nCo-authored-by: Bea <bea@example.org>\nCo-authored-by: Cleo X <cleo@example.org>\n"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Text.", "t\n\nText.\n\nCo-authored-by: Bea <bea@example.org>\n"),
        (
            "Text.\n\nSigned-off-by: Ada <a@b>",
            "t\n\nText.\n\nSigned-off-by: Ada <a@b>\nCo-authored-by: Bea <bea@example.org>\n",
        ),
        ("Co-authored-by: Bea <bea@example.org>", "t\n\nCo-authored-by: Bea <bea@example.org>\n"),
    ],
)
def test_trailers_follow_those_of_the_message(scenario: Scenario, message: str, expected: str) -> None:
    """A trailer is separated from text by an empty line, not from other trailers, and is not repeated."""
    assert squashed(scenario, message, commit_by("bea@example.org")) == expected


def test_a_squash_has_the_default_title_and_no_trailers_of_its_author(scenario: Scenario) -> None:
    """The title is that of the pull request with its number."""
    commit(scenario, "fix", "f")
    found = pull_merges.squash_message(open_pull(scenario), MergeOrder(style="squash", title=" "), [], ADA)
    assert found == "Mend it (#1)\n"


@pytest.mark.parametrize(("name", "error"), [("", InvalidField), ("octopus", InvalidReference)])
def test_an_unknown_style_is_refused(name: str, error: type[Exception]) -> None:
    """A missing style is a missing field, and another name is a wrong reference."""
    with pytest.raises(error):
        pull_merges.style_of(name)
    assert pull_merges.style_of("rebase") is MergeStyle.REBASE


@pytest.mark.parametrize(("field", "length"), [("title", 1000), ("message", 65_536)])
def test_a_long_title_or_message_is_refused(scenario: Scenario, field: str, length: int) -> None:
    """A title and a message of the greatest length are accepted, and one character more is not."""
    commit(scenario, "fix", "f")
    issue = open_pull(scenario)
    long = msgspec.convert({"style": "merge", field: "x" * (length + 1)}, MergeOrder)
    with pytest.raises(InvalidField):
        pull_merges.merge(*scenario.caller(scenario.writer), issue, long)
    longest = msgspec.convert({"style": "merge", field: "x" * length}, MergeOrder)
    assert pull_merges.merge(*scenario.caller(scenario.writer), issue, longest)


def test_a_merge_is_tried_five_times(scenario: Scenario) -> None:
    """A merge whose base moved is tried again, and the fifth time its error is raised."""
    tries = []

    def move() -> bool:
        tries.append(1)
        raise RefMoved("moved")

    with pytest.raises(RefMoved):
        pull_merges.keep_trying(scenario.app, scenario.repository, move)
    assert len(tries) == 5
    assert pull_merges.keep_trying(scenario.app, scenario.repository, lambda: False) is False


def test_a_branch_without_new_commits_cannot_be_merged(scenario: Scenario) -> None:
    """Nothing is merged in any style once the base has the head, and the branch stays."""
    commit(scenario, "fix", "f")
    issue = open_pull(scenario)
    target = scenario.caller(scenario.writer)[2]
    repo = scenario.app.copies.update(scenario.repository.id)
    user, app = scenario.writer, scenario.app
    for style in (MergeStyle.FAST_FORWARD_ONLY, MergeStyle.REBASE):
        order = MergeOrder(style=str(style))
        attempt = pull_merges.MergeAttempt(
            app, Actor(user), target, user, issue, style, order, Draft(repo), issue.head_sha
        )
        with pytest.raises(NothingToMerge):
            pull_merges.make_tip(attempt)
    assert tip(scenario, "main") == issue.base_sha


def test_a_manual_merge_names_a_commit_of_the_base(scenario: Scenario) -> None:
    """A tree, a commit of another branch and something that is no id are refused."""
    fix = commit(scenario, "fix", "f")
    base = tip(scenario, "main")
    assert base is not None
    repo = scenario.app.copies.update(scenario.repository.id)
    for wrong, reason in (
        ("x", "must be a commit"),
        ("1" * 40, "must be a commit"),
        (read_commit(repo, base).tree, "must be a commit"),
        (fix, "is not in the base branch"),
    ):
        with pytest.raises(MergeRefused, match=reason):
            pull_merges.manual_commit(repo, base, wrong)
    assert pull_merges.manual_commit(repo, base, base) == base


@pytest.mark.parametrize("wanted", [True, False, None])
@pytest.mark.parametrize("default", [True, False])
def test_a_head_branch_is_deleted_as_asked_or_by_default(
    scenario: Scenario, *, wanted: bool | None, default: bool
) -> None:
    """The request decides; if it says nothing, the setting of the repository does."""
    scenario = edit(scenario, default_delete_branch_after_merge=default)
    commit(scenario, "fix", "f")
    assert merge(scenario, open_pull(scenario), delete_branch=wanted)
    assert (tip(scenario, "fix") is None) == (default if wanted is None else wanted)


def test_a_head_branch_that_is_needed_is_kept(scenario: Scenario) -> None:
    """A branch with another open pull request stays, and so does a protected one; a merge succeeds anyway."""
    commit(scenario, "fix", "f")
    commit(scenario, "release", "r")
    issue = open_pull(scenario)
    pulls.create(*scenario.caller(scenario.writer), IssueDraft(title="Too"), head="fix", base="release")
    assert merge(scenario, issue, delete_branch=True)
    assert tip(scenario, "fix") is not None
    commit(scenario, "safe", "s")
    protections.create_protection(scenario.app.database, scenario.repository, "safe", ProtectionRule())
    assert merge(scenario, open_pull(scenario, "safe"), delete_branch=True)
    assert tip(scenario, "safe") is not None


def test_the_default_branch_is_never_deleted(scenario: Scenario) -> None:
    """A pull request from main into another branch leaves main."""
    commit(scenario, "release", "r")
    commit(scenario, "main", "m")
    issue = pulls.create(*scenario.caller(scenario.owner), IssueDraft(title="Up"), head="main", base="release")
    assert merge(scenario, issue, delete_branch=True)
    assert tip(scenario, "main") == issue.head_sha


def test_a_head_branch_that_became_the_default_meanwhile_is_kept(scenario: Scenario) -> None:
    """The merge decides by the default branch as it is when it is recorded."""
    commit(scenario, "fix", "f")
    issue = open_pull(scenario)
    owner = scenario.caller(scenario.owner)
    repositories.edit(*owner, RepositoryEdit(default_branch="fix"))
    assert pull_merges.merge(*owner, issue, MergeOrder(style="merge", delete_branch=True))
    assert tip(scenario, "fix") == issue.head_sha


@pytest.fixture
def fork(scenario: Scenario) -> Repository:
    """Fork the repository as the reader, with a commit on a branch."""
    created_fork = forks.fork(*scenario.caller(scenario.reader))
    let_in(scenario.app.database, created_fork, scenario.owner, WRITE)
    commit(scenario, "fix", "f", repository=created_fork)
    return created_fork


def test_the_merge_of_a_fork_names_it(scenario: Scenario, fork: Repository) -> None:
    """The title of the commit has the name of the fork, whose branch is deleted by a user who may do so."""
    issue = open_pull(scenario, "eve:fix", scenario.reader)
    assert merge(scenario, issue, user=scenario.owner, delete_branch=True)
    new = tip(scenario, "main")
    assert new is not None
    expected = "Merge pull request 'Mend it' (#1) from eve/ship:fix into main\n"
    assert read(scenario, new).message == expected
    assert tip(scenario, "fix", fork) is None
    entries, _ = comments.entries_of(scenario.app.database, issue, plain=False, skip=0, limit=9)
    assert [entry.kind for entry in entries] == ["merge_pull", "delete_branch"]


def test_the_branch_of_a_fork_stays_for_a_user_who_may_not_write_there(
    scenario: Scenario, fork: Repository
) -> None:
    """A writer of the base merges a pull request, and the branch of the fork is left alone."""
    issue = open_pull(scenario, "eve:fix", scenario.reader)
    assert merge(scenario, issue, delete_branch=True)
    assert tip(scenario, "fix", fork) == issue.head_sha


def test_the_branch_of_a_fork_stays_while_another_pull_request_needs_it(
    scenario: Scenario, fork: Repository
) -> None:
    """Its deletion would close the other pull request."""
    commit(scenario, "release", "r")
    issue = open_pull(scenario, "eve:fix", scenario.reader)
    draft = IssueDraft(title="Too")
    other = pulls.create(*scenario.caller(scenario.reader), draft, head="eve:fix", base="release")
    assert merge(scenario, issue, user=scenario.owner, delete_branch=True)
    assert tip(scenario, "fix", fork) == issue.head_sha
    assert not find_issue(scenario.app.database, scenario.repository, other.number).is_closed


def test_the_default_branch_of_a_fork_is_never_deleted(scenario: Scenario, fork: Repository) -> None:
    """A pull request from the default branch of a fork leaves it, also if its owner merges."""
    commit(scenario, "main", "g", repository=fork)
    issue = open_pull(scenario, "eve:main", scenario.reader)
    assert merge(scenario, issue, user=scenario.owner, delete_branch=True)
    assert tip(scenario, "main", fork) == issue.head_sha


def test_the_head_branch_of_a_fork_is_updated(scenario: Scenario, fork: Repository) -> None:
    """The commit of the base is merged into the branch of the fork, and the pull request follows at once."""
    base = commit(scenario, "main", "m")
    issue = open_pull(scenario, "eve:fix", scenario.reader)
    scenario.app.pushed.clear()
    update(scenario, issue, user=scenario.reader)
    head = tip(scenario, "fix", fork)
    assert head is not None
    updated = read(scenario, head, fork)
    assert updated.parents == (issue.head_sha, base)
    assert updated.message == "Merge branch 'main' into fix\n"
    assert find_issue(scenario.app.database, scenario.repository, 1).head_sha == head
    assert fork.id in scenario.app.pushed
    assert read(scenario, base, fork).message == "add m\n"


def test_an_update_of_a_fork_requires_read_access_to_the_code_of_the_base(
    scenario: Scenario, fork: Repository
) -> None:
    """The owner of a fork who may read pull requests only gets no new commits of the base by an update."""
    issue = open_pull(scenario, "eve:fix", scenario.reader)
    commit(scenario, "main", "m")
    app, actor, target = scenario.caller(scenario.reader)
    units = {**target.permissions.units, Unit.CODE: Mode.NONE}
    without_code = msgspec.structs.replace(
        target, permissions=msgspec.structs.replace(target.permissions, units=units)
    )
    with pytest.raises(Forbidden):
        pull_merges.update_head(app, actor, without_code, issue, "merge")
    assert tip(scenario, "fix", fork) == issue.head_sha


@pytest.mark.parametrize("style", ["merge", "rebase"])
def test_an_update_of_a_head_branch_can_be_repeated(scenario: Scenario, style: str) -> None:
    """A rebase moves the commit onto the base, a merge joins both, and a second update changes nothing."""
    commit(scenario, "fix", "f")
    issue = open_pull(scenario)
    base = commit(scenario, "main", "m")
    update(scenario, issue, style)
    head = tip(scenario, "fix")
    assert head is not None
    assert read(scenario, head).parents == ((base,) if style == "rebase" else (issue.head_sha, base))
    update(scenario, issue, style)
    assert tip(scenario, "fix") == head


def test_an_update_that_is_not_allowed_is_refused(scenario: Scenario) -> None:
    """Settings, permissions, a closed pull request and protection refuse it, and the branch stays."""
    fix = commit(scenario, "fix", "f")
    issue = open_pull(scenario)
    commit(scenario, "main", "m")
    with pytest.raises(InvalidReference):
        update(scenario, issue, "other")
    with pytest.raises(Forbidden):
        update(scenario, issue, user=scenario.reader)
    for style, setting in (("rebase", "allow_rebase_update"), ("merge", "allow_merge_update")):
        with pytest.raises(Forbidden):
            update(edit(scenario, **{setting: False}), issue, style)
    protections.create_protection(
        scenario.app.database, scenario.repository, "fix", ProtectionRule(enable_push=False)
    )
    with pytest.raises(PushRefused, match="fix"):
        update(scenario, issue)
    pulls.edit(*scenario.caller(scenario.owner), issue, IssueEdit(state="closed"))
    with pytest.raises(Outdated, match="is closed"):
        update(scenario, issue)
    assert tip(scenario, "fix") == fix


def test_a_branch_that_was_deleted_is_named(scenario: Scenario) -> None:
    """The error has the id of the repository and the name of the branch."""
    with pytest.raises(NoSuchRef, match=rf"repo_id: {scenario.repository.id} name: gone\]"):
        pull_merges.branch_tip(scenario.app, scenario.repository, "gone")


def test_the_head_of_a_deleted_fork_is_nowhere(scenario: Scenario) -> None:
    """An update of a pull request whose fork was deleted is refused."""
    commit(scenario, "fix", "f")
    issue = open_pull(scenario)
    app, actor, target = scenario.caller(scenario.writer)
    assert pull_merges.head_access(app, actor, target, issue) == target
    with pytest.raises(InvalidReference, match="was deleted"):
        pull_merges.head_access(app, actor, target, dataclasses.replace(issue, head_repository_id=None))


def test_the_commits_a_merge_brings_are_listed_if_they_are_linear(scenario: Scenario) -> None:
    """They are the oldest first and with the merge commit; a history that is not linear or too long has none."""
    start = tip(scenario, "main")
    assert start is not None
    first = commit(scenario, "fix", "f1")
    second = commit(scenario, "fix", "f2")
    issue = open_pull(scenario)
    base = commit(scenario, "main", "m")
    update(scenario, issue)
    joined = tip(scenario, "fix")
    commit(scenario, "main", "n")
    assert merge(scenario, issue)
    merged = tip(scenario, "main")
    assert joined is not None
    assert merged is not None
    repo = scenario.app.copies.update(scenario.repository.id)

    def brought(old: str, new: str) -> list[str] | None:
        commits = pull_merges.brought_commits(Draft(repo), old, new)
        return None if commits is None else [each.id for each in commits]

    assert brought(start, second) == [first, second]
    assert brought(second, second) == []
    assert brought(start, base) == [base]
    assert brought(second, joined) == [base, joined]
    assert brought(second, start) is None
    assert brought(base, merged) is None
    assert [each.id for each in pull_merges.commits_between(repo, start, second)] == [second, first]
    assert {each.id for each in pull_merges.commits_between(repo, start, joined)} == {first, second, base, joined}


def test_a_fast_forward_moves_the_base_to_the_head(scenario: Scenario) -> None:
    """No commit is made, and one is refused while the base has commits that the head lacks."""
    head = commit(scenario, "fix", "f")
    commit(scenario, "other", "o")
    issue, other = open_pull(scenario), open_pull(scenario, "other")
    scenario.app.pushed.clear()
    assert merge(scenario, issue, "fast-forward-only")
    assert tip(scenario, "main") == head
    assert scenario.repository.id in scenario.app.pushed
    with pytest.raises(MergeRefused, match="cannot be fast-forwarded"):
        merge(scenario, other, "fast-forward-only")


def test_pull_requests_into_a_deleted_branch_get_its_base(scenario: Scenario) -> None:
    """A pull request into the head branch of another is one into main once that branch is merged and deleted."""
    commit(scenario, "fix", "f")
    issue = open_pull(scenario)
    commit(scenario, "more", "g")
    next_one = pulls.create(*scenario.caller(scenario.writer), IssueDraft(title="More"), head="more", base="fix")
    assert merge(scenario, issue, delete_branch=True)
    now = find_issue(scenario.app.database, scenario.repository, next_one.number)
    assert (now.base_branch, now.is_closed) == ("main", False)


def test_nothing_is_merged_in_an_archive(scenario: Scenario) -> None:
    """A merge, an update and a cancelled schedule need a repository that is not archived."""
    commit(scenario, "fix", "f")
    issue = open_pull(scenario)
    app, actor, target = scenario.caller(scenario.writer, scenario.archived())
    with pytest.raises(RepositoryArchived):
        pull_merges.merge(app, actor, target, issue, MergeOrder(style="merge"))
    with pytest.raises(RepositoryArchived):
        pull_merges.update_head(app, actor, target, issue, "merge")
    with pytest.raises(RepositoryArchived):
        pull_merges.cancel_scheduled(app, actor, target, issue)


def schedule(scenario: Scenario, *, title: str = "", delete_branch: bool | None = None) -> Issue:
    """Schedule the merge of a pull request as the writer, for when a status of its head succeeds."""
    rule = ProtectionRule(enable_status_check=True, status_check_contexts=("ci",))
    protections.create_protection(scenario.app.database, scenario.repository, "main", rule)
    commit(scenario, "fix", "f")
    issue = open_pull(scenario)
    assert not merge(scenario, issue, when_checks_succeed=True, title=title, delete_branch=delete_branch)
    return issue


@pytest.fixture
def scheduled(scenario: Scenario) -> Issue:
    """Schedule the merge of a pull request with a title."""
    return schedule(scenario, title="later")


def succeed(scenario: Scenario, issue: Issue) -> None:
    """Record a status of the head of a pull request without merging it."""
    with scenario.app.database.write() as connection:
        commit_statuses.add_status(
            connection, scenario.repository, scenario.owner, issue.head_sha, context="ci", state="success"
        )


def test_a_scheduled_merge_happens_once_its_checks_succeed(scenario: Scenario, scheduled: Issue) -> None:
    """Nothing happens before, for another commit or in another repository; the number of merges is returned."""
    app, number = scenario.app, scenario.repository.id
    assert (pull_merges.try_scheduled(app, number, scheduled.head_sha), pull_merges.retry_scheduled(app)) == (0, 0)
    succeed(scenario, scheduled)
    assert pull_merges.try_scheduled(app, number, scheduled.base_sha) == 0
    assert pull_merges.try_scheduled(app, number + 1, scheduled.head_sha) == 0
    assert pull_merges.try_scheduled(app, number, scheduled.head_sha) == 1
    assert pull_merges.try_scheduled(app, number, scheduled.head_sha) == 0
    new = tip(scenario, "main")
    assert new is not None
    assert read(scenario, new).message == "later\n"


def test_a_scheduled_merge_of_something_deleted_does_nothing(scenario: Scenario, scheduled: Issue) -> None:
    """A repository, a user or a pull request that is gone is no error."""
    succeed(scenario, scheduled)
    app, number = scenario.app, scenario.repository.id
    waiting = pull_store.find_scheduled_merge(app.database, scheduled)
    assert waiting is not None
    assert pull_merges.merge_scheduled(app, number + 99, waiting) is False
    assert pull_merges.merge_scheduled(app, number, dataclasses.replace(waiting, user_id=999)) is False
    assert pull_merges.merge_scheduled(app, number, dataclasses.replace(waiting, issue_id=999)) is False
    assert pull_merges.merge_scheduled(app, number, dataclasses.replace(waiting, head_sha="1" * 40)) is False
    assert pull_merges.retry_scheduled(app) == 1
    assert pull_merges.is_merged(find_issue(app.database, scenario.repository, scheduled.number))


@pytest.mark.parametrize(("wanted", "default"), [(True, False), (False, True), (None, True)])
def test_a_scheduled_merge_deletes_the_head_branch_as_asked_or_by_default(
    scenario: Scenario, *, wanted: bool | None, default: bool
) -> None:
    """It does what a merge at the time of the schedule would have done."""
    scenario = edit(scenario, default_delete_branch_after_merge=default)
    issue = schedule(scenario, delete_branch=wanted)
    succeed(scenario, issue)
    assert pull_merges.retry_scheduled(scenario.app) == 1
    assert (tip(scenario, "fix") is None) == (default if wanted is None else wanted)


def test_a_scheduled_merge_is_cancelled_by_another_base_branch(scenario: Scenario, scheduled: Issue) -> None:
    """Another writer cannot direct a merge that somebody scheduled to a branch that this user did not choose."""
    app = scenario.app
    branches.create(*scenario.caller(scenario.owner), "stable", "main")
    before = tip(scenario, "stable")
    (other,) = make_people(app.database, "fay")
    let_in(app.database, scenario.repository, other, WRITE)
    pulls.edit(*scenario.caller(other), scheduled, IssueEdit(base_branch="main"))
    waiting = pull_store.find_scheduled_merge(app.database, scheduled)
    assert waiting is not None
    pulls.edit(*scenario.caller(other), scheduled, IssueEdit(base_branch="stable"))
    assert pull_store.find_scheduled_merge(app.database, scheduled) is None
    succeed(scenario, scheduled)
    assert pull_merges.retry_scheduled(app) == 0
    assert not pull_merges.merge_scheduled(app, scenario.repository.id, waiting)
    assert tip(scenario, "stable") == before


def test_a_merge_into_another_branch_than_the_one_shown_is_refused(scenario: Scenario) -> None:
    """The base branch may be changed by another writer after a page was opened."""
    commit(scenario, "fix", "f")
    issue = open_pull(scenario)
    writer = scenario.caller(scenario.writer)
    with pytest.raises(Outdated):
        pull_merges.merge(*writer, issue, MergeOrder(style="merge", base_branch="stable"))
    assert pull_merges.merge(*writer, issue, MergeOrder(style="merge", base_branch="main"))


@pytest.mark.parametrize(("is_active", "may_not_log_in"), [(False, False), (True, True)])
def test_a_scheduled_merge_waits_while_its_user_may_not_log_in(
    scenario: Scenario, scheduled: Issue, *, is_active: bool, may_not_log_in: bool
) -> None:
    """A deactivated user can neither merge nor have something merged; once activated they can."""
    succeed(scenario, scheduled)
    app = scenario.app
    change = account_administration.change_user
    user = change(app.database, scenario.writer, is_active=is_active, may_not_log_in=may_not_log_in)
    assert pull_merges.retry_scheduled(app) == 0
    change(app.database, user, is_active=True, may_not_log_in=False)
    assert pull_merges.retry_scheduled(app) == 1


@pytest.mark.parametrize("name", ["writer", "owner"])
def test_a_schedule_is_cancelled_by_its_user_or_an_administrator(
    scenario: Scenario, scheduled: Issue, name: str
) -> None:
    """Another writer may not cancel it, and what is not scheduled cannot be cancelled."""
    (other,) = make_people(scenario.app.database, "fay")
    let_in(scenario.app.database, scenario.repository, other, WRITE)
    with pytest.raises(Forbidden):
        pull_merges.cancel_scheduled(*scenario.caller(other), scheduled)
    caller = scenario.caller(getattr(scenario, name))
    pull_merges.cancel_scheduled(*caller, scheduled)
    with pytest.raises(NoSuchScheduledMerge):
        pull_merges.cancel_scheduled(*caller, scheduled)
