"""The programming languages of a repository."""

from typing import Final

from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.guards import in_repository, reads
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import languages

__all__ = ["list_languages"]

READING: Final = (in_repository, reads(Unit.CODE))


@endpoint("GET /repos/{owner}/{repo}/languages", scope="repository", guards=READING, slow=True)
def list_languages(request: RequestContext, target: RepositoryAccess) -> dict[str, int]:
    """Show the number of bytes of each language on the default branch, detected by file name."""
    return languages.list_languages(request.app, target)
