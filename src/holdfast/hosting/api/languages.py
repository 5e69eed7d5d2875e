"""The programming languages of a repository."""

from typing import Final

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.git import refs
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.languages import languages
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services.revisions import open_git

__all__ = ["list_languages"]

READING: Final = (in_repository, reads(Unit.CODE))


@endpoint("GET /repos/{owner}/{repo}/languages", scope="repository", guards=READING, slow=True)
def list_languages(request: RequestContext, target: RepositoryAccess) -> dict[str, int]:
    """Show the number of bytes of each language on the default branch, by file name."""
    repo = open_git(request.app, target)
    found = refs.resolve(repo, "", target.repository.default_branch)
    return {} if found is None else languages(repo, read_commit(repo, found.commit).tree)
