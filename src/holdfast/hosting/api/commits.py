"""Commits: the history of a branch or a file, one commit, and the difference between two."""

from typing import Annotated, Final, Literal, cast

import msgspec
from msgspec import Meta

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.file_responses.byte_cache import KeptBytes
from holdfast.hosting.git import changes as differences
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.changes import DiffStats
from holdfast.hosting.git.commits import Commit, find_commit
from holdfast.hosting.git.compare import compare
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.decoders import decode_time
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.git import AffectedFile, CommitSchema, commit_shape, people_of, repository_api
from holdfast.hosting.schemas.users import user
from holdfast.hosting.services.revisions import open_git, resolve_commit

__all__ = [
    "READING",
    "compare_commits",
    "encode_commit",
    "found_commit",
    "list_commits",
    "show_commit",
    "show_git_commit",
]

READING: Final = (in_repository, reads(Unit.CODE))
MOST_COMPARED: Final = 250
# Maximum numbers of files: of a commit or comparison, per commit of a list, and per list.
MOST_FILES: Final = 3000
MOST_FILES_EACH: Final = 300
MOST_FILES_LISTED: Final = 10_000
KEPT_BYTES: Final = 32 * 2**20

encoded_commits = KeptBytes(KEPT_BYTES)
encoder = msgspec.json.Encoder()


class CommitsQuery(msgspec.Struct, frozen=True):
    """Filters of a list of commits, and the fields to include."""

    sha: str = ""
    path: Annotated[str, Meta(max_length=4096)] = ""
    since: str = ""
    until: str = ""
    stat: bool = True
    verification: bool = True
    files: bool = True
    not_: str = msgspec.field(default="", name="not")


class CommitQuery(msgspec.Struct, frozen=True):
    """Which fields of a commit to include."""

    stat: bool = True
    verification: bool = True
    files: bool = True


class Compare(msgspec.Struct, frozen=True):
    """The commits and files by which two commits differ."""

    total_commits: int
    commits: list[CommitSchema]
    files: list[AffectedFile]


def encode_commit(
    request: RequestContext, target: RepositoryAccess, repo: Repo, commit: Commit, *, files: bool, stat: bool
) -> CommitSchema:
    """Encode one commit."""
    return commit_shape(
        request,
        target.repository,
        commit,
        people_of(request, [commit]),
        changes=differences.changed_files(repo, commit, most=MOST_FILES) if files else None,
        stats=differences.stats(repo, commit) if stat else None,
    )


def several(
    request: RequestContext,
    target: RepositoryAccess,
    repo: Repo,
    commits: list[Commit],
    *,
    files: bool,
    stat: bool,
) -> list[CommitSchema]:
    """Encode several commits; the number of files is limited per commit and in total.

    Beyond the limit the key is left out, which differs from an empty list. Commits are immutable, so their JSON is
    cached, prefixed with the number of files.
    """
    people = people_of(request, commits)
    shown = {email: user(request, account) for email, account in people.items()}
    place = (repo.folder, repository_api(request, target.repository), stat)
    stats: dict[str, DiffStats] | None = None if stat else {}
    remaining = MOST_FILES_LISTED
    encoded: list[msgspec.Raw] = []
    for commit in commits:
        most = min(MOST_FILES_EACH, remaining) if files else 0
        # The account fields are not cached: they depend on the viewer and on the current profiles.
        key = (*place, commit.id, most, shown.get(commit.author.email), shown.get(commit.committer.email))
        cached = encoded_commits.get(key)
        if cached is None:
            if stats is None:
                stats = differences.stats_of(repo, commits)
            changes = differences.changed_files(repo, commit, most=most) if most else None
            schema = commit_shape(
                request, target.repository, commit, people, changes=changes, stats=stats.get(commit.id)
            )
            cached = b"%d\n%s" % (0 if changes is None else len(changes.files), encoder.encode(schema))
            encoded_commits.put(key, cached)
        counted, _, content = cached.partition(b"\n")
        remaining -= int(counted)
        encoded.append(msgspec.Raw(content))
    return cast("list[CommitSchema]", encoded)


@endpoint(
    "GET /repos/{owner}/{repo}/commits",
    scope="repository",
    guards=READING,
    refuses=(409,),
    slow=True,
    cacheable=True,
)
def list_commits(
    request: RequestContext, target: RepositoryAccess, query: CommitsQuery, page: PageParams
) -> PagedList[CommitSchema]:
    """List the commits of a branch, a tag or a commit, newest first."""
    if target.repository.is_empty:
        raise ApiError(409, "Git Repository is empty.")
    repo = open_git(request.app, target)
    start = resolve_commit(repo, target, query.sha)
    exclude = [resolve_commit(repo, target, query.not_)] if query.not_ else []
    since = decode_time(query.since, "Since") if query.since else None
    until = decode_time(query.until, "Until") if query.until else None
    span = history.commit_range(repo, start, path=query.path, since=since, until=until, exclude=exclude)
    total = history.count(repo, span)
    if query.path and not total:
        raise ApiError(404, f"object does not exist [id: {start}, rel_path: {query.path}]")
    commits = history.commits(repo, span, skip=page.skip, limit=page.size)
    schemas = several(request, target, repo, commits, files=query.files, stat=query.stat)
    pages = -(-total // page.size)
    request.response_headers |= {
        "X-Page": str(page.number),
        "X-PerPage": str(page.size),
        "X-Total": str(total),
        "X-PageCount": str(pages),
        "X-HasMore": "true" if page.number < pages else "false",
    }
    return PagedList(schemas, total)


def found_commit(request: RequestContext, target: RepositoryAccess, name: str) -> tuple[Repo, Commit]:
    """Find a commit by id, branch or tag."""
    repo = open_git(request.app, target)
    at = resolve_commit(repo, target, name)
    commit = find_commit(repo, at)
    if commit is None:
        raise ApiError(404)
    return repo, commit


@endpoint(
    "GET /repos/{owner}/{repo}/git/commits/{sha}",
    scope="repository",
    guards=READING,
    slow=True,
)
def show_git_commit(
    request: RequestContext, target: RepositoryAccess, sha: str, query: CommitQuery
) -> CommitSchema | RawResponse:
    """Show a commit; with the suffix `.diff` or `.patch`, its changes as text."""
    for suffix in (".diff", ".patch"):
        if sha.endswith(suffix):
            return text_of(request, target, sha.removesuffix(suffix), suffix)
    repo, commit = found_commit(request, target, sha)
    return encode_commit(request, target, repo, commit, files=query.files, stat=query.stat)


def text_of(request: RequestContext, target: RepositoryAccess, name: str, suffix: str) -> RawResponse:
    """Respond with the diff or the patch of a commit."""
    repo, commit = found_commit(request, target, name)
    if suffix == ".patch":
        return RawResponse(differences.patch_text(repo, commit), "text/plain;charset=utf-8")
    before = differences.parent_tree(repo, commit)
    return RawResponse(differences.diff_text(repo, before, commit.tree), "text/plain;charset=utf-8")


@endpoint("GET /repos/{owner}/{repo}/commits/{sha}", scope="repository", guards=READING, slow=True)
def show_commit(request: RequestContext, target: RepositoryAccess, sha: str, query: CommitQuery) -> CommitSchema:
    """Show a commit at an alternative path that some clients use."""
    repo, commit = found_commit(request, target, sha)
    return encode_commit(request, target, repo, commit, files=query.files, stat=query.stat)


@endpoint("GET /repos/{owner}/{repo}/compare/{basehead...}", scope="repository", guards=READING, slow=True)
def compare_commits(request: RequestContext, target: RepositoryAccess, basehead: str) -> Compare:
    """Compare two commits: `base...head` from their merge base, `base..head` directly."""
    dots: Literal["...", ".."] = "..." if "..." in basehead else ".."
    base, separator, head = basehead.partition(dots)
    if not separator:
        base, head = target.repository.default_branch, basehead
    repo = open_git(request.app, target)
    ends = []
    for name in (base, head):
        resolved = refs.resolve(repo, name, target.repository.default_branch)
        ends.append(resolve_commit(repo, target, name) if resolved is None else resolved.commit)
    result = compare(
        repo, ends[0], ends[1], from_merge_base=dots == "...", limit=MOST_COMPARED, most_files=MOST_FILES
    )
    return Compare(
        total_commits=result.ahead,
        commits=several(request, target, repo, result.commits, files=True, stat=True),
        files=[AffectedFile(change.path, change.status) for change in result.changes.files],
    )
