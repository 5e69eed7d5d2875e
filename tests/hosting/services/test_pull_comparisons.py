"""Comparisons of pull requests in the background: results, what is compared again, and the time limit."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from sqlalchemy import update

from holdfast.hosting.app import App
from holdfast.hosting.services import forks, pull_comparisons, pulls, repositories
from holdfast.hosting.services.file_changes import FileChange
from holdfast.hosting.services.file_commits import commit_files
from holdfast.hosting.services.issues import IssueDraft
from holdfast.hosting.services.pull_comparisons import compare, compare_all, compare_missed, compare_outdated
from holdfast.hosting.services.repositories import initial_commit
from holdfast.hosting.store import repository_log
from holdfast.hosting.store.issues import Issue, find_issue
from holdfast.hosting.store.pulls import CLEAN, CONFLICT, FAILED, Pull, find_pull
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.reviews import reviews_of
from holdfast.hosting.store.tables import issues as issue_table
from holdfast.hosting.store.tables import pull_requests
from tests.hosting.repository_helpers import add_commit, make_repository
from tests.hosting.services.commit_helpers import AUTHOR, commit_request, file_change
from tests.hosting.services.scenario import Scenario, make_scenario

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def scenario(app: App) -> Scenario:
    """Create the users, and a repository with the branches main, fix and other."""
    created_scenario = make_scenario(app)
    add_commit(app.database, created_scenario.repository, "main", "fix", "other")
    return created_scenario


def write(scenario: Scenario, branch: str, *changes: FileChange) -> str:
    """Commit files to a branch."""
    request = commit_request(scenario.app, scenario.repository, *changes, branch=branch)
    return commit_files(scenario.app, request).commit.id


def open_pull(scenario: Scenario, head: str = "fix") -> Issue:
    """Open a pull request to main."""
    draft = IssueDraft(title="Stop the leak")
    return pulls.create(*scenario.caller(scenario.writer), draft, head=head, base="main")


def compared(scenario: Scenario, issue: Issue) -> Pull:
    """Return a pull request with the comparison that is stored."""
    return find_pull(scenario.app.database, issue)


def counts(pull: Pull) -> tuple[int, int, int]:
    """Return the statistics of a pull request."""
    return pull.additions, pull.deletions, pull.changed_files


def asked(scenario: Scenario, issue: Issue) -> list[int | None]:
    """Return the users whose review is requested."""
    reviews, _ = reviews_of(scenario.app.database, issue, None, skip=0, limit=10)
    return [review.reviewer_id for review in reviews if review.is_request]


def test_a_new_pull_request_has_its_merge_base_and_the_numbers_of_changed_lines(scenario: Scenario) -> None:
    """Commits of the base branch since then are not counted."""
    start = write(scenario, "main", file_change("hull", b"oak\npine\n"))
    commit_files(
        scenario.app,
        commit_request(
            scenario.app, scenario.repository, file_change("hull", b"oak\nash\nelm\n"), new_branch="leak"
        ),
    )
    write(scenario, "main", file_change("mast", b"fir\n"))
    pull = compared(scenario, open_pull(scenario, "leak"))
    assert (pull.merge_base, pull.mergeability, pull.conflicts) == (start, CLEAN, [])
    assert counts(pull) == (2, 1, 1)


def test_a_conflict_that_a_push_to_the_base_makes_is_found(scenario: Scenario) -> None:
    """The statistics stay, as they are those of the head."""
    write(scenario, "fix", file_change("hull", b"oak\n"))
    issue = open_pull(scenario)
    before = compared(scenario, issue)
    base = write(scenario, "main", file_change("hull", b"ash\n"))
    assert compare_outdated(scenario.app, scenario.repository.id) == 1
    pull = compared(scenario, issue)
    assert (pull.mergeability, pull.conflicts, pull.checked_base) == (CONFLICT, ["hull"], base)
    assert counts(pull) == counts(before) == (1, 0, 1)
    assert pull.merge_base == before.merge_base
    assert compare_outdated(scenario.app, scenario.repository.id) == 0


def test_statistics_are_counted_again_if_the_head_moved_or_the_last_comparison_failed(scenario: Scenario) -> None:
    """Otherwise those that are stored are used: counting changed lines takes longest."""
    tip = write(scenario, "fix", file_change("hull", b"oak\n"))
    issue = open_pull(scenario)
    repo = scenario.app.copies.update(scenario.repository.id)
    stored = replace(compared(scenario, issue), additions=70, deletions=80, changed_files=90)
    base = stored.base_tip or ""

    def count(pull: Pull | None, head: str = tip) -> tuple[int, int, int]:
        comparison = compare(repo, base, head, pull)
        return comparison.additions, comparison.deletions, comparison.changed_files

    assert count(stored) == (70, 80, 90)
    assert count(None) == count(replace(stored, mergeability=FAILED)) == (1, 0, 1)
    assert count(replace(stored, merge_base=tip)) == count(replace(stored, checked_head=base)) == (1, 0, 1)


def test_branches_without_a_common_ancestor_are_compared_as_they_are(scenario: Scenario) -> None:
    """Then the base is where the changes begin."""
    commit, pack = initial_commit({"a": b"b\n"}, AUTHOR)
    new = RefUpdate("refs/heads/orphan", "0" * 40, commit)
    with scenario.app.database.write() as connection:
        repository_log.append(connection, scenario.repository.id, [(None, new)], [pack])
    repo = scenario.app.copies.update(scenario.repository.id)
    base = repository_log.find_ref(scenario.app.database, scenario.repository.id, "refs/heads/main") or ""
    comparison = compare(repo, base, commit)
    assert (comparison.merge_base, comparison.changed_files) == (base, 1)
    assert (comparison.head, comparison.base) == (commit, base)


def test_a_comparison_with_a_missing_commit_fails_and_is_not_repeated(scenario: Scenario) -> None:
    """It is stored under the commits that were compared, until one of the branches moves."""
    issue = open_pull(scenario)
    missing = "7" * 40
    with scenario.app.database.write() as connection:
        connection.execute(update(issue_table).where(issue_table.c.id == issue.id).values(head_sha=missing))
    assert compare_outdated(scenario.app, scenario.repository.id) == 1
    pull = compared(scenario, issue)
    assert (pull.mergeability, pull.checked_head, pull.merge_base) == (FAILED, missing, pull.base_tip)
    assert compare_outdated(scenario.app, scenario.repository.id) == 0


def test_a_repository_whose_comparisons_take_too_long_is_continued_in_the_next_run(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was compared until then is stored, and the other repositories have their turn."""
    app, number = scenario.app, scenario.repository.id
    add_commit(app.database, scenario.repository, "third")
    for head in ("fix", "other", "third"):
        open_pull(scenario, head)
    write(scenario, "main", file_change("hull", b"oak\n"))
    app.moved.clear()
    clock = iter(range(0, 1000, 20))
    with monkeypatch.context() as patch:
        patch.setattr(pull_comparisons, "time", SimpleNamespace(monotonic=lambda: next(clock)))
        assert compare_outdated(app, number) == 2
    assert app.moved == {number}
    assert compare_outdated(app, number) == 1
    assert compare_outdated(app, number) == 0


def test_code_owners_are_asked_when_the_head_moves(scenario: Scenario) -> None:
    """A push to the base does not ask them, nor does the first comparison: opening the pull request does."""
    app, number = scenario.app, scenario.repository.id
    issue = open_pull(scenario)
    write(scenario, "main", file_change("CODEOWNERS", b".* @ada\n"))
    compare_outdated(app, number)
    assert asked(scenario, issue) == []
    with app.database.write() as connection:
        connection.execute(update(pull_requests).values(checked_head=""))
    compare_outdated(app, number)
    assert asked(scenario, issue) == []
    write(scenario, "fix", file_change("hull", b"oak\n"))
    compare_outdated(app, number)
    assert asked(scenario, issue) == [scenario.owner.id]


def test_a_pull_request_without_an_author_is_compared_as_well(scenario: Scenario) -> None:
    """Its author's account was deleted: nobody is asked then."""
    write(scenario, "main", file_change("CODEOWNERS", b".* @ada\n"))
    issue = open_pull(scenario)
    with scenario.app.database.write() as connection:
        connection.execute(update(issue_table).where(issue_table.c.id == issue.id).values(author_id=None))
    tip = write(scenario, "fix", file_change("hull", b"oak\n"))
    assert compare_outdated(scenario.app, scenario.repository.id) == 1
    assert compared(scenario, issue).checked_head == tip
    assert asked(scenario, issue) == []


def test_a_deleted_repository_does_not_keep_others_from_being_compared(scenario: Scenario) -> None:
    """Every repository that was written to is compared once."""
    app = scenario.app
    gone = make_repository(app.database, scenario.owner, "gone")
    app.moved.update({gone.id, 10**6})
    repositories.remove(app, gone, scenario.owner)
    issue = open_pull(scenario)
    base = write(scenario, "main", file_change("hull", b"oak\n"))
    compare_all(app)
    assert (compared(scenario, issue).checked_base, app.moved) == (base, set())


def test_what_a_process_that_died_left_is_compared(scenario: Scenario) -> None:
    """The database tells which branches moved, also those of forks, when no process remembers it."""
    app = scenario.app
    issue = open_pull(scenario)
    forked = forks.fork(*scenario.caller(scenario.reader))
    draft = IssueDraft(title="Caulk it")
    second = pulls.create(*scenario.caller(scenario.reader), draft, head="eve:fix", base="main")
    change = file_change("sail", b"cloth\n")
    tip = commit_files(app, commit_request(app, forked, change, branch="fix")).commit.id
    base = write(scenario, "main", file_change("hull", b"oak\n"))
    app.moved.clear()
    compare_missed(app)
    assert compared(scenario, issue).checked_base == compared(scenario, second).checked_base == base
    assert compared(scenario, second).checked_head == tip
    assert find_issue(app.database, scenario.repository, second.number).head_sha == tip
    assert app.moved == set()
