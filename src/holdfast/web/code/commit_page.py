"""The page of a commit: author, message and diff."""

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.git.changes import diff_text, parent_tree, patch_text
from holdfast.hosting.git.commits import find_commit
from holdfast.hosting.git.patches import diff_trees
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.revisions import open_git
from holdfast.web.code.commit_rows import lines_of
from holdfast.web.code.diffs import DiffQuery, diff_shown
from holdfast.web.code.location import READING, commit_by_id
from holdfast.web.repository_frame import COMMITS, root_path, show_in

__all__ = ["page_commit"]


@endpoint("GET /{owner}/{repo}/commit/{sha}", scope="repository", guards=READING, slow=True)
def page_commit(request: RequestContext, target: RepositoryAccess, sha: str, query: DiffQuery) -> RawResponse:
    """Show a commit; with the suffix `.diff` or `.patch`, its changes as text."""
    for suffix in (".diff", ".patch"):
        if sha.endswith(suffix):
            return commit_text(request, target, sha.removesuffix(suffix), suffix)
    repo = open_git(request.app, target)
    at = commit_by_id(repo, sha)
    commit = None if at is None else find_commit(repo, at)
    if commit is None:
        raise ApiError(404)
    root = root_path(target)
    line = lines_of(request, [commit])[0]
    here = f"{root}/commit/{commit.id}"
    diff = diff_shown(
        repo,
        root,
        diff_trees(repo, parent_tree(repo, commit), commit.tree),
        query,
        old=commit.parents[0] if commit.parents else "",
        new=commit.id,
        whole=here,
    )
    committer = commit.committer
    differs = (committer.name, committer.email) != (commit.author.name, commit.author.email)
    return show_in(
        request,
        target,
        "code/commit.html",
        tab=COMMITS,
        title=f"{line.summary} · {target.repository.full_name}",
        commit=commit,
        line=line,
        committer=committer.name if differs else "",
        diff=diff,
        whole=here,
    )


def commit_text(request: RequestContext, target: RepositoryAccess, sha: str, suffix: str) -> RawResponse:
    """Return the diff or the patch of a commit as text, for `git apply` and `git am`."""
    repo = open_git(request.app, target)
    at = commit_by_id(repo, sha)
    commit = None if at is None else find_commit(repo, at)
    if commit is None:
        raise ApiError(404)
    if suffix == ".patch":
        return RawResponse(patch_text(repo, commit), "text/plain;charset=utf-8")
    return RawResponse(diff_text(repo, parent_tree(repo, commit), commit.tree), "text/plain;charset=utf-8")
