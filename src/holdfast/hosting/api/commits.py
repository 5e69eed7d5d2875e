"""Commits: the history of a branch or a file, one commit, and the difference between two."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from holdfast.hosting.access import Unit
from holdfast.hosting.api.opening import commit_named, git_of
from holdfast.hosting.git import changes as differences
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.commits import Commit as GitCommit
from holdfast.hosting.git.commits import find_commit
from holdfast.hosting.git.compare import compare
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.guards import Place, in_repository, reads
from holdfast.hosting.http.context import Call
from holdfast.hosting.http.endpoints import Raw, endpoint
from holdfast.hosting.http.errors import Refusal
from holdfast.hosting.http.pagination import Listed, Page
from holdfast.hosting.http.times import read_time
from holdfast.hosting.schemas.git import AffectedFile, Commit, commit_shape, people_of

__all__ = ["compare_commits", "list_commits", "show_commit", "show_git_commit"]

READING: Final = (in_repository, reads(Unit.CODE))
MOST_COMPARED: Final = 250
# Of a commit and of a comparison so many files are named; of each commit in a list, and of all of them, so many.
MOST_FILES: Final = 3000
MOST_FILES_EACH: Final = 300
MOST_FILES_LISTED: Final = 10_000


class CommitsQuery(msgspec.Struct, frozen=True):
    """Which commits: from where, of which file, between which times, and how much about each."""

    sha: str = ""
    path: Annotated[str, Meta(max_length=4096)] = ""
    since: str = ""
    until: str = ""
    stat: bool = True
    verification: bool = True
    files: bool = True
    not_: str = msgspec.field(default="", name="not")


class CommitQuery(msgspec.Struct, frozen=True):
    """How much to tell about a commit."""

    stat: bool = True
    verification: bool = True
    files: bool = True


class Compare(msgspec.Struct, frozen=True):
    """What one commit has that the other has not."""

    total_commits: int
    commits: list[Commit]
    files: list[AffectedFile]


def whole(call: Call, place: Place, repo: Repo, commit: GitCommit, *, files: bool, stat: bool) -> Commit:
    """Make the shape of one commit."""
    return commit_shape(
        call,
        place.repository,
        commit,
        people_of(call, [commit]),
        changes=differences.changed_files(repo, commit, most=MOST_FILES) if files else None,
        stats=differences.stats(repo, commit) if stat else None,
    )


def several(
    call: Call, place: Place, repo: Repo, commits: list[GitCommit], *, files: bool, stat: bool
) -> list[Commit]:
    """Make the shapes of some commits; of each only the first files are named, and of all together only so many.

    Where there is no room for the files of a commit any more, they are left out, which is not the same as none.
    """
    people = people_of(call, commits)
    stats = differences.stats_of(repo, commits) if stat else {}
    room = MOST_FILES_LISTED
    made = []
    for commit in commits:
        changes = None
        if files and room:
            changes = differences.changed_files(repo, commit, most=min(MOST_FILES_EACH, room))
            room -= len(changes.files)
        made.append(
            commit_shape(call, place.repository, commit, people, changes=changes, stats=stats.get(commit.id))
        )
    return made


@endpoint("GET /repos/{owner}/{repo}/commits", scope="repository", guards=READING, refuses=(409,), slow=True)
def list_commits(call: Call, place: Place, query: CommitsQuery, page: Page) -> Listed[Commit]:
    """List the commits that lead to a branch, a tag or a commit, newest first."""
    if place.repository.is_empty:
        raise Refusal(409, "Git Repository is empty.")
    repo = git_of(call, place)
    start = commit_named(repo, place, query.sha)
    exclude = [commit_named(repo, place, query.not_)] if query.not_ else []
    since = read_time(query.since, "Since") if query.since else None
    until = read_time(query.until, "Until") if query.until else None
    wanted = history.span(repo, start, path=query.path, since=since, until=until, exclude=exclude)
    total = history.count(repo, wanted)
    if query.path and not total:
        raise Refusal(404, f"object does not exist [id: {start}, rel_path: {query.path}]")
    found = history.commits(repo, wanted, skip=page.skip, limit=page.size)
    shapes = several(call, place, repo, found, files=query.files, stat=query.stat)
    pages = -(-total // page.size)
    call.answer_headers |= {
        "X-Page": str(page.number),
        "X-PerPage": str(page.size),
        "X-Total": str(total),
        "X-PageCount": str(pages),
        "X-HasMore": "true" if page.number < pages else "false",
    }
    return Listed(shapes, total)


def found_commit(call: Call, place: Place, name: str) -> tuple[Repo, GitCommit]:
    """Find a commit by its id, or by a branch or tag that leads to it."""
    repo = git_of(call, place)
    at = commit_named(repo, place, name)
    commit = find_commit(repo, at)
    if commit is None:
        raise Refusal(404)
    return repo, commit


@endpoint(
    "GET /repos/{owner}/{repo}/git/commits/{sha}",
    scope="repository",
    guards=READING,
    slow=True,
)
def show_git_commit(call: Call, place: Place, sha: str, query: CommitQuery) -> Commit | Raw:
    """Show a commit; with `.diff` or `.patch` after its id, what it changed as text."""
    for suffix in (".diff", ".patch"):
        if sha.endswith(suffix):
            return text_of(call, place, sha.removesuffix(suffix), suffix)
    repo, commit = found_commit(call, place, sha)
    return whole(call, place, repo, commit, files=query.files, stat=query.stat)


def text_of(call: Call, place: Place, name: str, suffix: str) -> Raw:
    """Write what a commit changed as text."""
    repo, commit = found_commit(call, place, name)
    if suffix == ".patch":
        return Raw(differences.patch_text(repo, commit), "text/plain;charset=utf-8")
    before = differences.parent_tree(repo, commit)
    return Raw(differences.diff_text(repo, before, commit.tree), "text/plain;charset=utf-8")


@endpoint("GET /repos/{owner}/{repo}/commits/{sha}", scope="repository", guards=READING, slow=True)
def show_commit(call: Call, place: Place, sha: str, query: CommitQuery) -> Commit:
    """Show a commit at the address some clients look for it."""
    repo, commit = found_commit(call, place, sha)
    return whole(call, place, repo, commit, files=query.files, stat=query.stat)


@endpoint("GET /repos/{owner}/{repo}/compare/{basehead...}", scope="repository", guards=READING, slow=True)
def compare_commits(call: Call, place: Place, basehead: str) -> Compare:
    """Compare two commits: `base...head` since they parted, `base..head` as they are."""
    dots: Literal["...", ".."] = "..." if "..." in basehead else ".."
    base, found, head = basehead.partition(dots)
    if not found:
        base, head = place.repository.default_branch, basehead
    repo = git_of(call, place)
    ends = []
    for name in (base, head):
        named = refs.resolve(repo, name, place.repository.default_branch)
        ends.append(commit_named(repo, place, name) if named is None else named.commit)
    result = compare(
        repo, ends[0], ends[1], from_merge_base=dots == "...", limit=MOST_COMPARED, most_files=MOST_FILES
    )
    return Compare(
        total_commits=result.ahead,
        commits=several(call, place, repo, result.commits, files=True, stat=True),
        files=[AffectedFile(change.path, change.status) for change in result.changes.files],
    )
